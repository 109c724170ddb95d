internal import Basics
internal import Glibc
internal import Synchronization

/// How far the exploration under way has come: for who waits in front of it, and for who ends it.
///
/// The numbers are atomics, and the text of a failure stands in memory that never moves, so that another thread
/// and a signal handler can read them at any time.
enum Headway {
  /// All schedules that were looked at, and all steps that were taken.
  static let schedules = Atomic(0)
  static let steps = Atomic(0)
  /// When it began, by the machine's clock.
  private static let began = Atomic<Int64>(0)
  private static let share = Atomic<UInt64>(0)
  /// Whether a failure is known, and only the smallest schedule that shows it is looked for.
  private static let hasFailed = Atomic(false)
  /// What fails, in words, until it is told.
  private static let failure = Mutex<String?>(nil)
  /// What else is to be told once, at once.
  private static let news = Mutex<String?>(nil)
  /// Since when schedules are drawn, by the machine's clock, as there are too many to be searched in order; 0 if none
  /// are.
  private static let drawing = Atomic<Int64>(0)
  /// Whether the failure has been told.
  static let hasToldFailure = Atomic(false)

  static func begin() {
    schedules.store(0, ordering: .relaxed)
    steps.store(0, ordering: .relaxed)
    share.store(0, ordering: .relaxed)
    hasFailed.store(false, ordering: .relaxed)
    failure.withLock { $0 = nil }
    news.withLock { $0 = nil }
    drawing.store(0, ordering: .relaxed)
    hasToldFailure.store(false, ordering: .relaxed)
    began.store(MachineClock.monotonic(), ordering: .releasing)
  }

  static func note(_ progress: ExplorationProgress) {
    schedules.store(progress.schedules, ordering: .relaxed)
    share.store(progress.share.bitPattern, ordering: .relaxed)
    guard let draws = progress.draws, drawing.load(ordering: .relaxed) == 0 else { return }
    drawing.store(MachineClock.monotonic(), ordering: .relaxed)
    news.withLock { $0 = draws.announcement }
  }

  /// What has come up, once.
  static func takeNews() -> String? { news.withLock { $0.take() } }

  /// Notes that a schedule fails, and how, for who waits while the smallest is looked for.
  static func noteFailure(in schedule: Int, _ text: String) {
    schedules.store(schedule, ordering: .relaxed)
    failure.withLock { $0 = "schedule \(schedule) fails: \(text)" }
    hasFailed.store(true, ordering: .releasing)
  }

  /// What fails, once.
  static func takeFailure() -> String? { failure.withLock { $0.take() } }

