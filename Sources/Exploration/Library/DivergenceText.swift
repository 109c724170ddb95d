internal import Basics
internal import ExplorableSynchronization

extension Divergence {
  /// Says at which step two runs part, whose it is, and what was seen in each.
  ///
  /// - Parameters:
  ///   - scenario: What was run. It is run once more, to see at which lines of the source its tasks stand.
  ///   - place: Where the closure stands.
  /// - Returns: Some sentences, the last without its end.
  func text(in scenario: Scenario, place: String) -> String {
    let lines = Lines(of: choices, in: scenario, place: place)
    var sentences: [String] = []
    if let value {
      sentences.append(
        "step \(value.step), which \(lines.step(value.step)), finds "
          + "\(Int64(bitPattern: value.first)) there in one run and \(Int64(bitPattern: value.second)) in another"
      )
    }
    if first.parts != second.parts {
      let beginning = choices.isEmpty ? "at the beginning" : "behind step \(choices.count)"
      let which =
        choices.isEmpty || value?.step == choices.count
        ? "" : ", which \(lines.step(choices.count)),"
      sentences.append(
        "\(beginning)\(which) the runs part: in the one \(lines.side(first, besides: second)), in the other "
          + lines.side(second, besides: first)
      )
    }
    return sentences.joined(separator: "; ")
  }

  /// The lines at which the tasks stand, from one more run.
  private struct Lines {
    private struct Step {
      var choice: Choice
      var from: [UInt]
      var operation: SynchronizationOperation?
    }

    private var steps: [Step] = []
    private var paused: [Step] = []
    private var starts: [Int: [UInt]] = [:]
    private let place: String
    private let lines: SourceLines
    private let names: [Int: String]

    private final class Witness { var starts: [Int: [UInt]] = [:] }

    init(of choices: [Choice], in scenario: Scenario, place: String) {
      self.place = place
      let run = ScheduleRun(scenario, reduction: .none)
      let witness = Witness()
      run.notePlaces()
      run.executor.onFirstJob = { witness.starts[Int($0)] = SourceLines.here() }
      run.begin()
      for choice in choices {
        guard let index = run.index(of: choice) else { break }
        let origin = ScheduleTrace.origin(of: run.options[index], in: run)
        steps.append(Step(choice: choice, from: origin.points, operation: origin.operation))
        run.take(index)
      }
      for worker in run.workers?.paused ?? [] {
        paused.append(
          Step(choice: worker.choice, from: worker.points, operation: worker.operation)
        )
      }
      starts = witness.starts
      starts[1] = nil
      run.end()
      run.close()
      let all = steps + paused
      let lines = SourceLines(of: all.map(\.from) + starts.values, besides: scenario.besides)
      self.lines = lines
      names = ObjectNames.names(
        of: all.compactMap { step in
          guard let operation = step.operation,
            let place = lines.place(of: step.from, for: operation)
          else {
            return nil
          }
          return (operation, place)
        }
      )
    }

    /// `task 2 takes at Counter.swift:12 (changes atomic 1 (hits))`.
    func step(_ number: Int) -> String {
      guard steps.indices.contains(number - 1) else { return "is taken" }
      let step = steps[number - 1]
      let agent = Int(step.choice.agent)
      let start = agent == 1 ? place : lines.place(of: starts[agent] ?? [])?.description
      let line = lines.place(of: step.from, for: step.operation)?.description ?? start
      return ScheduleTrace.name(agent) + " takes" + (line.map { " at \($0)" } ?? "")
        + (step.operation.map { " (\($0.text(of: names[$0.object])))" } ?? "")
    }

    /// What can be seen in one run only.
    func side(_ sight: Sight, besides other: Sight) -> String {
      let own = sight.parts.filter { !other.parts.contains($0) }
      let missing = other.parts.filter { part in
        !sight.parts.contains { $0.choice.agent == part.choice.agent }
      }
      let words =
        own.map(text(of:))
        + missing.map { "\(ScheduleTrace.name(Int($0.choice.agent))) waits or has ended" }
      return words.isEmpty ? "the same tasks go on in another order" : ListText.all(words)
    }

    private func text(of part: Sight.Part) -> String {
      let name = ScheduleTrace.name(Int(part.choice.agent))
      switch part.state {
      case .isReady:
        return "\(name) \(part.choice.kind == .turn ? "has a turn to come" : "goes on")"
      case .sleeps: return "\(name) sleeps"
      case .paused:
        let place = paused.first { $0.choice == part.choice && $0.operation == part.operation }
          .flatMap { lines.place(of: $0.from, for: $0.operation) }
        let what = part.operation.map { $0.text(of: names[$0.object]) } ?? "goes on"
        return "\(name) \(what)" + (place.map { " at \($0)" } ?? "")
      }
    }
  }
}
