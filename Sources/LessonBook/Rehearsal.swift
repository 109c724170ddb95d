// What can be said of a lesson only by taking it.
//
// Every transcript is played again and must come out the same, or, if it is of the wall clock, show
// what it says it shows. Every step must be unpassed before anything is run, passed by its solution,
// and not passed by any of its near misses. Recording plays the transcripts too, and keeps what comes
// out.

/// A lab that lessons can be rehearsed in.
package protocol LessonLab: Sendable {
  /// A lab as a learner finds it who begins a lesson: nothing run, everything as it is by default.
  func begin() async -> any LabConversation
}

/// Commands and answers, one after the other, in one lab.
package protocol LabConversation: Sendable {
  func run(_ command: String) async -> LabAnswer

  /// Builds and grades a solution to an exercise; `builds` is `no` where it does not build.
  func grade(_ exercise: Exercise, code: [String]) async -> any MetricSource
}

/// What a command printed and what it left behind.
package struct LabAnswer: Sendable {
  /// The lines printed, complaints among them.
  package var output: [String]
  /// What it ran, as a check sees it.
  package var evidence: [any MetricSource]

  package init(output: [String], evidence: [any MetricSource]) {
    self.output = output
    self.evidence = evidence
  }
}

/// Takes lessons to see whether they still hold.
package struct Rehearsal: Sendable {
  /// Which parts to rehearse: exercises take builds, wall-clock runs take time.
  package struct Parts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let transcripts = Parts(rawValue: 1)
    package static let steps = Parts(rawValue: 2)
    package static let exercises = Parts(rawValue: 4)
    package static let all: Parts = [.transcripts, .steps, .exercises]
  }

  let lab: any LessonLab

  package init(in lab: any LessonLab) { self.lab = lab }

  /// Everything about a lesson that does not hold.
  package func problems(of lesson: Lesson, parts: Parts = .all) async -> [LessonProblem] {
    var problems: [LessonProblem] = []
    if parts.contains(.transcripts) { problems += await transcripts(of: lesson) }
    for section in lesson.steps {
      if let exercise = section.exercise {
        if parts.contains(.exercises) { problems += await rehearse(exercise, section, of: lesson) }
      } else if parts.contains(.steps) {
        problems += await rehearse(section, of: lesson)
      }
    }
    return problems
  }

  // MARK: Transcripts

  /// How often what is said of the wall clock is tried.
  ///
  /// A claim has to hold in 19 of 20 runs. What does not hold three times in a row is none of those, but for one
  /// rehearsal of 8,000.
  private static let tries = 3

  private func transcripts(of lesson: Lesson) async -> [LessonProblem] {
    let conversation = await lab.begin()
    var problems: [LessonProblem] = []
    for transcript in lesson.transcripts {
      var found = await self.problems(of: transcript, in: lesson, conversation)
      for _ in 1..<Self.tries where !transcript.isExact && !found.isEmpty {
        found = await self.problems(of: transcript, in: lesson, conversation)
      }
      problems += found
    }
    return problems
  }

  private func problems(
    of transcript: Transcript,
    in lesson: Lesson,
    _ conversation: any LabConversation
  ) async -> [LessonProblem] {
    var problems: [LessonProblem] = []
    var line = transcript.line
    var evidence: [any MetricSource] = []
    for exchange in transcript.exchanges {
      let answer = await conversation.run(exchange.command)
      evidence += answer.evidence
      if transcript.isExact,
        let message = Self.difference(exchange.output, answer.output, exchange.command)
      {
        problems.append(
          LessonProblem(file: lesson.file, line: line + 1 + message.offset, message.text)
        )
      }
      line += 1 + exchange.output.count
    }
    for result in transcript.predicates.judge(evidence) {
      guard let complaint = result.complaint else { continue }
      problems.append(
        LessonProblem(
          file: lesson.file,
          line: result.check.line,
          "the transcript no longer shows that \(result.check.sentence): \(complaint)"
        )
      )
    }
    return problems
  }

  /// In a transcript, stands for any lines left out.
  private static let leftOut = "…"

  /// The first line in which two outputs differ, told with both.
  static func difference(
    _ recorded: [String],
    _ now: [String],
    _ command: String
  ) -> (offset: Int, text: String)? {
    func shown(_ lines: ArraySlice<String>) -> String {
      lines.first.map { "'\($0)'" } ?? "nothing more"
    }
    func differs(_ offset: Int, _ now: ArraySlice<String>) -> (offset: Int, text: String) {
      (
        offset,
        "'\(command)' now prints \(shown(now)) where the lesson has "
          + "\(shown(recorded[offset...])); record the "
          + "transcripts anew if that is right, and read the text around it"
      )
    }
    var rest = now[...]
    var isBehindGap = false
    for (offset, line) in recorded.enumerated() {
      if line == leftOut {
        isBehindGap = true
        continue
      }
      let place = isBehindGap ? rest.firstIndex(of: line) : rest.startIndex
      guard let place, rest.first != nil, rest[place] == line else { return differs(offset, rest) }
      rest = rest[(place + 1)...]
      isBehindGap = false
    }
    return rest.isEmpty || isBehindGap ? nil : differs(recorded.count, rest)
  }

  /// The lesson's text with every transcript replaced by what the lab prints now.
  ///
  /// - Parameters:
  ///   - lesson: what was parsed of the file.
  ///   - text: the file's contents.
  ///   - includingReal: also those of the wall clock, which differ every time.
  /// - Returns: The file's contents as they should be.
  package func record(
    _ lesson: Lesson,
    text: String,
    includingReal: Bool
  ) async -> String {
    let conversation = await lab.begin()
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var replacements: [(range: Range<Int>, lines: [String])] = []
    for transcript in lesson.transcripts {
      var renewed = transcript
      for index in renewed.exchanges.indices {
        let (command, old) = (renewed.exchanges[index].command, renewed.exchanges[index].output)
        let answer = await conversation.run(command)
        // What was left out by hand stays left out, as long as the rest is right.
        let isStillRight =
          old.contains(Self.leftOut) && Self.difference(old, answer.output, command) == nil
        if !isStillRight || !transcript.isExact { renewed.exchanges[index].output = answer.output }
      }
      let hasOutput = transcript.exchanges.contains { !$0.output.isEmpty }
      guard transcript.isExact || includingReal || !hasOutput else { continue }
      let start = transcript.line - 1
      replacements.append((start..<(start + transcript.lines.count), renewed.lines))
    }
    for (range, new) in replacements.reversed() { lines.replaceSubrange(range, with: new) }
    return lines.joined(separator: "\n")
  }

  // MARK: Steps

  private func rehearse(_ section: LessonSection, of lesson: Lesson) async -> [LessonProblem] {
    func problem(_ line: Int, _ message: String) -> LessonProblem {
      LessonProblem(file: lesson.file, line: line, message)
    }
    var problems: [LessonProblem] = []
    if section.checks.judge([]).allSatisfy(\.isMet) {
      problems.append(problem(section.line, "the check passes before anything is run"))
    }
    let solution = section.solution.commands.flatMap(\.commands)
    var solved = await evidence(of: solution)
    var results = section.checks.judge(solved)
    for _ in 1..<Self.tries
    where solved.contains(where: \.isOfWallClock) && !results.allSatisfy(\.isMet) {
      solved = await evidence(of: solution)
      results = section.checks.judge(solved)
    }
    for result in results {
      guard let complaint = result.complaint else { continue }
      problems.append(
        problem(
          result.check.line,
          "the solution does not pass \(result.check.expectation.text): \(complaint)"
        )
      )
    }
    for near in section.nearMisses {
      let evidence = await evidence(of: near.commands)
      if section.checks.judge(evidence).allSatisfy(\.isMet) {
        problems.append(
          problem(
            near.line,
            "'\(near.commands.joined(separator: "; "))' passes the check, but must not; tighten the "
              + "check or take it out"
          )
        )
      }
      if let message = section.prediction?.objection(to: evidence, after: solved) {
        problems.append(problem(near.line, message))
      }
    }
    for shown in section.task.commands where section.prediction?.isKnownBeforehand == false {
      if let message = section.prediction?.objection(
        to: await evidence(of: shown.commands),
        after: solved
      ) {
        problems.append(problem(shown.line, message))
      }
    }
    return problems
  }

  private func evidence(of commands: [String]) async -> [any MetricSource] {
    let conversation = await lab.begin()
    var evidence: [any MetricSource] = []
    for command in commands { evidence += await conversation.run(command).evidence }
    return evidence
  }

  private func rehearse(
    _ exercise: Exercise,
    _ section: LessonSection,
    of lesson: Lesson
  ) async -> [LessonProblem] {
    let conversation = await lab.begin()
    var problems: [LessonProblem] = []
    let solved = section.checks.judge([await conversation.grade(exercise, code: exercise.solution)])
    for result in solved {
      guard let complaint = result.complaint else { continue }
      problems.append(
        LessonProblem(
          file: lesson.file,
          line: result.check.line,
          "the solution does not pass \(result.check.expectation.text): \(complaint)"
        )
      )
    }
    let wrong =
      [NearMiss(title: "the starting file", code: exercise.start, line: exercise.line)]
      + exercise.nearMisses
    for near in wrong {
      let grade = await conversation.grade(exercise, code: near.code)
      // What the compiler refuses shows nothing of the grading.
      let fault: String? =
        grade.value(of: Metric("builds")) == .word("no")
        ? "does not build, so nobody sees whether it is refused; mend it"
        : section.checks.judge([grade]).allSatisfy(\.isMet)
          ? "passes the check, but must not" : nil
      guard let fault else { continue }
      problems.append(
        LessonProblem(file: lesson.file, line: near.line, "'\(near.title)' \(fault)")
      )
    }
    return problems
  }
}

