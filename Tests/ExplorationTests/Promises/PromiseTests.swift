import Synchronization
import TestSupport
import Testing

@testable import Exploration

/// Limiters that each break one promise, small enough to be read.
///
/// What the explorer must catch is written down as code: a wrong limiter that is certified is the
/// worst defect it can have.
@Suite(.watched) struct `Each promise` {
  /// How a limiter of one permit goes wrong.
  enum Wrong: CaseIterable {
    case nobody
    case neverRunsTheBody
    case runsTheBodyTwice
    case tellsEverybodyTheyAreCancelled
    case tellsTheBodyItIsCancelled
    case losesTheError
    case checksForCancellationBeforeTheRelease
    case admitsOneLess
    case leaksSilently
    case treatsTheThirdDifferently
    case resumesTwiceInItsDeinit
    case retriesForEver
    case releasesInAPlainTask
    case raisesTheLimitAndWakesNobody
  }

  /// A first-come-first-served semaphore with a place for each mistake.
  final class Limiter: Sendable {
    private struct State {
      var free: Int
      var arrived = 0
      var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let wrong: Wrong
    private let context: ScenarioContext

    init(_ limit: Int, _ wrong: Wrong, _ context: ScenarioContext) {
      self.wrong = wrong
      self.context = context
      state = Mutex(State(free: wrong == .admitsOneLess ? limit - 1 : limit))
    }

    deinit { if wrong == .resumesTwiceInItsDeinit { context.noteDoubleResume("a waiter") } }

    func run(_ body: () async throws -> Void) async throws {
      if wrong == .neverRunsTheBody { return }
      if wrong == .tellsEverybodyTheyAreCancelled { throw CancellationError() }
      let number = state.withLock { state in
        state.arrived += 1
        return state.arrived
      }
      if wrong == .retriesForEver {
        while !state.withLock({ $0.free > 1 }) { await Task.yield() }
      } else if !(wrong == .treatsTheThirdDifferently && number == 3) {
        await acquire()
      }
      do { try await body() } catch {
        release()
        if wrong == .losesTheError { return }
        throw error
      }
      if wrong == .runsTheBodyTwice { try await body() }
      if wrong == .checksForCancellationBeforeTheRelease { try Task.checkCancellation() }
      if wrong == .releasesInAPlainTask {
        Task { self.release() }
      } else if wrong != .leaksSilently {
        release()
      }
    }

    func raise(to limit: Int) {
      let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        if wrong == .raisesTheLimitAndWakesNobody || state.line.isEmpty {
          state.free += limit - 1
          return []
        }
        let woken = Array(state.line.prefix(limit - 1))
        state.line.removeFirst(woken.count)
        state.free += limit - 1 - woken.count
        return woken
      }
      for continuation in woken { continuation.resume() }
    }

