internal import Basics
internal import Rendering

/// Something to know that is not a command.
struct HelpTopic: Sendable {
  let name: String
  let summary: String
  let text: String

  static let all: [HelpTopic] = [
    HelpTopic(
      name: "clocks",
      summary: "virtual time and the wall clock",
      text: """
        In virtual time (clock=virtual) the real limiter code runs on a deterministic executor: a \
        second takes no time, and the same seed gives the same run, to the byte. workers=W is how \
        many workers the modelled pool has.

        On the wall clock (clock=real) it runs on the machine's own threads and takes the time it \
        takes. OperationQueue, GCD and the main actor own their threads, so they know no other \
        clock. clock=auto is virtual where the mechanism allows it.

        platform=apple and platform=linux run a model of OperationQueue and GCD in virtual time: \
        when a block is given a thread. workers=W is how many processors the model has. A model \
        knows blocks, semaphores and operations; it does not know how processors are shared out \
        among more threads than there are, and what takes less than a millisecond takes no time. The \
        mechanism is called gcd-gate@linux-model, so every view says what it is.

        executor=lanes runs the tasks of the other mechanisms on a work-stealing executor instead of \
        Swift's pool, on the wall clock. workers=W is how many workers it has, else one for each \
        processor. 'timeline workers' tells what they did.
        """
    ),
    HelpTopic(
      name: "distributions",
      summary: "how long tasks serve, and when they arrive",
      text: """
        work=40ms is fixed. work=exp:40ms is exponential with that mean. work=uniform:10ms..70ms \
        is any length of the range. work=lognormal:40ms,0.5 has that mean, and 0.5 is the standard \
        deviation of the logarithm.

        arrivals=together is all at the start; every:10ms is one every 10 ms; poisson:200/s is at \
        random, 200 a second on average.

        Durations: 250us 40ms 1.5s 2m. All draws come from seed=.
        """
    ),
    HelpTopic(
      name: "figures",
      summary: "what 'expect' can be asked about",
      text: RunMetrics.forms.joined(separator: ", ")
    ),
    HelpTopic(name: "grammar", summary: "how a line is read", text: HelpText.grammar),
    HelpTopic(
      name: "files",
      summary: "where words and pictures go: export, open, > FILE and | PROGRAM",
      text: """
        'export run.svg' writes what was shown last, 'open' shows it in the browser.

        Behind any command, > FILE writes instead of showing: what the ending says, .svg .html .csv or .json of what the \
        command shows, JSON Lines in .jsonl, and in any other file its words. A file that exists is replaced; >> adds to \
        it. 'expect' and 'predict' keep their own > and >=.

        | PROGRAM gives the words to a command of your shell, up to the next ; outside quotes: 'events | grep t03'. jq gets \
        JSON Lines: 'events | jq .task'. Where the program ends with a status other than 0, the command has failed. \
        'export - format=csv | column -ts,' gives it what was shown last in a format.
        """
    ),
    HelpTopic(
      name: "glyphs",
      summary: "what the timeline is drawn with",
      text: """
        waiting ·   waiting with a blocked thread ▒   running █   suspended ~ \
        ready, but without a worker ░   finished |   failed !   cancelled x

        In the rows of workers on lanes: a step from the slot ^   a stolen one <

        With --ascii: waiting .   blocked =   running #   ready :. A cell in which several things happen \
        shows a failure, else a cancellation, a step from the slot or a stolen one, a finish; otherwise \
        what takes most of it.
        """
    ),
    HelpTopic(
      name: "words",
      summary: "permit, waiting, service, makespan and the rest",
      text: """
        A limiter has a limit: its number of permits. A task arrives, waits, is admitted when it \
        gets a permit, and departs. Waiting time is from arrival to admission, service time from \
        admission to departure, response time both together. The makespan is the time from the \
        first arrival to the last end. A hand-off gives a departing task's permit straight to the \
        first waiter; barging lets a newcomer overtake.
        """
    ),
  ]
}

/// Help as text.
enum HelpText {
  /// Whether there is help under exactly that name.
  static func knows(_ name: String) -> Bool {
    CommandTable.commands.contains { $0.name == name } || HelpTopic.all.contains { $0.name == name }
  }

  /// Where a person is.
  enum Place {
    case game
    case lesson(String)
    /// Beside runs that are called so.
    case background([String])

