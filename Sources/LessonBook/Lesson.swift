/// A lesson: a question, and the sections in which the learner answers it.
package struct Lesson: Hashable, Sendable {
  package var number: Int
  /// The part of the file's name after the number: stays when the number changes.
  package var slug: String
  /// The file's name, such as `01-what-a-limit-is.md`.
  package var file: String
  package var title: String
  package var question: String
  /// How long it takes, as written: "5 minutes".
  package var time: String
  /// What comes before the first section.
  package var introduction: [LessonBlock]
  package var sections: [LessonSection]

  /// The sections that a learner passes by a check.
  package var steps: [LessonSection] { sections.filter(\.isStep) }
}

/// One page of a lesson: a step with something to do and a check, or text to read.
package struct LessonSection: Hashable, Sendable {
  /// Names the section in the learner's progress, whatever becomes of its title and place.
  package var id: String
  package var title: String
  package var line: Int
  package var prediction: Prediction?
  /// What the learner reads first: all that stands before the check.
  package var task: [LessonBlock]
  package var checks: [Check]
  /// Commands after which the check must not pass: near misses, tried by the lint.
  package var nearMisses: [CommandLines]
  /// From a nudge to nearly the answer.
  package var hints: [[LessonBlock]]
  package var solution: [LessonBlock]
  /// What the learner reads once the check has passed: all that stands after the check.
  package var explanation: [LessonBlock]
  /// The exercise to be solved in Swift here, if there is one: which harness grades it.
  package var exercise: Exercise?

  package var isStep: Bool { !checks.isEmpty }

  /// Every block there is, in reading order.
  package var allBlocks: [LessonBlock] { task + hints.joined() + solution + explanation }
}

/// Commands for the lab, and where they stand.
package struct CommandLines: Hashable, Sendable {
  package var commands: [String]
  package var line: Int

  package init(_ commands: [String], line: Int) {
    self.commands = commands
    self.line = line
  }
}

/// A piece of a lesson's text.
package struct LessonBlock: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// Text without meaning to the lab: shown.
    case text(MarkdownBlock.Content)
    /// Commands with what they printed.
    case transcript(Transcript)
    /// Commands to type.
    case commands(CommandLines)
    /// Code that stands in a file of the package, word for word.
    case quotation(file: String, [String])
    /// Other code: its language and its lines.
    case code(String, [String])
    /// A figure taken from a file of measured results.
    case figure(String, file: String)
    /// A picture of a run, drawn by the lab, for those who read without it.
    case picture(LessonPicture)
    /// What the text before it says of the wall clock, to be judged; not shown.
    case claim(Claim)
  }

  package var content: Content
  package var line: Int

  package init(_ content: Content, line: Int) {
    self.content = content
    self.line = line
  }
}

/// A picture that the lab draws of the last run of some commands.
package struct LessonPicture: Hashable, Sendable {
  package var commands: [String]
  /// Within the folder of the lessons.
  package var file: String
  package var line: Int
}

/// A conversation with the lab, recorded.
package struct Transcript: Hashable, Sendable {
  package struct Exchange: Hashable, Sendable {
    package var command: String
    package var output: [String]

    package init(command: String, output: [String]) {
      self.command = command
      self.output = output
    }
  }

  /// What stands before a command.
  package static let prompt = "lab> "

  package var exchanges: [Exchange]
  /// What must be true of its runs when it is replayed.
  ///
  /// For runs on the wall clock, which differ from time to time. Empty for a transcript that must be
  /// the same to the last character.
  package var predicates: [Check]
  /// Of the first line of the block's body.
  package var line: Int

  package var isExact: Bool { predicates.isEmpty }

  /// The lines of the block's body.
  package var lines: [String] {
    exchanges.flatMap { [Self.prompt + $0.command] + $0.output }
  }
}

/// An exercise in Swift: a file to start from, and the harness that builds and grades it.
package struct Exercise: Hashable, Sendable {
  /// The harness's name.
  package var harness: String
  /// The file the learner starts from.
  package var start: [String]
  /// The file that passes.
  package var solution: [String]
  /// Files that must not pass, each with what its fold is called.
  package var nearMisses: [NearMiss]
  package var line: Int
}

/// A wrong answer to an exercise, worth knowing.
package struct NearMiss: Hashable, Sendable {
  package var title: String
  package var code: [String]
  package var line: Int
}
