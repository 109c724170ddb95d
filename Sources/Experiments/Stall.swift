internal import Mechanisms

/// A server that stands still for a while, and who sends requests to it meanwhile.
///
/// The requests go through the real limiter, with one permit, in virtual time.
package struct Stall: Sendable {
  package enum Loop: String, CaseIterable, Sendable {
    /// A request when it is due, whatever became of those before it.
    case open
    /// A client that sends its next request when it has the answer to the last.
    case closed
  }

  package static let requests = 400
  package static let interval: Int64 = 10_000_000
  package static let service: Int64 = 5_000_000
  /// How long the request takes that is in service when the others begin.
  package static let length: Int64 = 2_000_000_000

  package var loop: Loop

  package init(_ loop: Loop) { self.loop = loop }

  package func run() async -> Run {
    let scheduler = VirtualScheduler(workers: 1)
    let recorder = TraceRecorder(source: VirtualTraceSource(scheduler: scheduler))
    let world = VirtualWorld(scheduler: scheduler)
    guard let entry = Catalogue.entry("limiter") else {
      preconditionFailure("the catalogue lacks the limiter")
    }
    let limiter = entry.make(MechanismSetup(limit: 1, executor: scheduler))
    let plan =
      [SimulatedTask(number: 1, service: Self.length)]
      + (0..<Self.requests).map { index in
        SimulatedTask(
          number: index + 2,
          arrival: Int64(index) * Self.interval,
          service: Self.service
        )
      }
    // What one client sends, one request after the other.
    let clients = loop == .open ? plan.map { [$0] } : [[plan[0]], Array(plan.dropFirst())]
    for client in clients {
      Task(executorPreference: scheduler) {
        for request in client {
          scheduler.tagCurrentTask(Int32(request.number))
          let pause = request.arrival - scheduler.clock.now.nanoseconds
          if pause > 0 { try? await scheduler.clock.sleep(nanoseconds: pause) }
          await limiter.carry(Visit(request, tracer: recorder, world: world))
        }
      }
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    return Run(
      mechanism: "\(loop.rawValue)-loop",
      limit: 1,
      seed: 1,
      clock: .virtual,
      workers: 1,
      facts: RunFacts(
        tasks: plan.count,
        limit: 1,
        promisesOrder: true,
        serviceHoldsWorker: false
      ),
      plan: plan,
      events: recorder.finish(),
      permitsLeft: limiter.permitsInUse
    )
  }
}
