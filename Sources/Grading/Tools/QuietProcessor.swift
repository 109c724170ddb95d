internal import Basics
internal import Dispatch
internal import LessonBook
internal import Limiters
internal import Synchronization

/// While it is kept, the thread that waits for an answer does not wake to look for it: its wake-ups would be counted
/// as the learner's.
final class Silence: Sendable {
  /// How long one lasts at most.
  static let milliseconds = 2_000

  private let kept = Atomic(false)

  var isKept: Bool {
    get { kept.load(ordering: .acquiring) }
    set { kept.store(newValue, ordering: .releasing) }
  }
}

/// Tells who waits from who asks again and again: the one takes no processor time and wakes no thread, the other
/// does so all the time.
struct QuietProcessor {
  /// How much processor time this program has taken, in nanoseconds.
  private let time: @Sendable () -> Int64
  /// How often each thread of this program has gone to sleep.
  private let sleeps: @Sendable () -> [String: Int]
  private let silence: Silence

  /// How much may be taken in a second in which nothing is to be done.
  private static let allowed: Int64 = 60_000_000
  /// How often threads may wake in it.
  ///
  /// By the clock that ends it, for what a library looks after once a second, and each once to come to rest. Who looks
  /// ten times a second wakes more often.
  private static let allowedSleeps = 12

  private static let queue = DispatchQueue(label: "a quiet second")

  /// Lets a second pass in which tasks wait.
  ///
  /// The time and the threads are this program's own, so a machine that is busy with something else does not count.
  ///
  /// - Returns: what happened in it that should not have; nil if nothing did.
  private func disturbance() async -> String? {
    silence.isKept = true
    defer { silence.isKept = false }
    // Who waits for the answer has looked for the last time by then, and what began has come to rest.
    await Self.pass(milliseconds: 250)
    let (before, slept) = (time(), sleeps())
    await Self.pass(milliseconds: 1_000)
    let taken = time() - before
    if taken > Self.allowed { return "your code took \(taken / 1_000_000) ms of processor time" }
    let woken = sleeps().reduce(0) { $0 + max(0, $1.value - slept[$1.key, default: 0]) }
    return woken > Self.allowedSleeps ? "threads of your program woke \(woken) times" : nil
  }

  private static func pass(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
  }

  /// Asks what is taken of the processor while many wait.
  ///
  /// - Parameters:
  ///   - asked: What is asked, in words.
  ///   - make: Has them wait, and lets them go on when what it is given has returned.
  /// - Returns: the question.
  static func question(
    _ asked: String,
    _ make: @escaping @Sendable (_ aSecond: @Sendable () async -> Void) async -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: "quiet") { terms in
      let silence = Silence()
      let processor = QuietProcessor(
        time: terms.processorTime,
        sleeps: terms.sleeps,
        silence: silence
      )
      return GradeBook.Question.task("quiet", asked, seconds: 60, silence: silence) { _ in
        let disturbed = Lock<String?>(nil)
        await make {
          let disturbance = await processor.disturbance()
          disturbed.withLock { $0 = disturbance }
        }
        let found = disturbed.withLock { $0 }.map {
          "nothing happened for a second, and \($0): somebody asks again and again instead of waiting"
        }
        return GradeItem(
          "quiet",
          passed: found == nil,
          "\(asked): \(found ?? "they wait, and take no processor time")"
        )
      }.ask(terms)
    }
  }
}
