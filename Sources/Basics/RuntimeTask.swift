/// What the runtime knows a task by.
///
/// Swift shows a task's identity only in descriptions meant for people. A run needs it two or three
/// times a step, so this file, and no other, reads it at its source.

/// The serial number of the task a job belongs to: unique in the process, 0 for jobs that belong to
/// none (the turn of an actor, the second half of a yield).
///
/// The entry point that `UnownedJob.description` prints from, exported by the runtime.
@_silgen_name("swift_task_getJobTaskId")
private func serialNumber(of job: UnownedJob) -> UInt64

extension UnownedJob {
  /// Unique in the process; 0 for jobs that belong to no task.
  package var taskSerial: UInt64 { serialNumber(of: self) }

  /// Whether it is the first half of a `Task.yield()`: it belongs to no task and resumes one.
  ///
  /// A job keeps its kind in the low byte of its flags, behind the object's header and the scheduler's
  /// two words. 195 is the runtime's `NullaryContinuation`; actors have other kinds (192 to 194).
  package var isYield: Bool {
    UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: 32, as: UInt8.self) == 195
  }

  /// Unique among the jobs and tasks that exist now.
  ///
  /// Sound because `UnownedJob` is one pointer and nothing else, which the size check of
  /// `unsafeBitCast` enforces.
  package var address: UInt { unsafeBitCast(self, to: UInt.self) }

  /// The job of the task that runs on the calling thread; nil outside tasks.
  ///
  /// A task is its own job, at one address all its life; an `UnsafeCurrentTask` is that address.
  package static var ofCurrentTask: UnownedJob? {
    withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: UnownedJob.self) } }
  }
}
