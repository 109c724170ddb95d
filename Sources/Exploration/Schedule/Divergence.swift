internal import ExplorableSynchronization

/// What can be seen of a run between two of its steps: who can go on, who sleeps, who is paused before what.
struct Sight: Hashable, Sendable {
  struct Part: Hashable {
    enum State: Hashable {
      case isReady
      case sleeps
      case paused
    }

    var choice: Choice
    var state: State
    /// What one that is paused is about to do.
    var operation: SynchronizationOperation?
  }

  var parts: [Part]
  /// What the atomic held that the step before began with, if it began with one.
  var found: UInt64?
}

/// Where two runs part that the same choices were made in.
package struct Divergence: Hashable, Sendable {
  /// The choices that were made in both; behind the last of them the runs are not the same.
  var choices: [Choice]
  var first: Sight
  var second: Sight
  /// The first value that was not the same.
  var value: Value?

  /// What an atomic held in the one run and in the other.
  struct Value: Hashable, Sendable {
    /// The step that found it, from 1.
    var step: Int
    var first: UInt64
    var second: UInt64

    /// Nil where they are the same, or look like addresses, which no run has in common with another.
    init?(step: Int, _ first: UInt64?, _ second: UInt64?) {
      guard let first, let second, first != second, min(first, second) < 1 << 32 else { return nil }
      (self.step, self.first, self.second) = (step, first, second)
    }
  }

  /// Runs a schedule some times; where one of the runs is not the same as the first, that is what is found.
  ///
  /// - Parameters:
  ///   - choices: those of the schedule.
  ///   - scenario: what it was found in.
  /// - Returns: Where two runs part; nil if all that were tried are the same, as far as can be seen.
  static func find(following choices: [Choice], in scenario: Scenario) -> Divergence? {
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    var sights: [Sight] = []
    for number in 0..<4 {
      if let workers = run.workers, workers.lost > 0 { return nil }
      run.begin()
      defer { run.end() }
      if number > 0 {
        if let found = run.follow(choices, comparedWith: sights) { return found }
        continue
      }
      for choice in choices {
        if let sight = run.sight { sights.append(sight) }
        guard let option = run.index(of: choice) else { break }
        run.take(option)
      }
      if let sight = run.sight { sights.append(sight) }
    }
    return nil
  }
}

extension ScheduleRun {
  /// What can be seen now; nil for a scenario whose tasks report what they do.
  var sight: Sight? {
    guard scenario.atRest != nil else { return nil }
    var parts: [Sight.Part] = []
    for step in executor.ready {
      let choice = Choice(step.isTurn ? .turn : .run, Int(step.agent))
      parts.append(Sight.Part(choice: choice, state: .isReady))
    }
    for sleeper in executor.sleepers {
      parts.append(Sight.Part(choice: Choice(.wake, Int(sleeper.agent)), state: .sleeps))
    }
    for worker in workers?.paused ?? [] {
      parts.append(
        Sight.Part(choice: worker.choice, state: .paused, operation: worker.operation)
      )
    }
    return Sight(parts: parts, found: found)
  }

  /// Makes these choices, as far as there are such; returns where the run is first another than what was seen of
  /// one before, at its beginning and after each step.
  func follow(_ choices: [Choice], comparedWith sights: [Sight]) -> Divergence? {
    var divergence: Divergence?
    var value: Divergence.Value?
    for step in 0...choices.count {
      if divergence == nil, sights.indices.contains(step), let now = sight {
        value = value ?? Divergence.Value(step: step, sights[step].found, now.found)
        if sights[step].parts != now.parts {
          divergence = Divergence(
            choices: Array(choices[..<step]),
            first: sights[step],
            second: now,
            value: value
          )
        }
      }
      guard step < choices.count, let option = index(of: choices[step]) else { break }
      take(option)
    }
    if divergence == nil, let value {
      let sight = sights[value.step]
      return Divergence(
        choices: Array(choices[..<value.step]),
        first: sight,
        second: sight,
        value: value
      )
    }
    return divergence
  }
}
