internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

/// A task executor that lets somebody else decide what runs next.
///
/// Everything that could go on is an option: each ready job, and of the sleepers those that no other is due
/// before. Time is chosen rather than measured: such a sleeper can be woken at any step, unless it has woken
/// again and again while others could go on, and it runs at a later step.
///
/// Jobs are known by the agent they belong to. A task is an agent for life: its serial number tells.
/// A job of no task (the turn of an actor, the second half of a yield) is named after the agent that
/// made it ready.
final class ExplorationExecutor: TaskExecutor, @unchecked Sendable {
  // Safe: everything is touched only by the thread that has the baton: the exploring thread, or the worker
  // that leads where jobs run on workers. `enqueue` checks it. A job from a worker that does not lead waits
  // in the workers' inbox. One from any other thread means that the scenario left the executor, and is only
  // noted. Exclusivity is unchecked because no access lasts while a job runs, and the checks would cost a
  // fifth of a step.

  /// Whose a job would be if nothing were explored.
  enum Origin {
    /// A task's that was started on this executor.
    case own
    /// The global pool's.
    case pool
    case mainActor
  }

  struct ReadyStep {
    var job: UnownedJob
    var agent: Int32
    var isTurn: Bool
    /// Whether it is the turn of an actor, in which several jobs may run.
    var isActor: Bool
    var origin: Origin
    /// The number of the step that made it ready.
    var wokenAt: Int

    /// Where in the code it begins; 0 where that is not known.
    var beginning: UInt { isTurn ? 0 : job.beginning }
  }

  struct Sleeper {
    var agent: Int32
    var ticket: UInt64
    /// When it wants to go on; 0 for any time.
    var deadline: Int64
    var alarm: Alarm
    /// Whether it comes again and again, and keeps nobody waiting.
    var isBackground = false

    /// What wakes it.
    enum Alarm {
      case continuation(UnsafeContinuation<Void, any Error>)
      /// A job of the runtime's own, of a `Task.sleep`.
      case job(UnownedJob)
      /// No task sleeps: work of a queue is to come later.
      case work(() -> Void)
    }

    var isOfRuntime: Bool { if case .job = alarm { true } else { false } }
    var isOfTask: Bool { if case .work = alarm { false } else { true } }

    /// Makes its next step ready.
    func wake() {
      switch alarm {
      case .continuation(let continuation): continuation.resume()
      case .job(let job): job.runSynchronously(on: .pool)
      case .work(let begin): begin()
      }
    }
  }

  /// A sleep until then, fifty years of nanoseconds, and a wait with that limit are without end: code that means
  /// to sleep until it is cancelled says so with a number as large.
  static let endOfTime: Int64 = 18_250 * 86_400 * 1_000_000_000

  @exclusivity(unchecked) private(set) var ready: [ReadyStep] = []
  @exclusivity(unchecked) private(set) var sleepers: [Sleeper] = []
  /// What would have woken those whose sleep was cut short: it still wants to be run, and does nothing then.
  @exclusivity(unchecked) private var spent: [UnownedJob] = []
  /// What is known of a task.
  private enum Life {
    case unseen
    /// It is an `async let`, whose memory may be gone when it has ended.
    case unknown
    case begun(Task<Void, Never>)
    /// Not kept, for its result may do something when it is let go.
    case ended
  }

