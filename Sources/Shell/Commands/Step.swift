internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let step = Command(
    "step",
    [Parameter("MECH", .specimenOrMechanism)],
    keys: ExploreKeys.ofScenario,
    summary: "play the scheduler: choose who takes the next step, go back, let it run",
    details: """
      Each position lists what can happen next and what it will do. In the game \
      \(SchedulerGame.moves.map { "'\($0.form)' \($0.does)" }.joined(separator: ", ")). The first \
      letter will do: b for back, a for auto. All other commands work as ever. What the code says \
      in a comment behind a line is told of who comes there: 'to park'. The aim with a specimen: \
      break it, in fewer steps than the explorer.
      """,
    examples: ["step limiter tasks=2 limit=1; 1; 1; back; auto; done"]
  ) { session, arguments in
    guard let word = arguments.places.first else {
      throw arguments.missing("the mechanism", listedBy: "mechanisms")
    }
    let place = try await session.explorations(of: word)
    let scenario = try ExploreKeys.scenario(of: Names.explored(word), at: word, arguments)
    let notes = try ExploreKeys.ignoredLimit(arguments, by: scenario)
    session.tell(notes)
    return try await session.beginGame(scenario, in: place)
  }
}

/// A game under way.
struct SchedulerGame {
  var position: ScheduleGame
  /// The positions that were kept, by name.
  var forks: [String: ScheduleGame] = [:]
  /// How few steps the explorer needs to break it; nil where it cannot.
  var best: Int?
  /// What is hidden and scored; nil for a game about a limiter that was named.
  var puzzle: Puzzle?

  /// What one can type in the game, and what it does.
  static let moves = [
    (form: "1", does: "takes choice 1; 1 1 2 takes three choices, one after the other"),
    (form: "back", does: "takes the last step back"),
    (form: "back 3", does: "takes the last three back"),
    (form: "goto 4", does: "goes to just behind step 4"),
    (form: "auto", does: "lets it run"),
    (form: "fork NAME", does: "keeps the position"),
    (form: "goto NAME", does: "returns to it"),
    (form: "steps", does: "tells what has happened"),
    (form: "done", does: "or q or Ctrl-D ends the game"),
    (form: "?", does: "or 'help' lists these"),
  ]

  /// The words of the game; their first letters stand for them.
  static let words = ["back", "goto", "auto", "fork", "steps", "done", "?"]
}

extension Session {
  func beginGame(
    _ scenario: ExplorationScenario,
    in place: ExplorationPlace,
    _ puzzle: Puzzle? = nil
  ) async throws -> Outcome {
    var best: Int?
    if scenario.mechanism.profile.defect != nil {
      let control = ExplorationControl()
      let report = try? await interruption.whileRunning {
        try await place.explore(scenario, ExplorationPlan(schedules: 200_000), control)
      } onInterrupt: {
        control.stop()
      }
      best = report?.found?.minimum.length
      if let best, !json {
        let what = puzzle.map { "Puzzle \($0.seed): break this limiter in" } ?? "Break it in"
        output.write(
          "\(what) \(NumberText.count(best, "step")), as the explorer does.\n"
        )
      }
    }
    return goOn(
      with: SchedulerGame(
        position: try await ScheduleGame(
          scenario,
          in: place,
          withPlaces: !json
        ),
        best: best,
        puzzle: puzzle
      )
    )
  }

  /// Ends the game if nothing can happen in it any more.
  func leaveGameThatIsOver() {
    if game?.position.isOver == true { play(nil) }
  }

