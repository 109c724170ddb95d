/// How long a thread has slept for the same, by the looks at it.
///
/// Where the whole machine stands still, as a virtual one does at times, no look is made, and what passes meanwhile
/// is nobody's sleep: between two looks at most `mostBetweenLooks` count.
struct SleepSpan {
  private var seen: (pulse: Int, state: ThreadSight.State)?
  private var last = ContinuousClock.Instant.now
  private var slept = Duration.zero

  private static let mostBetweenLooks = Duration.milliseconds(10)

  /// Takes in one look.
  ///
  /// - Parameters:
  ///   - pulse: what rises whenever the thread does something.
  ///   - state: what the thread does now.
  ///   - now: when that was seen.
  /// - Returns: how long it has slept; nothing if it runs.
  mutating func look(
    _ pulse: Int,
    _ state: ThreadSight.State,
    at now: ContinuousClock.Instant = .now
  ) -> Duration {
    let isSame = seen.map { $0.pulse == pulse && $0.state == state } ?? false
    slept = isSame ? slept + min(now - last, Self.mostBetweenLooks) : .zero
    seen = (pulse, state)
    last = now
    return state == .runs ? .zero : slept
  }

  /// Forgets whom it has seen.
  mutating func reset() { seen = nil }
}
