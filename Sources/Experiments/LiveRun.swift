package import Mechanisms

/// A run under way, on any clock: it can be given tasks, watched, steered, stopped and waited for.
package protocol LiveRun: AnyObject, Sendable {
  /// What was asked for when the run was opened.
  var experiment: Experiment { get }

  /// The tasks given so far, by number from 1.
  var plan: [SimulatedTask] { get }

  /// Nanoseconds since the run began.
  var now: Int64 { get }

  /// The events recorded since the last reading with this cursor.
  func events(since cursor: inout TraceRecorder.Cursor) -> [TraceEvent]

  /// Gives the run the tasks of a workload, the first of which may arrive now.
  ///
  /// - Returns: the tasks, numbered on from those given before.
  @discardableResult func submit(_ workload: Workload) -> [SimulatedTask]

  /// Cancels the task of that number; one that has ended already takes no notice.
  func cancel(_ number: Int)

  /// Does something to the mechanism; it must be able to.
  func perform(_ control: Experiment.Control)

  /// Whether the mechanism was last told to admit nobody.
  var isSuspended: Bool { get }

  /// Starts no more tasks and cancels those that have not ended.
  func stop(because reason: String)

  /// Has the mechanism say when all is done that the run was given so far.
  ///
  /// To be called while tasks still run; `finish` does it too, but what one has looked at to its end is over
  /// by then.
  func expectEnd()

  /// Takes no more tasks and returns once every task has ended.
  ///
  /// To be called once.
  func finish() async -> Run
}

extension LiveRun {
  /// In virtual time nothing ends before it is asked for.
  package func expectEnd() {}

  /// Whether nobody will be admitted any more, unless somebody resumes the mechanism.
  package var staysSuspended: Bool {
    let now = now
    let willResume = experiment.controls.contains { time, control in
      control == .resume && time > now
    }
    return !willResume && isSuspended
  }
}
