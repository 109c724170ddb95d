/// One simulated task on its way through one mechanism, reporting to a tracer.
///
/// The adapters call these methods at the moments their names say and add nothing of their own, so
/// that a trace means the same for every mechanism: `arrive` before the limiter is entered, `serve`
/// as the limiter's body, `leave` when the task was cancelled while it waited.
package struct Visit: Sendable {
  package let task: SimulatedTask
  private let id: TaskID
  private let tracer: any Tracer
  private let world: any World
  private let hasArrived: Bool
  private let work: Work?

  /// What a task does in place of taking its time; it reports shares of it, in percent.
  package typealias Work =
    @Sendable (_ report: @escaping @Sendable (UInt8) -> Void) async throws -> Void

  /// `hasArrived` says that the arrival is on record already: a run whose workers may all be held
  /// notes it when it is due, not when a worker is free to note it.
  package init(
    _ task: SimulatedTask,
    tracer: any Tracer,
    world: any World,
    hasArrived: Bool = false,
    work: Work? = nil
  ) {
    self.task = task
    self.id = TaskID(task.number)
    self.tracer = tracer
    self.world = world
    self.hasArrived = hasArrived
    self.work = work
  }

  /// The task asks to be let in.
  package func arrive() {
    if !hasArrived { tracer.record(.arrived, of: id) }
  }

  /// The task waits and the calling thread waits with it.
  package func block() { tracer.record(.blocked, of: id) }

  /// The task has its permit, and waits on without that thread until another serves it.
  package func unblock() { tracer.record(.unblocked, of: id) }

  /// The task waits, and holds a permit of another limit meanwhile.
  package func hold(_ permit: TraceEvent.Permit) { tracer.record(.holds(permit), of: id) }

  /// The task was cancelled while it waited; its body will not run.
  package func leave() { tracer.record(.cancelled(.waiting), of: id) }

  /// The mechanism would not take the task.
  package func reject() { tracer.record(.rejected, of: id) }

  /// The body, on a task: admission, work, departure.
  ///
  /// `inline` says that the body may still run on the thread that started the visit, because the
  /// mechanism runs it on the calling task; work that holds a thread must then move off it first.
  ///
  /// - Throws: `SimulatedFailure` or `CancellationError`, after the departure is recorded, so that
  ///   the limiter's own error path is the one that gives the permit back.
  package func serve(inline: Bool = false) async throws {
    // Before the admission is noted: of bodies that hold their threads no more are in service than there are threads.
    if inline, task.kind.holdsWorker { await world.leaveStartingThread() }
    tracer.record(.admitted, of: id)
    do {
      if let work {
        try await work { tracer.record(.progress($0), of: id) }
      } else {
        try await task.perform(in: world) { tracer.record(.progress($0), of: id) }
      }
    } catch {
      // Real work can go wrong in a way that nobody asked for.
      if work != nil, !task.fails, !(error is CancellationError) {
        tracer.record(.error(ErrorText("\(error)")), of: id)
      }
      tracer.record(error is CancellationError ? .cancelled(.running) : .failed, of: id)
      throw error
    }
    tracer.record(.finished, of: id)
  }

  /// The body, on a thread that may be held: admission, work, departure.
  ///
  /// - Parameter isCancelled: asked between parts of the work, as cooperative code would.
  /// - Throws: as `serve()` does.
  package func serveOnThread(isCancelled: () -> Bool) throws {
    tracer.record(.admitted, of: id)
    do {
      try task.performOnThread(in: world, isCancelled: isCancelled) {
        tracer.record(.progress($0), of: id)
      }
    } catch {
      tracer.record(error is CancellationError ? .cancelled(.running) : .failed, of: id)
      throw error
    }
    tracer.record(.finished, of: id)
  }
}

extension Visit {
  /// Carries the visit through a limiter that runs its body on the calling task.
  ///
  /// `limiter` is given the body and must either run it once and pass its error on, or throw without
  /// having run it because the task was cancelled while it waited.
  package func carry(through limiter: (_ body: () async throws -> Void) async throws -> Void) async
  {
    arrive()
    var wasServed = false
    var bodyFailed = false
    do {
      try await limiter {
        wasServed = true
        do { try await serve(inline: true) } catch {
          bodyFailed = true
          throw error
        }
      }
      if bodyFailed { tracer.noteLostResult(of: id, toldCancelled: false) }
    } catch {
      // Errors of the body are in the trace already.
      if !wasServed {
        leave()
      } else if !bodyFailed {
        tracer.noteLostResult(of: id, toldCancelled: error is CancellationError)
      }
    }
  }
}
