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

  /// The actor whose turn it is; nil where it is no such turn.
  ///
  /// 193 is the runtime's `DefaultActorSeparate`, which keeps its actor behind the function that runs it.
  package var actorOfTurn: UInt? {
    word(atOffset: 32) & 0xFF == 193 ? word(atOffset: 64) : nil
  }

  /// Whether it is a task that shares its parent's memory (`async let`): it may be gone when it has ended.
  ///
  /// Bit 28 of the runtime's job flags.
  package var isAsyncLet: Bool { word(atOffset: 32) & 1 << 28 != 0 }

  /// The task that it is, to be kept or cancelled; its result is not to be asked for.
  ///
  /// Sound for a task's own job: both are one pointer to it, and copying a `Task` retains it.
  ///
  /// - Precondition: `taskSerial` is not 0, and the task is no `async let`.
  package var asTask: Task<Void, Never> { unsafeBitCast(self, to: Task<Void, Never>.self) }

  /// Where the task will go on, and behind it where its callers will: addresses of code.
  ///
  /// A task keeps behind its job's header the function that resumes it (offset 56) and that function's
  /// context (64). A context begins with its caller's context and the address in the caller.
  ///
  /// - Precondition: a task that waits or is ready, not one that runs or has ended.
  package var resumePoints: [UInt] {
    var points = [word(atOffset: 56)]
    var context = word(atOffset: 64)
    while context != 0, context % 16 == 0, points.count < 64,
      let caller = UnsafeRawPointer(bitPattern: context)
    {
      points.append(caller.load(fromByteOffset: 8, as: UInt.self))
      context = caller.load(as: UInt.self)
    }
    return points
  }

  /// How many asynchronous functions are under way in the task, one called by the other.
  ///
  /// - Precondition: a task that waits or is ready, not one that runs or has ended.
  package var depth: Int {
    var count = 1
    var context = word(atOffset: 64)
    while context != 0, context % 16 == 0, count < 1 << 20,
      let caller = UnsafeRawPointer(bitPattern: context)
    {
      count += 1
      context = caller.load(as: UInt.self)
    }
    return count
  }

  /// Where in the code it goes on.
  package var beginning: UInt { word(atOffset: 56) }

  /// Whether the task is cancelled: another bit of the word that `hasEnded` reads.
  ///
  /// - Precondition: it is a task's, and has not ended.
  package var isCancelled: Bool { word(atOffset: 96) & 0x100 != 0 }

  /// Whether the task is cancelled, and its priority: others may change both.
  ///
  /// - Precondition: it is a task's, and has not ended.
  package var urgency: UInt64 { UInt64(word(atOffset: 96) & 0x1FF) }

  /// Unique among the jobs and tasks that exist now.
  ///
  /// Sound because `UnownedJob` is one pointer and nothing else, which the size check of
  /// `unsafeBitCast` enforces.
  package var address: UInt { unsafeBitCast(self, to: UInt.self) }

  private func word(atOffset offset: Int) -> UInt {
    UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: offset, as: UInt.self) ?? 0
  }

  /// The job whose `address` this is.
  package init(address: UInt) { self = unsafeBitCast(address, to: UnownedJob.self) }

  /// The job of the task that runs on the calling thread; nil outside tasks.
  ///
  /// A task is its own job, at one address all its life; an `UnsafeCurrentTask` is that address.
  package static var ofCurrentTask: UnownedJob? {
    withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: UnownedJob.self) } }
  }
}

extension Task<Void, Never> {
  /// Whether it has ended.
  ///
  /// A bit of the status word, which stands behind the two words that the exclusivity checker owns.
  package var hasEnded: Bool {
    let address = unsafeBitCast(self, to: UInt.self)
    return (UnsafeRawPointer(bitPattern: address)?.load(fromByteOffset: 96, as: UInt.self) ?? 0)
      & 0x2000 != 0
  }

  /// The job it is, under which executors know it.
  package var job: UnownedJob { unsafeBitCast(self, to: UnownedJob.self) }
}

extension UnownedSerialExecutor {
  /// The runtime's executor for what is on no actor: two words of 0.
  ///
  /// `unsafeBitCast` enforces that it is two words.
  package static var pool: UnownedSerialExecutor {
    unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
  }
}
