internal import Glibc
internal import Synchronization

/// Says what was found so far when somebody ends the program: Ctrl-C, or a time limit of a script.
///
/// In the signal's handler, which may neither allocate nor take a lock: what it prints stands ready. Then the
/// signal goes its usual way.
enum Interruption {
  private struct State {
    let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    let name = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    var nameLength = 0
    let failure = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    let digits = UnsafeMutablePointer<UInt8>.allocate(capacity: 20)
    /// Which of the signals are taken.
    var taken: (Bool, Bool) = (false, false)
  }

  // Safe: written by the thread that explores, one at a time, before the signals are taken; the failure's text
  // before its length says so. The handler alone uses the digits, and it runs once.
  nonisolated(unsafe) private static var state = State()
  private static let failureLength = Atomic(0)
  private static let hasTold = Atomic(false)
  private static let capacity = 1 << 16

  static func begin(_ name: String) {
    state.nameLength = copy(name, to: state.name)
    failureLength.store(0, ordering: .relaxed)
    hasTold.store(false, ordering: .relaxed)
    state.taken = (take(SIGINT), take(SIGTERM))
  }

  static func end() {
    if state.taken.0 { sigaction(SIGINT, state.previous + Int(SIGINT), nil) }
    if state.taken.1 { sigaction(SIGTERM, state.previous + Int(SIGTERM), nil) }
    state.taken = (false, false)
  }

  /// Notes what was found, to be told if nobody waits for the end.
  static func noteFailure(_ text: String) {
    failureLength.store(copy(text, to: state.failure), ordering: .releasing)
  }

  /// Takes a signal, unless the program is to ignore it.
  private static func take(_ signal: Int32) -> Bool {
    let previous = state.previous + Int(signal)
    sigaction(signal, nil, previous)
    // SIG_IGN is 1, which Swift cannot compare with a function.
    if unsafeBitCast(previous.pointee.__sigaction_handler.sa_handler, to: Int.self) == 1 {
      return false
    }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { Interruption.tell($0) }
    action.sa_flags = SA_RESTART
    return sigaction(signal, &action, nil) == 0
  }

  private static func copy(_ text: String, to memory: UnsafeMutablePointer<UInt8>) -> Int {
    var length = 0
    for byte in text.utf8.prefix(capacity) {
      memory[length] = byte
      length += 1
    }
    return length
  }

  /// The handler.
  private static func tell(_ signal: Int32) {
    if !hasTold.exchange(true, ordering: .acquiringAndReleasing) {
      write("\nThe exploration of '")
      write(state.name, state.nameLength)
      write("' is ended by a signal after ")
      write(Headway.seconds)
      write(" s and ")
      write(Headway.schedules.load(ordering: .relaxed))
      write(" schedules (")
      write(Headway.steps.load(ordering: .relaxed))
      let length = failureLength.load(ordering: .acquiring)
      if length > 0 {
        write(" steps). One of them fails:\n")
        write(state.failure, length)
        write("\n")
      } else {
        write(" steps). None of them has failed. The one in progress:\n")
        ScheduleUnderWay.tellInProgress()
      }
    }
    sigaction(signal, state.previous + Int(signal), nil)
    // It comes when this handler has returned, and ends the program as it would have.
    raise(signal)
  }

  private static func write(_ text: StaticString) {
    Glibc.write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }

  private static func write(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
    Glibc.write(STDERR_FILENO, bytes, count)
  }

  private static func write(_ number: Int) {
    var (number, start) = (max(0, number), 20)
    repeat {
      start -= 1
      state.digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
      number /= 10
    } while number > 0
    Glibc.write(STDERR_FILENO, state.digits + start, 20 - start)
  }
}
