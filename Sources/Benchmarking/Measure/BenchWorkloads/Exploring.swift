internal import Basics
internal import Experiments
internal import ExplorableSynchronization
internal import Exploration

/// How many schedules of a small program an exploration runs in a second.
package struct Exploring: BenchWorkload {
  package enum Program: String, CaseIterable, Sendable {
    /// Each job runs to its end, on the exploring thread: `explore limiter … inside=no` in the lab.
    case jobs
    /// Steps end where tasks suspend.
    case tasks
    /// Steps end at every lock as well, on threads of their own.
    case locks
  }

  private let program: Program

  package static let all: [any BenchWorkload] = Program.allCases.map { Exploring(program: $0) }

  package var id: String { "exploring-\(program.rawValue)" }
  package var question: String {
    switch program {
    case .jobs:
      "How many schedules a second does exploring the limiter between jobs take: three tasks, limit 1?"
    case .tasks: "How many schedules a second does exploring three tasks that suspend take?"
    case .locks: "How many a second does it take where every lock is a scheduling point?"
    }
  }
  package let headline: Headline? = Headline(.schedules, "mean")
  package let measuresMechanisms = false

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    var (schedules, steps, elapsed) = (0, 0, Int64(0))
    var seed = trial.request.seed
    // Doubled until the budget is used up; only the last and longest counts.
    var asked = 50
    repeat {
      let (count, drawn) = (asked, seed)
      let start = MachineClock.monotonic()
      let verdict = await onOwnThread("exploring") { explored(count, seed: drawn) }
      elapsed = MachineClock.monotonic() - start
      guard let verdict else {
        report.violations.append("the exploration of a sound program failed")
        return
      }
      (schedules, steps) = verdict
      asked *= 2
      seed &+= 1
    } while elapsed < trial.request.budget / 2
    report.add(.schedules, "mean", Double(schedules) * 1e9 / Double(elapsed), count: schedules)
    report.add(.timePerStep, "mean", Double(elapsed) / Double(max(1, steps)), count: steps)
  }

  /// How many schedules and steps there were; nil if a promise was broken.
  @available(*, noasync)
  private func explored(_ schedules: Int, seed: UInt64) -> (schedules: Int, steps: Int)? {
    if program == .jobs { return exploredBetweenJobs(schedules, seed: seed) }
    let verdict = try? explore(
      "bench",
      strategy: .random(schedules: schedules, seed: seed),
      schedules: schedules
    ) {
      let account = Account()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            if program == .locks { account.pay() } else { await Task.yield() }
          }
        }
      }
    }
    return verdict.map { ($0.schedules, $0.steps) }
  }

  @available(*, noasync)
  private func exploredBetweenJobs(
    _ schedules: Int,
    seed: UInt64
  ) -> (schedules: Int, steps: Int)? {
    guard let scenario = ExplorationScenario(name: "limiter-3-1-none")?.scenario,
      let verdict = try? Explorer(strategy: .random, schedules: schedules, seed: seed)(scenario),
      verdict.failed == 0
    else { return nil }
    return (verdict.schedules, verdict.steps)
  }
}

private final class Account: Sendable {
  private let balance = Mutex(3)
  func pay() { balance.withLock { $0 -= 1 } }
}

/// What a lock costs that an exploration can stop at, while nothing is explored.
struct ExplorableLock: Sendable {
  private let account = Account()
  func pass() { account.pay() }
}