  /// Counts a step; called with the baton only.
  static func countStep() {
    steps.store(steps.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Whole seconds since it began.
  static var seconds: Int {
    Int((MachineClock.monotonic() - began.load(ordering: .acquiring)) / 1_000_000_000)
  }

  /// Tells all of it in a line.
  ///
  /// - Parameters:
  ///   - name: What is explored.
  ///   - limit: The time that was allowed.
  ///   - still: For how many seconds no step was taken.
  /// - Returns: The line, without its end.
  static func line(of name: String, within limit: Duration?, still: Int) -> String {
    let now = MachineClock.monotonic()
    let elapsed = Double(now - began.load(ordering: .acquiring)) / 1e9
    let schedules = schedules.load(ordering: .relaxed)
    var parts = [
      schedules == 0
        ? "the first schedule, \(counted(steps.load(ordering: .relaxed), "step"))"
        : "\(counted(schedules, "schedule")), \(Int(Double(schedules) / elapsed))/s"
    ]
    if hasFailed.load(ordering: .acquiring) {
      parts = [
        "schedule \(schedules) fails, looking for the smallest that does, "
          + counted(steps.load(ordering: .relaxed), "step")
      ]
    } else {
      let share = Double(bitPattern: share.load(ordering: .relaxed))
      let drawing = drawing.load(ordering: .relaxed)
      let of = drawing > 0 ? " of those to be drawn" : " of all"
      if share > 0 || drawing > 0 {
        parts.append((share < 0.01 ? "less than 1 %" : "about \(Int(share * 100)) %") + of)
      }
      let left = left(
        after: share,
        // What was searched in order says nothing of how fast schedules are drawn.
        in: drawing > 0 ? Double(now - drawing) / 1e9 : elapsed,
        limit: limit.map { max(0, $0 / .seconds(1) - elapsed) }
      )
      if let left { parts.append(left) }
    }
    if still > 0 { parts.append("no step for \(still) s") }
    return "exploring '\(name)': " + parts.joined(separator: ", ")
  }

  /// How long it may still take.
  ///
  /// - Parameters:
  ///   - share: Which share of it is done.
  ///   - seconds: How long that took.
  ///   - limit: The seconds that are left of the time that was allowed, if there is a limit.
  /// - Returns: Words; nil if nothing is known of that.
  static func left(after share: Double, in seconds: Double, limit: Double?) -> String? {
    let estimate = share > 0 ? seconds * (1 - share) / share : .infinity
    if let limit, limit <= estimate { return "at most \(time(limit)) left" }
    guard estimate.isFinite else { return nil }
    return estimate < aYear ? "about \(time(estimate)) left" : "more than a year left"
  }

  /// Prints what was looked at, on standard error.
  static func tell(_ verdict: ExplorationVerdict, of name: String) {
    let elapsed = (MachineClock.monotonic() - began.load(ordering: .acquiring)) / 10_000_000
    let hundredths = elapsed % 100
    write(
      "explored '\(name)' in \(elapsed / 100).\(hundredths < 10 ? "0" : "")\(hundredths) s: "
        + "\(Environment.tellsVerdictsInFull ? verdict.inFull : verdict.description)\n"
    )
  }

  static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static let aYear: Double = 365 * 86_400

  private static func time(_ seconds: Double) -> String {
    switch seconds {
    case ..<120: "\(Int(seconds.rounded(.up))) s"
    case ..<7_200: "\(Int(seconds / 60)) min"
    case ..<172_800: "\(Int(seconds / 3_600)) h"
    default: "\(Int(seconds / 86_400)) days"
    }
  }
}

/// Tells, as long as an exploration lasts, how far it has come, on standard error.
///
/// On a thread of its own, which goes on while all others are blocked. A terminal gets one line, written anew;
/// anything else a line now and then.
final class HeadwayTeller: Sendable {
  private let isDone = ThreadSemaphore()
  private let thread: OSThread

  /// When the first line comes; less than a second.
  private static let first = 800_000_000
  /// How often a terminal's line is written anew.
  private static let interval = 500_000_000
  /// The longest time between two lines elsewhere, in seconds.
  private static let longest = 30

  init(of name: String, within limit: Duration?) {
    let isDone = isDone
    let isTerminal = isatty(STDERR_FILENO) == 1 && !["dumb", ""].contains(Self.terminal)
    thread = OSThread("headway") {
      var (steps, moved, next) = (0, 0, 0)
      var isFirst = true
      while !isDone.wait(atMost: isFirst ? Self.first : Self.interval) {
        let (now, seconds) = (Headway.steps.load(ordering: .relaxed), Headway.seconds)
        if now != steps { moved = seconds }
        steps = now
        defer { isFirst = false }
        // What is found is told before the smallest is, which can take long.
        if let failure = Headway.takeFailure() {
          Headway.write("\(isTerminal ? "\r\u{1B}[K" : "")exploring '\(name)': \(failure)\n")
          Headway.hasToldFailure.store(true, ordering: .releasing)
        }
        if let news = Headway.takeNews() {
          Headway.write("\(isTerminal ? "\r\u{1B}[K" : "")exploring '\(name)': \(news)\n")
        }
        guard isTerminal || seconds >= next else { continue }
        next = min(max(2, 2 * seconds), seconds + Self.longest)
        let still = seconds - moved
        Self.write(Headway.line(of: name, within: limit, still: still > 1 ? still : 0), isTerminal)
      }
      if isTerminal, !isFirst { Self.write("", isTerminal) }
    }
  }

  /// Ends the telling, and a terminal's line with it.
  func stop() {
    isDone.post()
    thread.join()
  }

  private static var terminal: String { getenv("TERM").map { String(cString: $0) } ?? "" }

  private static func write(_ text: String, _ isTerminal: Bool) {
    var line = text
    if isTerminal {
      var window = winsize()
      let width = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0 ? Int(window.ws_col) : 80
      line = "\r" + text.prefix(max(20, width - 1)) + "\u{1B}[K"
    } else {
      line += "\n"
    }
    Headway.write(line)
  }
}
