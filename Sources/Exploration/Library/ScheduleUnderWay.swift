internal import Glibc
internal import Synchronization

/// The schedule in progress, kept as text, so that a signal handler can print it.
///
/// Code under test that traps ends the process at once. A handler of that signal may call next to nothing:
/// no allocation, no lock, no formatting. So the text is written step by step, before each step runs, into
/// memory that never moves, and the handler passes it to `write`. Then it puts back the previous handler
/// of the signal and returns: the trap happens again, and the backtracer or the system sees it.
enum ScheduleUnderWay {
  private struct State {
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    /// Who handled each signal before, by its number.
    let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    /// How much of the text says that the program stops.
    var occasion = 0
    /// How much of the text stands before the steps; 0 while nothing is told.
    var head = 0
    var length = 0
    /// What the schedule has come to, if it is over and its tasks are only cleared away.
    let outcome = UnsafeMutablePointer<UInt8>.allocate(capacity: outcomeCapacity)
    var outcomeLength = 0
    /// Tells the steps of a schedule, whose last one has come to where the addresses are; nil if it cannot.
    var steps: ((String, [UInt]) -> String?)?
  }

  // Safe: written only by the thread that has the baton of the one exploration there is (`explore` queues
  // them). The handler runs on the thread that traps, and reads only if that one explores. The thread that
  // tells of a long step reads while another one may just end that step: the text never moves, a byte is
  // written before the length says so, and the length never falls below the head. So what it prints may
  // have a step more or less, and nothing worse.
  nonisolated(unsafe) private static var state = State()
  private static let capacity = 1 << 18
  private static let outcomeCapacity = 1 << 12
  /// What stands behind the steps.
  private static let room = 64

  /// Whether it was told of the step in progress that it is long: once is enough.
  static let hasToldOfLongStep = Atomic(false)

  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]

  /// - Parameters:
  ///   - scenario: What schedules are called by.
  ///   - name: What it is called.
  ///   - steps: Tells the steps of a schedule, whose last one has come to where the addresses are.
  static func beginTelling(
    of scenario: String,
    named name: String,
    steps: @escaping (String, [UInt]) -> String?
  ) {
    Standstill.prepare()
    state.steps = steps
    let quoted = String(reflecting: name)
    state.length = 0
    append(
      """

      The program stops while \(quoted) is explored, in this schedule. To run it again:

      """
    )
    state.occasion = state.length
    append("  explore(\(quoted), replaying: \"\(Schedule.version):\(scenario):-:")
    state.head = state.length
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_sigaction = { signal, _, context in
        ScheduleUnderWay.tell(signal, at: context)
      }
      action.sa_flags = SA_ONSTACK | SA_SIGINFO
      sigaction(signal, &action, state.previous + Int(signal))
    }
  }

  static func endTelling() {
    for signal in signals { sigaction(signal, state.previous + Int(signal), nil) }
    state.length = 0
    state.head = 0
    state.steps = nil
  }

  /// Tells the steps of the schedule in progress, whose last one traps at these addresses; called by the thread that
  /// explores, while the other waits in its handler.
  static func tellSteps(to points: [UInt]) {
    guard state.head > 0 else { return }
    let bytes = UnsafeBufferPointer(start: state.text, count: state.length)
    let start = bytes[..<state.head].lastIndex(of: UInt8(ascii: "\"")) ?? state.head
    let schedule = String(decoding: bytes[(start + 1)...], as: UTF8.self)
    // What the steps are taken again for is not to be told in its turn.
    state.head = 0
    guard let steps = state.steps?(schedule, points) else { return }
    Headway.write("Its steps:\n\n\(steps)\n\n")
  }

  /// Calls `body` with a second stack for the handler: code that never ends its recursion has used up the first.
  static func withSecondStack(_ body: () -> Void) {
    let size = 1 << 16
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
    var previous = stack_t()
    sigaltstack(&stack, &previous)
    body()
    sigaltstack(&previous, nil)
    memory.deallocate()
  }

  static func restart() {
    state.length = state.head
    state.outcomeLength = 0
  }

  /// Notes that the schedule has failed, and that its tasks are cancelled now to be cleared away: what traps at
  /// that is not the failure.
  static func noteOutcome(_ message: String) {
    state.outcomeLength = 0
    let text =
      "This schedule has failed already: \(message)\nIts tasks were cancelled then, to be cleared away, and one "
      + "of them stops the program at that.\n\n"
    for (index, byte) in text.utf8.prefix(outcomeCapacity).enumerated() {
      state.outcome[index] = byte
      state.outcomeLength = index + 1
    }
  }

  /// Appends a step that is about to run.
  static func append(_ choice: Choice) {
    hasToldOfLongStep.store(false, ordering: .relaxed)
    Headway.countStep()
    guard state.head > 0, state.length < capacity - room else { return }
    if state.length > state.head { put(UInt8(ascii: ",")) }
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
    state.text[state.length] = byte
    state.length += 1
  }

  private static func put(digits number: Int) {
    if number >= 10 { put(digits: number / 10) }
    put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Says, once a step, which schedule is in progress, whose last step seems not to end: nobody can stop a loop
  /// that asks for nothing that is explored.
  ///
  /// Called by the thread that explores, while another one is in that step.
  static func tellOfLongStep() {
    guard state.head > 0, !hasToldOfLongStep.load(ordering: .relaxed) else { return }
    let reason: StaticString = """

      A step has run for long without an end, a suspension, or a lock or an atomic that is a point. If it asks \
      again and again for what another task is to do, it asks what is not explored: build the code with the \
      instrumentation, as 'swift package explore' does. To run this schedule again:

      """
    write(STDERR_FILENO, reason.utf8Start, reason.utf8CodeUnitCount)
    tellText(from: state.occasion)
    hasToldOfLongStep.store(true, ordering: .releasing)
  }

  /// Says which schedule is in progress, as far as that fits on a screen; in a signal handler too.
  static func tellInProgress() {
    guard state.head > 0 else { return }
    let shown = 4_000
    if state.length - state.occasion <= shown { return tellText(from: state.occasion) }
    write(STDERR_FILENO, state.text + state.occasion, shown)
    let end: StaticString = "… (too long to be printed)\n\n"
    write(STDERR_FILENO, end.utf8Start, end.utf8CodeUnitCount)
  }

  private static func tellText(from start: Int) {
    let end: StaticString = "\") { … }\n\n"
    write(STDERR_FILENO, state.text + start, state.length - start)
    write(STDERR_FILENO, end.utf8Start, end.utf8CodeUnitCount)
  }

  /// The handler.
  private static func tell(_ signal: Int32, at context: UnsafeRawPointer?) {
    if state.head > 0, GlobalPoolHook.current != nil {
      tellText(from: 0)
      write(STDERR_FILENO, state.outcome, state.outcomeLength)
      // What a schedule's tasks do as they are cleared away is no step of it.
      if state.outcomeLength == 0 { Standstill.wait(at: context) }
    }
    sigaction(signal, state.previous + Int(signal), nil)
    // An abort does not happen again by itself.
    if signal == SIGABRT { raise(signal) }
  }
}
