// From the blocks of a Markdown file to a lesson.
//
// The conventions, all of them, as `Lessons/WRITING.md` explains them to teachers:
//
//     # Lesson 1: Title
//     **Question:** …            **Time:** …
//     ## Section
//     <!-- step: id -->          names the section in the learner's progress
//     **Predict** (duration): …  asks; the kind of answer in brackets
//     <!-- answer: makespan -->  what the answer is compared with
//     ```console                 commands after `lab> `, and what they printed
//     ```lab                     commands to type
//     <!-- real: A; B -->        before a console block: what replaying it must show
//     <!-- claim: A; B -->       behind a sentence about the wall clock: the same, to be judged
//     <!-- quote: FILE -->       before a swift block: it occurs in that file
//     <!-- figure: 71 ns in Results/… -->
//     <!-- picture: COMMANDS --> before ![…](pictures/NAME.svg): what the lab draws there
//     **Check:**                 followed by a list of `expectation`: sentence
//     <!-- fails: COMMANDS -->   a near miss
//     <details><summary>Hint 1</summary>…   <details><summary>Solution</summary>…
//     <!-- exercise: HARNESS --> before a swift block: the file the learner starts from

/// Reads a lesson; what cannot be understood becomes a problem, never a crash.
package struct LessonParser {
  private let file: String
  package private(set) var problems: [LessonProblem] = []

  package init(file: String) { self.file = file }

  /// - Parameter text: the whole file.
  /// - Returns: nil if the file's name or its first line does not make it a lesson.
  package mutating func parse(_ text: String) -> Lesson? {
    var markdown = MarkdownParser(text, file: file)
    let blocks = markdown.parse()
    problems += markdown.problems
    guard let (number, slug) = Self.name(of: file) else {
      complain(1, "a lesson's file is named like 01-what-a-limit-is.md")
      return nil
    }
    guard case .heading(1, let heading)? = blocks.first?.content,
      let title = Self.title(in: heading, of: number)
    else {
      complain(1, "the first line must be '# Lesson \(number): ' and the title")
      return nil
    }
    var lesson = Lesson(
      number: number,
      slug: slug,
      file: file,
      title: title,
      question: "",
      time: "",
      introduction: [],
      sections: []
    )
    let starts = blocks.indices.filter { Self.isSectionHeading(blocks[$0]) }
    let opening = blocks[1..<(starts.first ?? blocks.endIndex)]
    lesson.introduction = introduction(Array(opening), &lesson)
    for (place, start) in starts.enumerated() {
      let end = place + 1 < starts.count ? starts[place + 1] : blocks.endIndex
      lesson.sections.append(section(Array(blocks[start..<end])))
    }
    return lesson
  }

  /// The number and the slug in `01-what-a-limit-is.md`.
  package static func name(of file: String) -> (number: Int, slug: String)? {
    let digits = file.prefix { $0.isASCII && $0.isNumber }
    guard digits.count == 2, let number = Int(digits), file.hasSuffix(".md") else { return nil }
    let slug = file.dropFirst(2).dropLast(3)
    guard slug.hasPrefix("-"), slug.count > 1, slug.allSatisfy(isSlugCharacter) else { return nil }
    return (number, String(slug.dropFirst()))
  }

  private static func isSlugCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLowercase || character.isNumber || character == "-")
  }

  private static func title(in heading: String, of number: Int) -> String? {
    let start = "Lesson \(number): "
    guard heading.hasPrefix(start), heading.count > start.count else { return nil }
    return String(heading.dropFirst(start.count))
  }

  private static func isSectionHeading(_ block: MarkdownBlock) -> Bool {
    if case .heading(2, _) = block.content { true } else { false }
  }

  private mutating func complain(_ line: Int, _ message: String) {
    problems.append(LessonProblem(file: file, line: line, message))
  }

  // MARK: Introduction

  private mutating func introduction(
    _ blocks: [MarkdownBlock],
    _ lesson: inout Lesson
  ) -> [LessonBlock] {
    var rest: [MarkdownBlock] = []
    for block in blocks {
      if let question = block.labelled("Question") {
        lesson.question = question
      } else if let time = block.labelled("Time") {
        lesson.time = time
      } else {
        rest.append(block)
      }
    }
    if lesson.question.isEmpty {
      complain(1, "no question; begin with a paragraph '**Question:** …'")
    }
    if lesson.time.isEmpty {
      complain(1, "no time; say how long it takes in a paragraph '**Time:** 5 minutes …'")
    }
    return lessonBlocks(rest)
  }

  // MARK: Sections

  private mutating func section(_ blocks: [MarkdownBlock]) -> LessonSection {
    guard case .heading(_, let title)? = blocks.first?.content, let line = blocks.first?.line else {
      preconditionFailure("a section starts with its heading")
    }
    var section = LessonSection(
      id: Self.slug(of: title),
      title: title,
      line: line,
      task: [],
      checks: [],
      nearMisses: [],
      hints: [],
      solution: [],
      explanation: []
    )
    var task: [MarkdownBlock] = []
    var explanation: [MarkdownBlock] = []
    var asked: (question: String, form: Prediction.Form, line: Int)?
    var harness: (name: String, line: Int)?
    var seesChecks = false
    var index = 1
    while index < blocks.count {
      let block = blocks[index]
      index += 1
      switch block.content {
      case .directive("step", let id):
        section.id = id
      case .directive("answer", let answer):
        guard let question = asked else {
          complain(block.line, "an answer without a question; put '**Predict** (…): …' before it")
          continue
        }
        section.prediction = prediction(question, answer: answer, line: block.line)
        asked = nil
      case .directive("fails", let commands):
        let lines = commands.split(whereSeparator: { $0 == ";" || $0 == "\n" })
        section.nearMisses.append(
          CommandLines(lines.map { String($0).trimmed }, line: block.line)
        )
      case .directive("exercise", let name):
        harness = (name, block.line)
      case .fence("swift", let code) where harness != nil && section.exercise == nil:
        section.exercise = Exercise(
          harness: harness?.name ?? "",
          start: code,
          solution: [],
          nearMisses: [],
          line: harness?.line ?? block.line
        )
        add(block, to: &task, or: &explanation, seesChecks)
      case .fold(let summary, let inner) where summary.hasPrefix("Hint"):
        section.hints.append(lessonBlocks(inner))
      case .fold("Solution", let inner):
        section.solution = lessonBlocks(inner)
        for case .fence("swift", let code) in inner.map(\.content) {
          section.exercise?.solution = code
        }
      case .fold(let summary, let inner) where summary.hasPrefix("Near miss"):
        for case .fence("swift", let code) in inner.map(\.content) {
          section.exercise?.nearMisses.append(
            NearMiss(title: summary, code: code, line: block.line)
          )
        }
      // Not shown with the rest: three wrong programs would push the check's mark off the screen.
      case .paragraph where block.labelled("Check") == "":
        seesChecks = true
        if index < blocks.count, case .list(let items, _) = blocks[index].content {
          section.checks = items.compactMap { check($0) }
          index += 1
        } else {
          complain(block.line, "after '**Check:**' comes a list such as - `makespan = 400ms`: why")
        }
      case .paragraph(let text) where text.hasPrefix("**Predict**"):
        asked = question(text, line: block.line)
      default:
        add(block, to: &task, or: &explanation, seesChecks)
      }
    }
    if let question = asked {
      complain(
        question.line,
        "a prediction without an answer; after it write '<!-- answer: makespan -->', the figure it "
          + "is compared with"
      )
    }
    section.task = lessonBlocks(task)
    section.explanation = lessonBlocks(explanation)
    return section
  }

  private func add(
    _ block: MarkdownBlock,
    to task: inout [MarkdownBlock],
    or explanation: inout [MarkdownBlock],
    _ seesChecks: Bool
  ) {
    if seesChecks { explanation.append(block) } else { task.append(block) }
  }

  /// The name a code host gives a heading as a link's target.
  package static func slug(of title: String) -> String {
    var slug = ""
    for character in title.lowercased() {
      if character.isLetter || character.isNumber || character == "_" || character == "-" {
        slug.append(character)
      } else if character == " " {
        slug.append("-")
      }
    }
    return slug
  }

  // MARK: Checks and predictions

  /// Reads `` `makespan = 400ms`: why ``.
  private mutating func check(_ item: MarkdownBlock.Item) -> Check? {
    let parts = item.text.split(separator: "`", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty, parts[2].hasPrefix(":"), parts[2].count > 2 else {
      complain(
        item.line,
        "a check is written - `makespan = 400ms`: and a sentence that is true when it is met"
      )
      return nil
    }
    do {
      return try Check(
        String(parts[1]),
        sentence: String(parts[2].dropFirst()).trimmed,
        line: item.line
      )
    } catch {
      complain(item.line, error.description)
      return nil
    }
  }

  /// Reads the paragraph that begins with `**Predict** (duration):`.
  private mutating func question(
    _ text: String,
    line: Int
  ) -> (question: String, form: Prediction.Form, line: Int)? {
    guard let open = text.firstIndex(of: "("), let close = text.firstIndex(of: ")"), open < close,
      text[text.index(after: close)...].hasPrefix(":")
    else {
      complain(line, "a prediction is written '**Predict** (duration): When …?'")
      return nil
    }
    let question = String(text[close...].dropFirst(2)).trimmed
    let kind = String(text[text.index(after: open)..<close]).trimmed
    let forms: [String: Prediction.Form] = [
      "duration": .duration, "count": .count, "rate": .rate, "share": .share, "number": .number,
    ]
    if let form = forms[kind] { return (question, form, line) }
    let words = kind.split(separator: ",").flatMap { part in
      String(part).components(around: " or ").map(\.trimmed)
    }
    guard words.count > 1, words.allSatisfy({ !$0.isEmpty }) else {
      complain(
        line,
        "'\(kind)' is no kind of answer; write duration, count, rate, share, number, or words to "
          + "choose from, as in (inside or before)"
      )
      return nil
    }
    return (question, .choice(words), line)
  }

  /// Reads `makespan`, `for limit = 3: makespan ~20%` or `"inside"`.
  private mutating func prediction(
    _ asked: (question: String, form: Prediction.Form, line: Int),
    answer: String,
    line: Int
  ) -> Prediction? {
    func prediction(_ answer: Prediction.Answer, tolerance: Double = 0) -> Prediction {
      Prediction(
        question: asked.question,
        form: asked.form,
        answer: answer,
        tolerance: tolerance,
        line: asked.line
      )
    }
    if answer.count > 2, answer.hasPrefix("\""), answer.hasSuffix("\"") {
      let text = String(answer.dropFirst().dropLast())
      guard let value = prediction(.value(.word(text))).guess(text) else {
        complain(line, "'\(text)' is not an answer to be given; write \(asked.form.description)")
        return nil
      }
      return prediction(.value(value))
    }
    do {
      var (conditions, figure) = try Check.conditions(in: answer)
      var tolerance = 0.0
      if let mark = figure.firstIndex(of: "~"),
        case .percent(let percent)? = MetricValue(String(figure[mark...].dropFirst()).trimmed)
      {
        tolerance = percent
        figure = String(figure[..<mark]).trimmed
      }
      guard let metric = Metric(parsing: figure) else {
        complain(line, "'\(figure)' is not the name of a figure; write one, or a word in quotes")
        return nil
      }
      return prediction(.figure(metric, conditions: conditions), tolerance: tolerance)
    } catch {
      complain(line, error.description)
      return nil
    }
  }

  // MARK: Blocks

  /// Gives blocks their meaning; a directive belongs to the fence after it.
  private mutating func lessonBlocks(_ blocks: [MarkdownBlock]) -> [LessonBlock] {
    var result: [LessonBlock] = []
    var quoted: (file: String, line: Int)?
    var predicates: [Check] = []
    var drawn: (commands: [String], line: Int)?
    for block in blocks {
      switch block.content {
      case .directive("picture", let commands):
        drawn = (commands.split(separator: ";").map { String($0).trimmed }, block.line)
      case .paragraph(let text) where drawn != nil && text.hasPrefix("!["):
        if let file = LessonLint.targets(in: text).first, let commands = drawn?.commands {
          let picture = LessonPicture(commands: commands, file: file, line: block.line)
          result.append(LessonBlock(.picture(picture), line: block.line))
        }
        drawn = nil
      case .directive("quote", let file):
        quoted = (file, block.line)
      case .directive("real", let text):
        predicates = self.predicates(text, line: block.line)
      case .directive("figure", let text):
        if let (figure, file) = figure(text, line: block.line) {
          result.append(LessonBlock(.figure(figure, file: file), line: block.line))
        }
      case .directive("claim", let text):
        guard let before = result.last, before.isText else {
          complain(
            block.line,
            "a claim without a sentence; put it directly behind the one it is about"
          )
          continue
        }
        do {
          result.append(LessonBlock(.claim(try Claim(text, line: block.line)), line: block.line))
        } catch {
          complain(block.line, error.description)
        }
      case .directive("note", _):
        continue
      case .directive(let key, let value):
        complain(
          block.line,
          "no such comment as '\(key.isEmpty ? value : key + ":")' here; there are step, answer, "
            + "real, claim, quote, figure, picture, fails, exercise and note"
        )
      case .fence("console", let lines):
        let transcript = transcript(lines, predicates, line: block.line + 1)
        result.append(LessonBlock(.transcript(transcript), line: block.line))
        predicates = []
      case .fence("lab", let lines):
        let commands = CommandLines(lines.filter { !$0.trimmed.isEmpty }, line: block.line + 1)
        result.append(LessonBlock(.commands(commands), line: block.line))
      case .fence(let info, let lines):
        if let quote = quoted {
          result.append(LessonBlock(.quotation(file: quote.file, lines), line: block.line))
          quoted = nil
        } else {
          result.append(LessonBlock(.code(info, lines), line: block.line))
        }
      default:
        result.append(LessonBlock(.text(block.content), line: block.line))
      }
    }
    if let drawn {
      complain(drawn.line, "a picture without a place; put ![…](pictures/NAME.svg) after it")
    }
    if let quote = quoted {
      complain(quote.line, "a quote without code; put a ```swift block after it")
    }
    if !predicates.isEmpty, let line = predicates.first?.line {
      complain(line, "'real' without a transcript; put a ```console block after it")
    }
    return result
  }

  private mutating func transcript(
    _ lines: [String],
    _ predicates: [Check],
    line: Int
  ) -> Transcript {
    var exchanges: [Transcript.Exchange] = []
    for (offset, text) in lines.enumerated() {
      if text.hasPrefix(Transcript.prompt) {
        let command = String(text.dropFirst(Transcript.prompt.count))
        exchanges.append(Transcript.Exchange(command: command, output: []))
      } else if exchanges.isEmpty {
        complain(line + offset, "a transcript begins with '\(Transcript.prompt)' and a command")
        break
      } else {
        exchanges[exchanges.count - 1].output.append(text)
      }
    }
    return Transcript(exchanges: exchanges, predicates: predicates, line: line)
  }

  private mutating func predicates(_ text: String, line: Int) -> [Check] {
    var checks: [Check] = []
    for part in text.split(whereSeparator: { $0 == ";" || $0 == "\n" }) {
      do {
        checks.append(try Check(String(part), sentence: String(part).trimmed, line: line))
      } catch {
        complain(line, error.description)
      }
    }
    return checks
  }

  /// Reads `71 ns in Results/README.md`.
  private mutating func figure(_ text: String, line: Int) -> (String, file: String)? {
    guard let parts = text.parts(around: " in "), parts.after.hasPrefix("Results/") else {
      complain(line, "a figure is written '<!-- figure: 71 ns in Results/… -->', with the file")
      return nil
    }
    return (parts.before.trimmed, parts.after.trimmed)
  }
}

extension LessonBlock {
  /// Whether it is something to read, or what was said of that.
  fileprivate var isText: Bool {
    switch content {
    case .text, .claim: true
    case .transcript, .commands, .quotation, .code, .figure, .picture: false
    }
  }
}

extension MarkdownBlock {
  /// What follows `**Label:**` in a paragraph that begins so.
  func labelled(_ label: String) -> String? {
    guard case .paragraph(let text) = content, text.hasPrefix("**\(label):**") else { return nil }
    return String(text.dropFirst(label.count + 5)).trimmed
  }
}

extension String {
  func parts(around separator: String) -> (before: String, after: String)? {
    guard let range = firstRange(of: separator) else { return nil }
    return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
  }

  func components(around separator: String) -> [String] {
    guard let (before, after) = parts(around: separator) else { return [self] }
    return [before] + after.components(around: separator)
  }
}