  /// By agent, and only if they are wanted.
  @exclusivity(unchecked) private var lives: [Life] = []
  @exclusivity(unchecked) private(set) var now: Int64 = 0
  /// The serial number of each agent's task; index 0 is nobody, then come the simulated tasks.
  @exclusivity(unchecked) private(set) var serials: [UInt64] = [0]
  /// The agent in whose name code runs; 0 between steps.
  ///
  /// Who stops in the middle keeps it meanwhile.
  @exclusivity(unchecked) var running: Int32 = 0
  /// The number of the step that runs, as its driver counts.
  @exclusivity(unchecked) var stepNumber = 0
  /// How often each agent has yielded since something happened.
  @exclusivity(unchecked) var yields: [Int: Int] = [:]
  /// How many ready steps are not a simulated task's own.
  @exclusivity(unchecked) private(set) var readyHelpers = 0
  @exclusivity(unchecked) private var tasks: Int32 = 0
  /// The simulated task that is being started; 0 for none.
  @exclusivity(unchecked) private var starting: Int32 = 0
  @exclusivity(unchecked) private var tickets: UInt64 = 0
  /// Where jobs run that may stop in the middle; nil where none may.
  @exclusivity(unchecked) var workers: Workers?
  /// Where it is noted what steps touch, if that is wanted.
  @exclusivity(unchecked) var touches: Touches?
  private let thread: UInt
  /// What the main actor's jobs are given to while this executor explores.
  private(set) lazy var main = MainActorStandIn(self)
  /// Where jobs go that came neither from the exploring thread nor from a worker.
  let escapes = Escapes()
  private let keepsTasks: Bool
  /// Told of the first job of each new agent, while it is being enqueued.
  var onFirstJob: ((Int32) -> Void)?
  /// Told of each task that the code has made.
  var onMade: ((UnownedJob) -> Void)?
  /// Told of the work of a queue that begins: the queue's number, and where the work was given.
  var onWork: ((Int, [UInt]) -> Void)?
  /// Told of a thread that is started: its agent, and the thread's number.
  var onThread: ((Int32, Int) -> Void)?
  /// Told of a task that is resumed though it is ready already.
  var onDoubleResume: ((Int32) -> Void)?
  /// Whether the runtime's own task runs that ends a `Task.sleep`: it is none of the code's.
  @exclusivity(unchecked) private var endsSleep = false

  /// Wakes a sleeper that was picked.
  func wake(_ sleeper: Sleeper) {
    endsSleep = sleeper.isOfRuntime
    sleeper.wake()
    endsSleep = false
  }

  /// The calling thread's task, of those that the code has.
  private var currentTask: UnownedJob? { endsSleep ? nil : Self.taskOfThread }

  /// The calling thread's task.
  static var taskOfThread: UnownedJob? {
    let address = current_task()
    return address == 0 ? nil : UnownedJob(address: address)
  }

  /// Told of what the code under study found wrong with itself.
  var onRequirement: ((RequirementNotMet) -> Void)?

  init(keepsTasks: Bool) {
    self.keepsTasks = keepsTasks
    thread = OSThread.current
    ready.reserveCapacity(16)
    sleepers.reserveCapacity(16)
    serials.reserveCapacity(16)
  }

  /// Forgets everything and expects `tasks` simulated tasks to be started, in order.
  func reset(tasks: Int) {
    ready.removeAll(keepingCapacity: true)
    sleepers.removeAll(keepingCapacity: true)
    lives.removeAll(keepingCapacity: true)
    now = 0
    serials.removeAll(keepingCapacity: true)
    // What the scenario starts while it is made comes behind the simulated tasks, though it is seen
    // before them.
    for _ in 0...tasks { serials.append(0) }
    running = 0
    stepNumber = 0
    readyHelpers = 0
    yields.removeAll(keepingCapacity: true)
    self.tasks = Int32(tasks)
  }

  /// Whether code started a task besides the simulated ones.
  var hasFurtherTasks: Bool { serials.dropFirst(Int(tasks) + 1).contains { $0 != .max } }

  /// Whether something of the scenario ran on another thread.
  var escaped: Bool { escapes.any }

