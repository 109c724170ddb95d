internal import Basics
internal import Foundation
internal import Limiters
internal import Mechanisms

/// The rounds of one process: all contestants of a cell, again and again, each time in an order drawn anew.
struct PairedRounds {
  let workload: any PairedWorkload
  let request: TrialRequest
  let rounds: Int

  /// A report for each trial, in their order; a measure's repetition is its round.
  func measure(_ trials: [Trial]) async -> [TrialReport] {
    var reports = [TrialReport](repeating: TrialReport(), count: trials.count)
    var runners: [(runner: Runner, size: RoundSize)?] = []
    let length = Int64(Double(request.round) * workload.roundLength)
    for (index, trial) in trials.enumerated() {
      do {
        let runner = try await workload.runner(trial)
        runners.append((runner, await Self.size(of: runner, on: trial, for: length)))
      } catch {
        reports[index].violations.append("the work could not be done: \(error)")
        runners.append(nil)
      }
    }
    var generator = SplitMix64(seed: request.seed, purpose: .item, number: trials.count)
    for round in 1...rounds {
      for index in trials.indices.shuffled(using: &generator) {
        guard let (runner, size) = runners[index] else { continue }
        let start = MachineClock.monotonic()
        let found = await Self.on(trials[index]) { await runner.round(size.times) }
        reports[index].absorb(found, round: round)
        runners[index]?.size.adapt(after: MachineClock.monotonic() - start)
      }
    }
    for index in trials.indices {
      guard let (runner, size) = runners[index] else { continue }
      let before = reports[index]
      reports[index] = await Self.on(trials[index]) {
        var report = before
        var concluded = TrialReport()
        concluded.serviceKind = before.serviceKind
        await runner.conclude(size.times, &concluded)
        report.conclude(with: concluded, afterRounds: rounds)
        return report
      }
    }
    return reports
  }

  /// The size of rounds that take about so long; finding it warms everything up as well.
  private static func size(of runner: Runner, on trial: Trial, for length: Int64) async -> RoundSize
  {
    await on(trial) {
      var size = RoundSize(grain: runner.grain, length: length)
      while !size.isFound {
        let times = size.times
        size.find(after: await elapsedNanoseconds { _ = await runner.round(times) })
      }
      return size
    }
  }

  /// Off the main actor, which must be free to serve the mechanism that uses it.
  private static func on<Value: Sendable>(
    _ trial: Trial,
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    await Task.detached(on: trial.executor) { await body() }.value
  }
}

extension TrialReport {
  /// Takes in what one round found.
  mutating func absorb(_ found: TrialReport, round: Int) {
    measures += found.measures.map { measure in
      var measure = measure
      measure.repetition = round
      // There are many rounds, and they differ by more than the fifth digit.
      measure.value = measure.value.rounded(digits: 5)
      return measure
    }
    // A promise that is broken in every round is one broken promise.
    violations += found.violations.filter { !violations.contains($0) }
    serviceKind = found.serviceKind ?? serviceKind
  }
}

extension TrialReport {
  /// Takes in what was measured once after the rounds.
  ///
  /// A figure of the rounds stays as they found it; a maximum may also come from the end.
  mutating func conclude(with found: TrialReport, afterRounds rounds: Int) {
    let inRounds = Set(measures.map { [$0.metric, $0.stat] })
    for var measure in found.measures {
      if inRounds.contains([measure.metric, measure.stat]) {
        guard measure.stat == "max" else { continue }
        measure.repetition = rounds + 1
        measure.value = measure.value.rounded(digits: 5)
      }
      measures.append(measure)
    }
    histograms += found.histograms
    series += found.series
    violations += found.violations.filter { !violations.contains($0) }
    serviceKind = found.serviceKind ?? serviceKind
    achievedUtilisation = found.achievedUtilisation ?? achievedUtilisation
    stamps = found.stamps ?? stamps
  }
}

extension Double {
  /// The same to so many significant digits.
  package func rounded(digits: Double) -> Double {
    guard isFinite, self != 0 else { return self }
    let place = digits - ceil(log10(abs(self)))
    // A power of ten with a negative exponent is no number that a float holds.
    let scale = pow(10, abs(place))
    return place >= 0 ? (self * scale).rounded() / scale : (self / scale).rounded() * scale
  }
}
