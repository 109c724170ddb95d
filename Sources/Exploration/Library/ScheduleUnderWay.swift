internal import Glibc

/// The schedule in progress, kept as text, so that a signal handler can print it.
///
/// Code under test that traps ends the process at once. A handler of that signal may call next to nothing:
/// no allocation, no lock, no formatting. So the text is written step by step, before each step runs, into
/// memory that never moves, and the handler passes it to `write`. Then it puts back whoever handled the
/// signal before and returns: the trap happens again, and the backtracer or the system sees it.
enum ScheduleUnderWay {
  // Safe: written only by the exploring thread, of which there is one at a time (`explore` queues them); the
  // handler runs on a thread that traps, and reads only if that one explores.
  nonisolated(unsafe) private static let text = UnsafeMutablePointer<UInt8>.allocate(
    capacity: capacity
  )
  nonisolated(unsafe) private static var head = 0
  nonisolated(unsafe) private static var length = 0
  nonisolated(unsafe) private static let previous = UnsafeMutablePointer<sigaction>.allocate(
    capacity: 65
  )
  private static let capacity = 1 << 18
  /// What stands behind the steps.
  private static let room = 64

  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]

  static func beginTelling(of scenario: String, named name: String) {
    let quoted = String(reflecting: name)
    length = 0
    append(
      """

      The program stops while \(quoted) is explored, in this schedule. To run it again:
        explore(\(quoted), replaying: "\(Schedule.version):\(scenario):-:
      """
    )
    head = length
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { ScheduleUnderWay.tell($0) }
      action.sa_flags = SA_ONSTACK
      sigaction(signal, &action, previous + Int(signal))
    }
  }

  static func endTelling() {
    for signal in signals { sigaction(signal, previous + Int(signal), nil) }
    length = 0
    head = 0
  }

  static func restart() { length = head }

  /// Appends a step that is about to run.
  static func append(_ choice: Choice) {
    guard head > 0, length < capacity - room else { return }
    if length > head { put(UInt8(ascii: ",")) }
    switch choice.kind {
    case .run: break
    case .turn: put(UInt8(ascii: "a"))
    case .cancel: put(UInt8(ascii: "c"))
    case .wake: put(UInt8(ascii: "w"))
    case .limit: put(UInt8(ascii: "l"))
    }
    put(digits: Int(choice.agent))
    if choice.ordinal != 0 {
      put(UInt8(ascii: "."))
      put(digits: Int(choice.ordinal))
    }
  }

  private static func append(_ words: String) {
    for byte in words.utf8.prefix(capacity / 2) { put(byte) }
  }

  private static func put(_ byte: UInt8) {
    text[length] = byte
    length += 1
  }

  private static func put(digits number: Int) {
    if number >= 10 { put(digits: number / 10) }
    put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// The handler.
  private static func tell(_ signal: Int32) {
    if head > 0, GlobalPoolHook.current != nil {
      let end: StaticString = "\") { … }\n\n"
      write(STDERR_FILENO, text, length)
      write(STDERR_FILENO, end.utf8Start, end.utf8CodeUnitCount)
    }
    sigaction(signal, previous + Int(signal), nil)
    // An abort does not happen again by itself.
    if signal == SIGABRT { raise(signal) }
  }
}
