internal import ChildProcesses
internal import Foundation
internal import Limiters

/// The two ends of a trial: the child that runs it and the parent that starts the child.
package enum TrialProcess {
  /// Runs the trial in this process and returns its report as JSON.
  package static func run(_ request: String) async throws -> String {
    let request = try JSONDecoder().decode(TrialRequest.self, from: Data(request.utf8))
    // Before any other thread begins, because threads begin with the processors of their creator.
    if let processors = request.cell.processors, !Affinity.narrow(to: processors) {
      throw TrialError.tooFewProcessors(processors)
    }
    let trial = try Trial(request)
    guard let workload = BenchWorkloads.named(request.cell.workload) else {
      throw TrialError.unknownWorkload(request.cell.workload)
    }
    // Off the main actor, which must be free to serve the mechanism that uses it.
    let report = await Task.detached(on: trial.executor) {
      var report = TrialReport()
      await workload.measure(trial, into: &report)
      return report
    }.value
    return String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
  }

  /// Runs the trial in a new process of `program` and waits for its report; nil where the user
  /// interrupted.
  ///
  /// A trial that crashes, hangs beyond `deadline` seconds or ends without a report has that as its
  /// violation.
  package static func start(
    _ request: TrialRequest,
    program: String,
    deadline: Double,
    isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> TrialReport? {
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
    func failed(_ what: String) -> TrialReport {
      var report = TrialReport()
      let said = child.errors.trimmingCharacters(in: .whitespacesAndNewlines)
      report.violations.append(said.isEmpty ? what : "\(what): \(said.suffix(500))")
      return report
    }
    switch child.ending {
    case .interrupted: return nil
    case .outOfTime: return failed("hung: not done after \(Int(deadline)) s")
    case .killed(let signal): return failed("crashed with signal \(signal)")
    case .exited(0):
      do {
        return try JSONDecoder().decode(TrialReport.self, from: Data(child.output.utf8))
      } catch {
        return failed("its report cannot be read (\(error))")
      }
    case .exited(let code): return failed("ended with exit status \(code)")
    }
  }
}
