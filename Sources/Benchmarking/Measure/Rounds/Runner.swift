internal import Basics
internal import Mechanisms

/// A workload whose contestants can share a process: measured in short rounds, one after the other in random
/// order, round after round, so that what disturbs the machine for longer than a round disturbs all of them.
package protocol PairedWorkload: BenchWorkload {
  /// How long a round is, in the rounds of the run's scale.
  var roundLength: Double { get }

  /// Makes one contestant ready.
  func runner(_ trial: Trial) async throws -> Runner
}

extension PairedWorkload {
  package var roundLength: Double { 1 }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let round = Double(scale.round) * roundLength / 1e9
    // Getting ready takes some rounds more.
    return 0.015 + round * (1.1 * Double(scale.rounds) + 2.5)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let found = await PairedRounds(workload: self, request: trial.request, rounds: 3).measure([
      trial
    ])
    report = found.first ?? report
  }
}

/// One contestant of a cell, ready to be measured.
package struct Runner: Sendable {
  /// Operations come in multiples of it: the tasks of a batch.
  var grain = 1
  /// Performs about so many operations and says what they took, in figures of one value each.
  var round: @Sendable (_ times: Int) async -> TrialReport
  /// Measures once, after all rounds, what needs no rounds: how much was allocated, what was promised.
  var conclude: @Sendable (_ times: Int, _ report: inout TrialReport) async -> Void = { _, _ in }
}

extension Runner {
  /// One whose figure is the time of an operation.
  static func timed(
    grain: Int = 1,
    _ trial: Trial,
    _ operations: @escaping @Sendable (_ times: Int) async -> Void,
    conclude: @escaping @Sendable (inout TrialReport) async -> Void = { _ in }
  ) -> Runner {
    Runner(grain: grain) { times in
      let elapsed = await elapsedNanoseconds { await operations(times) }
      var report = TrialReport()
      report.add(.timePerOperation, "mean", Double(elapsed) / Double(times), count: times)
      return report
    } conclude: { times, report in
      if trial.request.isFirst {
        let before = MachineClock.processTime()
        await operations(times)
        let used = Double(MachineClock.processTime() - before) / Double(times)
        report.add(.processorTime, "mean", used, count: times)
        let counted = max(grain, min(times, 1_000) / grain * grain)
        await report.countAllocations(operations: counted) { await operations(counted) }
      }
      await conclude(&report)
    }
  }
}
