internal import CExplorable
internal import Glibc
internal import Synchronization

/// The schedule in progress, kept as text, so that a signal handler can print it.
///
/// Where code under test traps, the exploration goes on without the thread (see ``Standstill``), if it can. Else the
/// trap ends the process. A handler of that signal may call next to nothing: no allocation, no lock, no formatting.
/// So the text is written step by step, before each step runs, into memory that never moves, and the handler passes it
/// to `write`. Then it puts back the previous handler of the signal and returns: the trap happens again, and the
/// backtracer or the system sees it.
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
    /// Whether the line that runs it again is a test's trait.
    var isOfTest = false
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

  /// Whether the schedule was printed that the program ends in.
  private static let hasToldText = Atomic(false)

  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]

  /// - Parameters:
  ///   - scenario: What schedules are called by.
  ///   - name: What it is called.
  ///   - isOfTest: Whether a test's trait explores it.
  ///   - steps: Tells the steps of a schedule, whose last one has come to where the addresses are.
  static func beginTelling(
    of scenario: String,
    named name: String,
    isOfTest: Bool,
    steps: @escaping (String, [UInt]) -> String?
  ) {
    Standstill.prepare()
    _ = exits
    process = getpid()
    hasToldText.store(false, ordering: .relaxed)
    state.steps = steps
    let quoted = String(reflecting: name)
    state.length = 0
    append(
      """

      The program stops while \(quoted) is explored, in this schedule. To run it again:

      """
    )
    state.occasion = state.length
    let call = isOfTest ? "@Test(.explored(" : "explore(\(quoted), "
    append("  \(call)replaying: \"\(Schedule.version):\(scenario):-:")
    state.head = state.length
    state.isOfTest = isOfTest
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_sigaction = { signal, information, context in
        let address = information.map { UInt(bitPattern: $0.pointee._sifields._sigfault.si_addr) }
        ScheduleUnderWay.tell(signal, at: context, address ?? 0)
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

  /// Tells the schedule in progress and its steps, whose last one ends the program at these addresses; called by the
  /// thread that explores, while the other waits.
  static func tellSteps(to points: [UInt]) {
    guard state.head > 0 else { return }
    tellEnd()
    hasToldText.store(true, ordering: .releasing)
    // What a schedule's tasks do as they are cleared away is no step of it.
    if state.outcomeLength > 0 { return }
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
    let stack = SecondStack()
    body()
    stack.end()
  }

  /// A second stack of the calling thread, for the handler.
  struct SecondStack {
    private let memory: UnsafeMutableRawPointer
    private var previous = stack_t()

    init() {
      let size = 1 << 16
      memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
      sigaltstack(&stack, &previous)
    }

    func end() {
      var previous = previous
      sigaltstack(&previous, nil)
      memory.deallocate()
    }
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
      instrumentation, as 'swift package explore' does. With a limit, 'within:', the exploration ends here, and \
      tells the line. To run this schedule again:

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
    let end: StaticString = state.isOfTest ? "\"))\n\n" : "\") { … }\n\n"
    write(STDERR_FILENO, state.text + start, state.length - start)
    write(STDERR_FILENO, end.utf8Start, end.utf8CodeUnitCount)
  }

  /// The process that explores: one that it starts as its like has its own end.
  // Safe: written before code under study runs, by the thread that starts it.
  nonisolated(unsafe) private static var process: pid_t = 0

  /// Whether the end of the program is that of code under study, in the middle of a schedule.
  private static var isEndOfSchedule: Bool {
    state.head > 0 && GlobalPoolHook.current != nil && process == getpid()
  }

  /// The handler.
  private static func tell(_ signal: Int32, at context: UnsafeRawPointer?, _ address: UInt) {
    if isEndOfSchedule {
      // The system's library aborts in the middle of its own work: what it finds wrong with its heap is beyond help.
      let canBeLeft = signal != SIGABRT && points_are_open()
      Standstill.stand(at: context, signal: signal, address: address, canBeLeft: canBeLeft)
      tellEnd()
    }
    sigaction(signal, state.previous + Int(signal), nil)
    // An abort does not happen again by itself.
    if signal == SIGABRT { raise(signal) }
  }

  /// Tells of a call by which code under study ends the program.
  ///
  /// - Parameters:
  ///   - function: What it calls.
  ///   - status: The status that it wants the program to end with.
  /// - Returns: The status to end with, if the exploration cannot go on without the thread: that of a failure.
  static func tellEnd(by function: UnsafePointer<CChar>, _ status: Int32) -> Int32 {
    guard isEndOfSchedule else { return status }
    Standstill.stand(before: function, status, canBeLeft: true)
    tellEnd()
    // It is told: an abort that follows has nothing to add.
    state.head = 0
    return status == 0 ? EXIT_FAILURE : status
  }

  /// Prints what a handler can, if nobody else has.
  private static func tellEnd() {
    if hasToldText.load(ordering: .acquiring) { return }
    tellText(from: 0)
    write(STDERR_FILENO, state.outcome, state.outcomeLength)
    last_words_tell()
  }

  /// Has the end of the program be told where no call is taken over.
  private static let exits: Void = {
    atexit { ScheduleUnderWay.failExit() }
    at_quick_exit { ScheduleUnderWay.failExit() }
  }()

  private static func failExit() {
    guard isEndOfSchedule, points_are_open() else { return }
    points_close()
    // The system's library is in the middle of ending the program: nobody goes on from here.
    let name: StaticString = "exit"
    name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) {
      Standstill.stand(before: $0, 0, canBeLeft: false)
    }
    tellEnd()
    fflush(nil)
    _exit(EXIT_FAILURE)
  }
}
