/// Says when to ask again whether to stop: by the time that has passed, however long a schedule or a step takes.
struct Asking {
  /// A person who presses Ctrl-C waits for this, and for the end of the step.
  static let interval = Duration.milliseconds(20)
  /// Looking at the clock costs as much as a tenth of a short step.
  private static let stepsBetweenLooks = 16

  private let clock = ContinuousClock()
  private var next: ContinuousClock.Instant
  private var stepsLeft = 0

  init() { next = clock.now }

  /// To be called at each step; true the first time, and then whenever the interval is over.
  mutating func isDue() -> Bool {
    if stepsLeft > 0 {
      stepsLeft -= 1
      return false
    }
    stepsLeft = Self.stepsBetweenLooks
    let now = clock.now
    guard now >= next else { return false }
    next = now + Self.interval
    return true
  }
}