extension Lesson {
  /// Its transcripts, in reading order.
  package var transcripts: [Transcript] {
    (introduction + sections.flatMap(\.allBlocks)).compactMap { block in
      if case .transcript(let transcript) = block.content { transcript } else { nil }
    }
    .sorted { $0.line < $1.line }
  }
}

extension Lesson {
  /// Its pictures, in reading order.
  package var pictures: [LessonPicture] {
    (introduction + sections.flatMap(\.allBlocks)).compactMap { block in
      if case .picture(let picture) = block.content { picture } else { nil }
    }
  }
}

extension [LessonBlock] {
  /// The commands among them.
  package var commands: [CommandLines] {
    compactMap { block in
      switch block.content {
      case .commands(let commands): commands
      case .transcript(let transcript):
        CommandLines(transcript.exchanges.map(\.command), line: transcript.line)
      case .text, .quotation, .code, .figure, .picture, .claim: nil
      }
    }
  }
}

extension Prediction {
  /// Why a guess that the solution shows to be right is not right after other runs; nil if it is.
  ///
  /// A question is about some runs and no others. Of the wall clock nothing is said: there two runs of the
  /// same are two answers.
  fileprivate func objection(
    to evidence: [any MetricSource],
    after solution: [any MetricSource]
  ) -> String? {
    guard !isKnownBeforehand, let right = answer(in: solution) else { return nil }
    for source in evidence where !source.isOfWallClock {
      guard let (got, isRight) = comparison(of: right, with: [source]), !isRight else { continue }
      return
        "the question '\(question)' is answered by \(right) after the solution, and by \(got) after "
        + "these commands; say with 'for … :' in the answer which run is meant"
    }
    return nil
  }

  /// What a learner would have had to guess.
  private func answer(in evidence: [any MetricSource]) -> MetricValue? {
    comparison(of: .absent(because: "nothing was guessed"), with: evidence)?.got
  }
}