  func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }

  /// Puts a job among the ready ones: one of this executor's, the global pool's or the main actor's.
  func take(_ job: UnownedJob, from origin: Origin = .own) {
    withoutPoints {
      if OSThread.current == thread { return admit(job, from: origin) }
      if workers?.post(job, from: origin) != true { escapes.note(job) }
    }
  }

  /// Has the calling task, which has begun a `Task.sleep`, sleep until the time has come that `job` wakes it;
  /// false if the calling thread is not explored.
  func take(_ job: UnownedJob, in time: Duration) -> Bool {
    withoutPoints {
      guard keepsTasks, Worker.current?.workers === workers else { return false }
      workers?.rejoin()
      noteCurrentTask()
      let deadline = VirtualClock.Instant(nanoseconds: now).advanced(by: max(time, .zero))
        .nanoseconds
      tickets += 1
      sleepers.append(
        Sleeper(
          agent: agentOfCurrentTask(),
          ticket: tickets,
          deadline: deadline,
          alarm: .job(job)
        )
      )
      return true
    }
  }

  /// Whether the agent sleeps for a time that does not come.
  func sleepsForEver(_ agent: Int32) -> Bool {
    sleepers.contains { $0.agent == agent && $0.deadline >= Self.endOfTime }
  }

  /// Lets go of what would have woken those who do not sleep any more.
  func clearAlarms() {
    for sleeper in sleepers { if case .job(let job) = sleeper.alarm { spent.append(job) } }
    sleepers.removeAll { $0.isOfRuntime || !$0.isOfTask }
    while let job = spent.popLast() { job.runSynchronously(on: .pool) }
  }

  /// Puts a job among the ready ones, on the thread that has the baton.
  func admit(_ job: UnownedJob, from origin: Origin) {
    noteCurrentTask()
    let serial = job.taskSerial
    if starting != 0 { serials[Int(starting)] = serial }
    let isTurn = serial == 0
    let isYield = isTurn && job.isYield
    // In an actor's turn another task may yield than the one whose turn it is.
    let agent = isYield ? agentOfCurrentTask() : isTurn ? running : agent(ofSerial: serial)
    if let touches {
      touches.note(agent: agent)
      if !isTurn { touches.note(admitted: job.address) }
      if isTurn, !isYield { touches.noteActors() }
      if origin == .mainActor { touches.noteMainActor() }
    }
    if keepsTasks, !isTurn, keep(job, as: Int(agent)) {
      onFirstJob?(agent)
      // It may be over before who starts it has gone on.
      points_are_due(SynchronizationOperation.Kind.goOn.rawValue)
    }
    // Who is ready sleeps no more.
    if !isTurn, let slot = sleepers.firstIndex(where: { $0.agent == agent && $0.isOfRuntime }),
      case .job(let alarm) = sleepers.remove(at: slot).alarm
    {
      spent.append(alarm)
    }
    if !isTurn, let onDoubleResume, ready.contains(where: { !$0.isTurn && $0.agent == agent }) {
      // Run twice it would end the program. Whoever resumed it first did what is to be done.
      return onDoubleResume(agent)
    }
    if isTurn || agent > tasks { readyHelpers += 1 }
    let isActor = isTurn && !isYield
    if isYield { yields[Int(agent), default: 0] += 1 }
    ready.append(
      ReadyStep(
        job: job,
        agent: agent,
        isTurn: isTurn,
        isActor: isActor,
        origin: origin,
        wokenAt: stepNumber
      )
    )
  }

  /// Runs a ready step.
  func run(readyAt index: Int) {
    perform(pick(readyAt: index))
    running = 0
  }

  /// Takes a ready step out, to be run in the name of its agent.
  func pick(readyAt index: Int) -> ReadyStep {
    let step = ready.remove(at: index)
    if step.isTurn || step.agent > tasks { readyHelpers -= 1 }
    running = step.agent
    return step
  }

  /// Runs a step that was taken out; `isOurs` tells whether the calling thread still has the baton.
  func perform(_ step: ReadyStep, isOurs: () -> Bool = { true }) {
    if keepsTasks {
      // As the pool and the main actor run it: where a task changes executors the runtime does what it would
      // do there, so it goes on at once from an actor to the pool, and not from the main actor.
      step.job.runSynchronously(
        on: step.origin == .mainActor ? main.asUnownedSerialExecutor() : .pool
      )
      return isOurs() ? letGoOfEnded() : ()
    }
    if step.origin == .mainActor {
      step.job.runSynchronously(
        isolatedTo: main.asUnownedSerialExecutor(),
        taskExecutor: asUnownedTaskExecutor()
      )
    } else {
      step.job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Forgets the tasks that have ended: what their results do then belongs to the step.
  private func letGoOfEnded() {
    // Letting go may stop in the middle, and others come here meanwhile.
    for agent in lives.indices {
      guard case .begun(let task) = lives[agent], task.hasEnded else { continue }
      lives[agent] = .ended
    }
  }

  /// Has `begin` be called when so many nanoseconds have passed, in the name of that agent or of one of its own.
  @discardableResult
  func sleep(
    _ time: Int64,
    as agent: Int32? = nil,
    inBackground: Bool = false,
    then begin: @escaping () -> Void
  ) -> UInt64 {
    tickets += 1
    sleepers.append(
      Sleeper(
        agent: agent ?? newAgent(),
        ticket: tickets,
        deadline: deadline(in: time),
        alarm: .work(begin),
        isBackground: inBackground
      )
    )
    return tickets
  }

  /// Has no longer be called what was to be called later.
  func forget(alarm ticket: UInt64) { sleepers.removeAll { $0.ticket == ticket } }

  /// When so many nanoseconds will have passed.
  func deadline(in time: Int64) -> Int64 { time > .max - now ? .max : now + time }

  /// Has the time come.
  func advance(to deadline: Int64) { now = max(now, deadline) }

  /// Takes a sleeper out, to be woken in its name.
  func pick(sleeperAt index: Int) -> Sleeper {
    let sleeper = sleepers.remove(at: index)
    advance(to: sleeper.deadline)
    running = sleeper.agent
    return sleeper
  }

  /// The number of an agent that is no task.
  func newAgent() -> Int32 {
    serials.append(.max)
    touches?.note(agent: Int32(serials.count - 1))
    return Int32(serials.count - 1)
  }

  /// The choice by which the code of the calling thread goes on: its task's, if it is in one.
  func choiceOfCurrentCode(orElse choice: Choice) -> Choice {
    noteCurrentTask()
    return self.choice(ofSerial: currentTask?.taskSerial) ?? choice
  }

  /// The choice by which the task of that serial number goes on.
  func choice(ofSerial serial: UInt64?) -> Choice? {
    serial.map { Choice(.run, Int(agent(ofSerial: $0))) }
  }

  /// Wakes a sleeper: its next step is ready, or the turn of the actor that it belongs to.
  func wake(sleeperAt index: Int) {
    wake(pick(sleeperAt: index))
    running = 0
  }

  /// Starts simulated task `task`, which `body` creates.
  func start(_ task: Int, _ body: () -> Void) {
    starting = Int32(task)
    body()
    starting = 0
  }

  /// Does something in the name of the driver.
  func asDriver(_ body: () -> Void) {
    running = 0
    body()
  }

  /// Suspends the calling task until it is woken.
  ///
  /// Time is chosen, but goes forward: a sleeper cannot be woken while another has an earlier deadline.
  func pause(until deadline: Int64 = 0) async throws {
    workers?.rejoin()
    noteCurrentTask()
    try Task.checkCancellation()
    tickets += 1
    let ticket = tickets
    let agent = agentOfCurrentTask()
    try await withTaskCancellationHandler {
      // Resumed once: by the code that takes it out of `sleepers`. All of it happens on the thread that has the
      // baton, and a cancellation before this point was found by the check above.
      try await withUnsafeThrowingContinuation { continuation in
        sleepers.append(
          Sleeper(
            agent: agent,
            ticket: ticket,
            deadline: deadline,
            alarm: .continuation(continuation)
          )
        )
      }
    } onCancel: {
      workers?.rejoin()
      if let index = sleepers.firstIndex(where: { $0.ticket == ticket }),
        case .continuation(let continuation) = sleepers.remove(at: index).alarm
      {
        continuation.resume(throwing: CancellationError())
      }
    }
  }

  /// Notes of all tasks that are known and have not ended whether they are cancelled, and their priorities.
  func noteUrgencies(_ touches: Touches) {
    for case .begun(let task) in lives where !task.hasEnded {
      touches.note(urgency: task.job.urgency)
    }
  }

  /// How many agents have been seen.
  var seen: Int { lives.count }

  /// Whether the agent is a task that was seen, and not a queue, a timer or an alarm.
  func isTask(_ agent: Int) -> Bool {
    guard lives.indices.contains(agent) else { return false }
    if case .unseen = lives[agent] { return false }
    return true
  }

  /// The agents whose tasks have not ended, an `async let` not counted.
  var unfinished: [Int] { lives.indices.filter { unfinishedTask(of: $0) != nil } }

  func hasEnded(_ agent: Int) -> Bool {
    guard lives.indices.contains(agent) else { return false }
    return switch lives[agent] {
    case .begun(let task): task.hasEnded
    case .ended: true
    case .unseen, .unknown: false
    }
  }

  /// The agent whose task is at the address; nil where none is known that has not ended.
  func agent(ofTaskAt address: UInt) -> Int? {
    lives.indices.first { unfinishedTask(of: $0)?.job.address == address }
  }

  /// The agent's task; nil if it has ended or is not known.
  func unfinishedTask(of agent: Int) -> Task<Void, Never>? {
    guard lives.indices.contains(agent), case .begun(let task) = lives[agent], !task.hasEnded else {
      return nil
    }
    return task
  }

  /// Where the agent's task will go on; empty if it has ended or is not known.
  func resumePoints(of agent: Int) -> [UInt] { unfinishedTask(of: agent)?.job.resumePoints ?? [] }

  /// Whether `agent` itself is ready to go on.
  func isReady(_ agent: Int32) -> Bool {
    for step in ready where step.agent == agent && !step.isTurn { return true }
    return false
  }

  /// Keeps the task whose code runs: where it began inside an actor's turn, or at once in the middle of
  /// another's step, it never came as a job.
  private func noteCurrentTask() {
    // On another thread than a worker it may be the task that called `explore`.
    guard keepsTasks, Worker.current != nil, let job = currentTask,
      job.isAsyncLet || !job.asTask.hasEnded
    else { return }
    keep(job, as: Int(agent(ofSerial: job.taskSerial)))
  }

  /// Keeps the agent's task; returns whether it was not known.
  @discardableResult
  private func keep(_ job: UnownedJob, as agent: Int) -> Bool {
    while lives.count <= agent { lives.append(.unseen) }
    guard case .unseen = lives[agent] else { return false }
    lives[agent] = job.isAsyncLet ? .unknown : .begun(job.asTask)
    return true
  }

  private func agentOfCurrentTask() -> Int32 {
    // Not always the running agent: an actor's turn runs the code of several, and a task may begin at once
    // in the middle of another's step.
    currentTask.map { agent(ofSerial: $0.taskSerial) } ?? running
  }

  private func agent(ofSerial serial: UInt64) -> Int32 {
    var index = serials.count - 1
    while index > 0 {
      if serials[index] == serial { return Int32(index) }
      index -= 1
    }
    serials.append(serial)
    return Int32(serials.count - 1)
  }
}

/// Takes the main actor's jobs for an exploration.
final class MainActorStandIn: SerialExecutor {
  // It is a part of what it refers to.
  private unowned let executor: ExplorationExecutor

  init(_ executor: ExplorationExecutor) { self.executor = executor }

  func enqueue(_ job: consuming ExecutorJob) { executor.take(UnownedJob(job), from: .mainActor) }

  /// Work of the main queue is no job of this executor, and on the main actor all the same.
  func isIsolatingCurrentContext() -> Bool? { Worker.current?.isOnMain == true }

  func checkIsolated() {
    guard Worker.current?.isOnMain == true else {
      fatalError("this is not on the main actor, and what is called must be")
    }
  }
}