    private func acquire() async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          if state.free == 0 {
            state.line.append(continuation)
            return false
          }
          state.free -= 1
          return true
        }
        if isFree { continuation.resume() }
      }
    }

    private func release() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        if state.line.isEmpty {
          state.free += 1
          return nil
        }
        return state.line.removeFirst()
      }
      next?.resume()
    }
  }

  static func scenario(
    _ wrong: Wrong,
    tasks: Int = 2,
    limit: Int = 1,
    cancellable: Bool = false,
    failing: Bool = false
  ) -> Scenario {
    var scenario = Scenario(
      tasks: tasks,
      limit: limit,
      cancellable: cancellable,
      // A waiter of these cannot be woken by a cancellation: it may run all the same.
      promises: .init(order: true, cancelledWaitersNeverRun: false),
      fingerprint: { "\(wrong)-\($0.tasks)" },
      make: { context in
        let limiter = Limiter(limit, wrong, context)
        return ScenarioInstance(
          body: { task in
            context.report(.arrived, of: task)
            var bodyEnded = false
            var bodyFailed = false
            do {
              try await limiter.run {
                context.report(.admitted, of: task)
                let isTold = wrong == .tellsTheBodyItIsCancelled
                do {
                  if isTold { throw CancellationError() }
                  try await context.pause()
                } catch {
                  context.report(.cancelledRunning, of: task)
                  bodyFailed = true
                  throw error
                }
                context.report(failing ? .failed : .finished, of: task)
                bodyEnded = true
                if failing {
                  bodyFailed = true
                  throw BodyFailed()
                }
              }
              if bodyFailed { context.report(.lostResult, of: task) }
            } catch {
              if bodyFailed { return }
              context.report(
                bodyEnded && Task.isCancelled ? .lostResult : .cancelledWaiting,
                of: task
              )
            }
          },
          changeLimit: { limiter.raise(to: $0) }
        )
      }
    )
    scenario.fair = 2
    return scenario
  }

  @Test(
    arguments: [
      (Wrong.neverRunsTheBody, Violation.Kind.notServed, 2, 1, false, false),
      (.runsTheBodyTwice, .ranTwice, 1, 1, false, false),
      (.tellsEverybodyTheyAreCancelled, .cancelledWrongly, 1, 1, false, false),
      (.tellsTheBodyItIsCancelled, .cancelledWrongly, 1, 1, false, false),
      (.losesTheError, .notServed, 1, 1, false, true),
      (.checksForCancellationBeforeTheRelease, .notServed, 2, 1, true, false),
      (.admitsOneLess, .permitLeak, 2, 2, false, false),
      (.leaksSilently, .permitLeak, 1, 1, false, false),
      (.treatsTheThirdDifferently, .overAdmission, 3, 1, false, false),
      (.resumesTwiceInItsDeinit, .doubleResume, 2, 1, false, false),
      (.retriesForEver, .livelock, 2, 1, false, false),
    ] as [(Wrong, Violation.Kind, Int, Int, Bool, Bool)]
  )
  func `is asked, and its breach is found and replays`(
    wrong: Wrong,
    kind: Violation.Kind,
    tasks: Int,
    limit: Int,
    cancellable: Bool,
    failing: Bool
  ) throws {
    let scenario = Self.scenario(
      wrong,
      tasks: tasks,
      limit: limit,
      cancellable: cancellable,
      failing: failing
    )
    let verdict = try Explorer(stopsAtViolation: true)(scenario)
    let found = try #require(verdict.found)
    #expect(found.violation.kind == kind, "\(found.violation.message)")
    #expect(verdict.firstFailureAt == verdict.schedules)
    let again = try Schedule(parsing: found.schedule.description)
    #expect(try Replay(of: again, in: scenario).violation == found.violation)
  }

  @Test(arguments: [
    (2, 1, true, false), (2, 1, false, true), (3, 1, false, false), (3, 2, false, false),
  ])
  func `is kept by the same limiter without a mistake`(
    tasks: Int,
    limit: Int,
    cancellable: Bool,
    failing: Bool
  ) throws {
    for wrong in [Wrong.nobody, .releasesInAPlainTask] {
      let scenario = Self.scenario(
        wrong,
        tasks: tasks,
        limit: limit,
        cancellable: cancellable,
        failing: failing
      )
      let verdict = try Explorer()(scenario)
      #expect(verdict.found?.violation == nil)
      #expect(verdict.coverage == .exhaustive)
      #expect(verdict.givenUp == 0)
    }
  }

  @Test func `about a free permit is asked when the limit is raised while somebody waits`() throws {
    var scenario = Self.scenario(.raisesTheLimitAndWakesNobody)
    scenario.resize = 2
    let found = try #require(try Explorer(stopsAtViolation: true)(scenario).found)
    #expect(found.violation.kind == .idlePermit)
    #expect(found.violation.message == "t02 waits though a permit is free: 1 running, limit 2")
    #expect(found.schedule.choices.contains(Choice(.limit, 2)))
    #expect(try Replay(of: found.schedule, in: scenario).violation == found.violation)
    var right = Self.scenario(.nobody)
    right.resize = 2
    let verdict = try Explorer()(right)
    #expect(verdict.found == nil)
    #expect(verdict.coverage == .exhaustive)
  }

  @Test func `about cancellation is asked with a body that ends normally though it is cancelled`()
    throws
  {
    let scenario = Self.scenario(.checksForCancellationBeforeTheRelease, cancellable: true)
    let verdict = try Explorer()(scenario)
    // The permit that such a body leaves behind is never given back.
    #expect(verdict.failures[.notServed] != nil)
    let found = try #require(verdict.found).schedule.choices
    #expect(found.contains { $0.kind == .wake })
    #expect(found.contains { $0.kind == .cancel })
  }
}