    /// The heading of the commands that belong there, and what it is there.
    fileprivate var heading: (of: String?, here: String) {
      switch self {
      case .game: (nil, "here, playing the scheduler")
      case .lesson(let place): ("the course", "here, in \(place)")
      case .background(let runs): ("in the background", "here, beside \(ListText.all(runs))")
      }
    }
  }

  /// All commands, those of the place first.
  static func overview(_ format: TextFormat, place: Place? = nil) -> String {
    var groups = CommandTable.groups.map { group in
      (group.heading, group.commands.map { [$0.name, $0.summary] })
    }
    if let (name, here) = place?.heading {
      if let index = groups.firstIndex(where: { $0.0 == name }) {
        groups.insert((here, groups.remove(at: index).1), at: 0)
      } else {
        groups.insert((here, SchedulerGame.moves.map { [$0.form, $0.does] }), at: 0)
      }
    }
    groups.append(("more to read", HelpTopic.all.map { [$0.name, $0.summary] }))
    let names =
      (CommandTable.commands.map(\.name) + HelpTopic.all.map(\.name)).map(\.count).max() ?? 0
    return groups.map { heading, rows in
      let lines = Columns.wrap(heading, width: format.width).joined(separator: "\n")
      return format.style.paint(lines, .heading) + "\n" + list(rows, names: names, format) + "\n"
    }.joined()
      + paragraph(
        "'help COMMAND' says more. You may shorten a command or key if only one begins that way.",
        format
      )
  }

  static func command(_ command: Command, _ format: TextFormat) -> String {
    var text = paragraph(command.synopsis, format, indent: 4) + "\n"
    text += paragraph(sentence(command.summary), format)
    if !command.details.isEmpty { text += paragraph(command.details, format) }
    if !command.keys.isEmpty {
      text += "\n" + list(command.keys.map { ["\($0.name)=", "\($0.help): \($0.form)"] }, format)
    }
    text += "\nfor example\n"
    for example in command.examples {
      text += paragraph(example, format, indent: 4, first: "  ")
    }
    return text
  }

  /// What one can type while playing the scheduler.
  static func game(_ format: TextFormat) -> String {
    list(SchedulerGame.moves.map { [$0.form, $0.does] }, format)
      + paragraph("All other commands work as ever: 'help COMMAND' says more.", format)
  }

  static func topic(_ topic: HelpTopic, _ format: TextFormat) -> String {
    topic.text.split(separator: "\n\n").map { paragraph(String($0), format) }
      .joined(separator: "\n")
  }

  static func json(_ command: Command) -> String {
    JSONObject.line([
      ("command", .string(command.name)), ("synopsis", .string(command.synopsis)),
      ("summary", .string(command.summary)), ("details", .string(command.details)),
      ("example", .string(command.examples.first ?? "")),
    ])
  }

  static func json(_ topic: HelpTopic) -> String {
    JSONObject.line([("topic", .string(topic.name)), ("text", .string(topic.text))])
  }

  static func sentence(_ text: String) -> String { capitalized(text) + "." }

  static func capitalized(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// How every line is read.
  static let grammar = """
    A line is a command, its words and its keys, written key=value, in any order. A command or a key may be \
    shortened if only one begins that way. ';' parts commands; the first that fails, or whose expectation is not met, \
    ends the line. '#' begins a comment, double quotes keep blanks. '> FILE' and '| PROGRAM' behind a command say where its words go.
    """

  private static func paragraph(
    _ text: String,
    _ format: TextFormat,
    indent: Int = 0,
    first: String = ""
  ) -> String {
    Columns.wrap(text, width: format.width, indent: indent, first: first).map { $0 + "\n" }.joined()
  }

  /// Names and what they are, in two columns, the second wrapped beside the first.
  private static func list(
    _ rows: [[String]],
    names: Int? = nil,
    _ format: TextFormat
  ) -> String {
    let own = rows.map { $0[0].count }.max() ?? 0
    let names = max(names ?? own, own)
    let room = format.width - names - 4
    return rows.map { row in
      // Where there is no room beside the names, what they are goes below them.
      guard room >= 20 else {
        return paragraph(row[0], format, indent: 4, first: "  ")
          + paragraph(row[1], format, indent: 4, first: "    ")
      }
      return Columns.wrap(row[1], width: room).enumerated().map { index, line in
        "  " + Columns.left(index == 0 ? row[0] : "", names) + "  " + line + "\n"
      }.joined()
    }.joined()
  }
}
