/// Where a scenario plays: what its tasks run on, wait on and report to.
///
/// One context serves all schedules of an exploration, one after the other.
package final class ScenarioContext: Sendable {
  private let run: ScheduleRun

  init(_ run: ScheduleRun) { self.run = run }

  /// Where the tasks run; mechanisms that start tasks of their own start them here.
  package var executor: any TaskExecutor { run.executor }

  /// Notes what happened to a simulated task, from within a step.
  package func report(_ observation: Observation, of task: Int) { run.observe(observation, task) }

  /// What came from other threads.
  var escapes: Escapes { run.executor.escapes }

  /// Notes what the code under study found wrong with itself; whether it still counts.
  @discardableResult
  func note(_ kind: Violation.Kind, _ message: String) -> Bool { run.note(kind, message) }

  /// Notes what the code under study did that its promises do not name, in a sentence.
  package func noteFault(_ sentence: String) { note(.requirement, sentence) }

  /// Suspends the calling task for a while: as long as the schedule says.
  ///
  /// Time is not measured in an exploration, it is chosen: the task can go on at any later step.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  package func pause() async throws { try await run.executor.pause() }

  /// Notes that a continuation was about to be resumed a second time, which would end the process.
  ///
  /// Called instead of the second resume. Ends the schedule after the present step.
  package func noteDoubleResume(_ what: String) { run.noteDoubleResume(what) }
}
