internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering

/// One worker, tasks of several urgencies on it, and a learner's recorder, in virtual time.
struct RecorderScene<Recorder: LearnerRecorder>: Sendable {
  private static var millisecond: Int64 { 1_000_000 }

  private let scheduler = VirtualScheduler(workers: 1, heedingPriority: true)
  private let recorder = Recorder()
  private let notes = Notes()

  private final class Notes: Sendable {
    /// When the urgent record had been added.
    let ended = Lock<Int64?>(nil)
    /// Whether a task came that does not live by this clock.
    let hasStranger = Lock(false)
  }

  /// Whether the current task lives by this clock: a `Task {}` of the learner's does not.
  private var isInside: Bool {
    let isInside = withUnsafeCurrentTask { $0?.unownedTaskExecutor } != nil
    if !isInside { notes.hasStranger.withLock { $0 = true } }
    return isInside
  }

  /// Starts a task.
  func start(
    _ priority: TaskPriority,
    after milliseconds: Int64 = 0,
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    Task(executorPreference: scheduler, priority: priority) {
      if milliseconds > 0 { try await sleep(milliseconds) }
      try await body()
    }
  }

  func sleep(_ milliseconds: Int64) async throws {
    if isInside { try await scheduler.clock.sleep(nanoseconds: milliseconds * Self.millisecond) }
  }

  /// Keeps the worker.
  func work(_ milliseconds: Int64) {
    if isInside { scheduler.hold(for: milliseconds * Self.millisecond) }
  }

  /// Has a record read and added; to add one takes 10 ms.
  func record(_ read: @escaping @Sendable () async throws -> Int) async throws {
    try await recorder.record(RecordFile(reading: read), in: Ledger { _ in work(10) })
  }

  /// The urgent record has been added.
  func noteEnd() { notes.ended.withLock { $0 = scheduler.clock.now.nanoseconds } }

  /// Runs all, and judges how long the urgent record has waited since it came.
  func judge(_ name: String, _ asked: String, from milliseconds: Int64) async -> GradeItem {
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    if notes.hasStranger.withLock({ $0 }) {
      return GradeItem(
        name,
        passed: false,
        "\(asked): a 'Task {}' of yours reads or adds. Do it on the task that calls 'record', whose urgency counts"
      )
    }
    guard let end = notes.ended.withLock({ $0 }) else {
      return GradeItem(name, passed: false, "\(asked): the urgent one never ended")
    }
    // Itself it takes 10 ms.
    let waited = end - (milliseconds + 10) * Self.millisecond
    return GradeItem(
      name,
      passed: waited <= 60 * Self.millisecond,
      "\(asked): it waited \(DurationText.text(waited)) before it was added; 60 ms are allowed"
    )
  }
}
