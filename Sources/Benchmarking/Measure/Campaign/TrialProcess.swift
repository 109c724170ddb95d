internal import Experiments
internal import Foundation
internal import Limiters
internal import WorkStealing

/// The two ends of a measuring process: the child that measures and the parent that starts it.
package enum TrialProcess {
  /// Measures in this process and returns the reports as JSON, one for each contestant.
  package static func run(_ request: String) async throws -> String {
    let request = try JSONDecoder().decode(ProcessRequest.self, from: Data(request.utf8))
    guard let first = request.trials.first, let workload = BenchWorkloads.named(first.cell.workload)
    else { throw TrialError.unknownWorkload(request.trials.first?.cell.workload ?? "") }
    // Before any other thread begins, because threads begin with the processors of their creator.
    if let processors = first.cell.processors, !Affinity.narrow(to: processors) {
      throw TrialError.tooFewProcessors(processors)
    }
    let lanes = request.trials.contains { $0.executor == .lanes } ? WorkStealingExecutor() : nil
    let trials = try request.trials.map { try Trial($0, lanes: lanes) }
    var reports: [TrialReport] = []
    if let paired = workload as? any PairedWorkload {
      reports = await PairedRounds(workload: paired, request: first, rounds: request.rounds)
        .measure(trials)
    } else {
      for trial in trials {
        // Off the main actor, which must be free to serve the mechanism that uses it.
        reports.append(
          await Task.detached(on: trial.executor) {
            var report = TrialReport()
            await workload.measure(trial, into: &report)
            return report
          }.value
        )
      }
    }
    for (index, trial) in trials.enumerated() where !trial.request.isFirst {
      reports[index].keepWhatIsCompared(
        workload,
        limit: trial.hasToLimit ? trial.cell.limit : nil
      )
    }
    return String(decoding: try JSONEncoder().encode(reports), as: UTF8.self)
  }

  /// Measures in a new process of `program` and waits for its reports, one for each contestant; nil where the
  /// user interrupted.
  ///
  /// Where the process crashes, hangs beyond `deadline` seconds or ends without reports, each contestant is
  /// measured again in a process of its own, which shows whose doing it was: that one has it as its violation.
  package static func start(
    _ request: ProcessRequest,
    program: String,
    deadline: Double,
    isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> [TrialReport]? {
    let (reports, failure) = try await attempt(request, program, deadline, isInterrupted)
    if let reports, reports.count == request.trials.count { return reports }
    guard let failure else { return nil }
    if request.trials.count == 1 {
      var report = TrialReport()
      report.violations = [failure]
      return [report]
    }
    var alone: [TrialReport] = []
    for trial in request.trials {
      let own = ProcessRequest(trials: [trial], rounds: request.rounds)
      guard
        let found = try await start(
          own,
          program: program,
          deadline: deadline,
          isInterrupted: isInterrupted
        )
      else { return nil }
      alone += found
    }
    // It may be the company that one of them cannot bear.
    if alone.allSatisfy(\.violations.isEmpty) {
      for index in alone.indices { alone[index].violations = ["with the others \(failure)"] }
    }
    return alone
  }

  /// The reports, or why there are none; neither where the user interrupted.
  private static func attempt(
    _ request: ProcessRequest,
    _ program: String,
    _ deadline: Double,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> (reports: [TrialReport]?, failure: String?) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let argument = String(decoding: try encoder.encode(request), as: UTF8.self)
    let child = try await ChildProcess.run(
      program,
      ["--trial", argument],
      // A backtrace of an optimised program takes seconds and says little.
      environment: ["SWIFT_BACKTRACE": "enable=no"],
      timeLimit: .seconds(deadline),
      holdsLifeline: true,
      isInterrupted: isInterrupted
    )
    func failed(_ what: String) -> (reports: [TrialReport]?, failure: String?) {
      let said = child.errors.trimmingCharacters(in: .whitespacesAndNewlines)
      return (nil, said.isEmpty ? what : "\(what): \(said.suffix(500))")
    }
    switch child.ending {
    case .interrupted: return (nil, nil)
    case .outOfTime: return failed("hung: not done after \(Int(deadline)) s")
    case .killed(let signal): return failed("crashed with signal \(signal)")
    case .exited(0):
      do {
        return (try JSONDecoder().decode([TrialReport].self, from: Data(child.output.utf8)), nil)
      } catch {
        return failed("its report cannot be read (\(error))")
      }
    case .exited(let code): return failed("ended with exit status \(code)")
    }
  }
}