  /// Takes a line of the game; nil if it is none, but a command like any other.
  func takesAsMove(_ words: [Word]) async throws -> Outcome? {
    guard var game, let word = words.first else { return nil }
    if words.count > 1, words.allSatisfy({ Self.choice($0) != nil }) {
      // Several choices, one after the other, as if each stood on a line of its own.
      var outcome: Outcome?
      for word in words { outcome = try await takesAsMove([word]) }
      return outcome
    }
    if let number = Self.choice(word), words.count == 1 {
      guard game.position.options.indices.contains(number - 1) else {
        let count = game.position.options.count
        throw ShellError(
          count == 0
            ? "nothing can happen any more. 'back' takes a step back, 'done' ends the game"
            : "there is no choice \(number). Choose from 1 to \(count)",
          at: word
        )
      }
      game.position = try await game.position.choosing(number - 1)
    } else {
      let isHelp = words.count == 1 && (try? CommandTable.resolve(word))?.name == "help"
      // Elsewhere q leaves what is shown; here it would be the beginning of 'quit', which leaves the lab.
      let asked = word.text == "q" ? "done" : word.text
      let names = SchedulerGame.words.filter {
        $0 == asked || $0.first.map(String.init) == asked || (isHelp && $0 == "?")
      }
      guard let name = names.first, names.count == 1 || names.contains(asked) else {
        return nil
      }
      let argument = words.dropFirst().first
      if words.count > 2 {
        throw ShellError("'\(words[2].text)' is one word too many", at: words[2])
      }
      let before = game.position.steps.count
      switch name {
      case "back":
        let count = try steps(argument, or: 1)
        game.position = try await game.position.goingBack(count)
      case "goto":
        guard let argument else {
          throw ShellError("goto needs a step's number or a fork's name", at: word)
        }
        if let fork = game.forks[argument.text] {
          game.position = fork
        } else {
          let number = try steps(argument, or: 0)
          guard number <= game.position.steps.count else {
            throw ShellError(
              "there are only \(game.position.steps.count) steps so far",
              at: argument
            )
          }
          game.position = try await game.position.going(to: number)
        }
      case "auto":
        game.position = try await game.position.goingOn()
      case "fork":
        guard let argument else {
          throw ShellError("fork needs a name for the position. Write: fork NAME", at: word)
        }
        game.forks[argument.text] = game.position
        play(game)
        return answer(
          json: "",
          "kept as '\(argument.text)'. 'goto \(argument.text)' returns here.\n"
        )
      case "steps":
        return answer(
          json: shown(GameText.json(game.position), game),
          shown(GameText.steps(game.position, output.format), game)
        )
      case "done":
        return endGame()
      default:
        return answer(json: HelpText.json(.step), HelpText.game(output.format))
      }
      game.puzzle?.takenBack += max(0, before - game.position.steps.count)
    }
    return goOn(with: game)
  }

  /// The choice that a word of the game names; nil where it names none.
  private static func choice(_ word: Word) -> Int? {
    ValueSyntax.count(word.text, in: 0...1_000_000)
  }

  /// Ends the game, and tells the line that replays it.
  @discardableResult
  func endGame() -> Outcome {
    guard let game else { return .done }
    play(nil)
    return answer(json: "", "replay \(game.position.schedule)\n")
  }

  private func steps(_ word: Word?, or standard: Int) throws(ShellError) -> Int {
    guard let word else { return standard }
    guard let number = ValueSyntax.count(word.text, in: 0...1_000_000) else {
      let forks = game?.forks.keys.sorted() ?? []
      let known = forks.isEmpty ? "" : " or a fork: " + ListText.all(forks, "or")
      throw ShellError("'\(word.text)' is no number of steps\(known)", at: word)
    }
    return number
  }

  private func goOn(with game: SchedulerGame) -> Outcome {
    play(game)
    if game.position.violation != nil || game.position.isOver { note(GameMetrics(game.position)) }
    var text = GameText.position(game.position, best: game.best, output.format)
    if let puzzle = game.puzzle, game.position.violation != nil, let best = game.best {
      text += puzzle.result(steps: game.position.steps.count, best: best)
    }
    let outcome = answer(json: shown(GameText.json(game.position), game), shown(text, game))
    return game.position.violation == nil ? outcome : .violated
  }

  /// The text, with what a puzzle hides until it is solved.
  func shown(_ text: String, _ game: SchedulerGame) -> String {
    guard let puzzle = game.puzzle, game.position.violation == nil else { return text }
    return puzzle.hidden(text)
  }
}
