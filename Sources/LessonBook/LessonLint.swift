// What can be said of a lesson without running anything.
//
// A lesson rots in small ways: a quote of code that has changed, a link to a file that has moved, a
// figure that was measured again, a command renamed. Each rule here finds one of them and says
// where, what, and how to mend it. What needs the lab itself is in `Rehearsal`.

/// Checks the files of a course.
package struct LessonLint {
  private let course: Course
  /// The folder that quotes and figures are found from.
  private let root: String
  /// What is wrong with a command line; nil if nothing is.
  private let complaint: (String) -> String?

  /// - Parameters:
  ///   - course: the lessons, as read from their folder.
  ///   - root: the package's folder, from which quotes and figures name their files.
  ///   - complaint: what the lab would say of a command that it does not understand.
  package init(_ course: Course, root: String, complaint: @escaping (String) -> String?) {
    self.course = course
    self.root = root
    self.complaint = complaint
  }

  /// Everything that is wrong, in the order of files and lines.
  package func problems() -> [LessonProblem] {
    var found = course.problems + numbering() + readMe()
    for lesson in course.lessons {
      found += parts(of: lesson)
      for section in lesson.sections { found += lint(section, of: lesson) }
      for block in lesson.introduction { found += lint(block, in: lesson.file) }
    }
    for file in ["README.md", "GLOSSARY.md"] + course.lessons.map(\.file) {
      if let text = Course.text(of: path(file)) { found += links(in: text, of: file) }
    }
    return found.sorted { ($0.file, $0.line, $0.message) < ($1.file, $1.line, $1.message) }
  }

  private func path(_ file: String) -> String { course.folder + "/" + file }

  // MARK: The course

  private func numbering() -> [LessonProblem] {
    var problems: [LessonProblem] = []
    var slugs: Set<String> = []
    for (place, lesson) in course.lessons.enumerated() {
      if lesson.number != place + 1 {
        problems.append(
          LessonProblem(
            file: lesson.file,
            line: 1,
            "lesson \(lesson.number) is number \(place + 1) of the course; number the files from 01 "
              + "without gaps"
          )
        )
      }
      if !slugs.insert(lesson.slug).inserted {
        problems.append(
          LessonProblem(
            file: lesson.file,
            line: 1,
            "another lesson is called '\(lesson.slug)' too; progress is kept under that name, so "
              + "give it one of its own"
          )
        )
      }
    }
    return problems
  }

  private func readMe() -> [LessonProblem] {
    guard let text = Course.text(of: path("README.md")) else {
      // A single lesson needs no map.
      guard course.lessons.count > 1 else { return [] }
      return [LessonProblem(file: "README.md", line: 1, "missing; it is the map of the course")]
    }
    let missing = course.lessons.filter { !text.contains("(\($0.file))") }.map { lesson in
      LessonProblem(
        file: "README.md",
        line: 1,
        "does not lead to lesson \(lesson.number); add [\(lesson.title)](\(lesson.file))"
      )
    }
    guard missing.isEmpty, !course.parts.isEmpty else { return missing }
    return course.lessons.compactMap { lesson in
      let count = course.parts.count { $0.files.contains(lesson.file) }
      return count == 1
        ? nil
        : LessonProblem(
          file: "README.md",
          line: 1,
          "has lesson \(lesson.number) in \(count) of its parts; put its line below one heading '### Part …'"
        )
    }
  }

  // MARK: A lesson

  /// The parts every lesson has, by the start of a section's title, and why.
  private static let requiredParts: [(title: String, hasCheck: Bool, purpose: String)] = [
    ("Experiment", true, "what the learner runs first, with a prediction"),
    ("The code", false, "what the code under study says, quoted"),
    ("Change it", true, "the same with one thing changed"),
    ("Exercise", true, "what the learner does alone"),
  ]

  private func parts(of lesson: Lesson) -> [LessonProblem] {
    var problems: [LessonProblem] = []
    func miss(_ line: Int, _ message: String) {
      problems.append(LessonProblem(file: lesson.file, line: line, message))
    }
    for part in Self.requiredParts {
      let sections = lesson.sections.filter { $0.title.hasPrefix(part.title) }
      if sections.isEmpty {
        miss(1, "no section '## \(part.title)': \(part.purpose)")
      } else if part.hasCheck, !sections.contains(where: \.isStep) {
        miss(sections[0].line, "no check; after '**Check:**' list what the learner's run must show")
      }
    }
    if let first = lesson.sections.first(where: { $0.title.hasPrefix("Experiment") }),
      first.prediction == nil
    {
      miss(first.line, "no prediction; ask one: '**Predict** (duration): …' and its answer")
    }
    let contents = lesson.sections.flatMap(\.allBlocks).map(\.content)
    if !contents.contains(where: { if case .quotation = $0 { true } else { false } }) {
      miss(1, "quotes no code; put '<!-- quote: Sources/… -->' before a swift block")
    }
    if !contents.contains(where: { if case .transcript = $0 { true } else { false } }) {
      miss(1, "shows no run; add a ```console block")
    }
    if !lesson.usesWallClock,
      let line = contents.compactMap(\.lineOfWallClock).first
    {
      miss(line, "runs on the wall clock, but the time at the head of the lesson does not say so")
    }
    var ids: Set<String> = []
    for section in lesson.sections where !ids.insert(section.id).inserted {
      miss(section.line, "another section has the id '\(section.id)' too; give each its own")
    }
    return problems
  }

  private func lint(_ section: LessonSection, of lesson: Lesson) -> [LessonProblem] {
    var problems: [LessonProblem] = []
    func miss(_ line: Int, _ message: String) {
      problems.append(LessonProblem(file: lesson.file, line: line, message))
    }
    if section.isStep {
      if section.id == LessonParser.slug(of: section.title) {
        miss(
          section.line,
          "a step without an id; put '<!-- step: some-name -->' under its heading, and keep the name "
            + "when the title changes"
        )
      }
      if section.hints.count != 3 {
        miss(
          section.line,
          "\(section.hints.count) hints; give three, from a nudge to nearly the answer, each in "
            + "<details><summary>Hint 1</summary>…</details>"
        )
      }
      if section.solution.isEmpty {
        miss(section.line, "no solution; put it in <details><summary>Solution</summary>…</details>")
      }
      let misses = section.nearMisses.count + (section.exercise?.nearMisses.count ?? 0)
      if misses < 3 {
        miss(
          section.line,
          "\(misses) runs that must not pass; name three near misses in '<!-- fails: … -->'"
        )
      }
      if let exercise = section.exercise, exercise.solution.isEmpty {
        miss(exercise.line, "the exercise has no solution; put a ```swift block into its fold")
      }
      if let prediction = section.prediction, let metric = prediction.chosenByLearner {
        miss(
          prediction.line,
          "the answer is '\(metric)', which the learner chooses: whatever was guessed and then run is right. "
            + "Write the answer itself, in quotes"
        )
      }
    } else if section.prediction != nil || !section.hints.isEmpty {
      miss(section.line, "a prediction or hints, but no check; add '**Check:**' and a list")
    }
    for near in section.nearMisses { problems += lint(near, in: lesson.file) }
    for block in section.allBlocks { problems += lint(block, in: lesson.file) }
    problems += undeclaredFigures(in: section, of: lesson)
    return problems
  }

  // MARK: Blocks

  private func lint(_ block: LessonBlock, in file: String) -> [LessonProblem] {
    switch block.content {
    case .transcript(let transcript):
      let commands = transcript.exchanges.map(\.command)
      return lint(CommandLines(commands, line: transcript.line), in: file)
    case .commands(let commands):
      return lint(commands, in: file)
    case .quotation(let source, let lines):
      return quotation(of: source, lines, line: block.line, in: file)
    case .figure(let figure, let source):
      guard let text = Course.text(of: root + "/" + source) else {
        return [LessonProblem(file: file, line: block.line, "there is no file '\(source)'")]
      }
      if text.contains(figure) { return [] }
      return [
        LessonProblem(
          file: file,
          line: block.line,
          "'\(figure)' is not in \(source); take the figure from the results as they are now"
        )
      ]
    case .picture(let picture):
      return lint(CommandLines(picture.commands, line: picture.line), in: file)
    case .claim(let claim):
      return lint(CommandLines(claim.commands, line: claim.line), in: file)
    case .text, .code:
      return []
    }
  }

  private func lint(_ lines: CommandLines, in file: String) -> [LessonProblem] {
    lines.commands.compactMap { command in
      complaint(command).map {
        LessonProblem(file: file, line: lines.line, "'\(command)': \($0)")
      }
    }
  }

  private func quotation(
    of source: String,
    _ lines: [String],
    line: Int,
    in file: String
  ) -> [LessonProblem] {
    guard let text = Course.text(of: root + "/" + source) else {
      return [
        LessonProblem(file: file, line: line, "there is no file '\(source)' to quote from")
      ]
    }
    let original = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let deviation = Self.firstDeviation(lines, in: original) else { return [] }
    return [
      LessonProblem(
        file: file,
        line: line,
        "\(source) does not contain this quote any more, from '\(deviation.trimmed)' on; copy it anew, "
          + "and see whether the text around it still holds"
      )
    ]
  }

  /// The first line of a quote that does not occur where it should; nil if all do.
  ///
  /// The lines must follow each other as in the original, all indented by the same number of spaces
  /// less or more. A line `// …` stands for any number of lines left out.
  static func firstDeviation(_ quote: [String], in original: [String]) -> String? {
    var from = 0
    for part in quote.split(whereSeparator: { $0.trimmed == "// …" }) {
      var longest = 0
      let end = (from..<max(from, original.count)).lazy.compactMap { start -> Int? in
        let matched = matchedLines(Array(part), in: original, at: start)
        longest = max(longest, matched)
        return matched == part.count ? start + matched : nil
      }
      .first
      guard let end else { return part[part.startIndex + longest] }
      from = end
    }
    return nil
  }

  private static func matchedLines(_ quote: [String], in original: [String], at start: Int) -> Int {
    guard let first = quote.first else { return 0 }
    let shift = original[start].leadingSpaces - first.leadingSpaces
    for (place, line) in quote.enumerated() {
      let other = start + place
      guard other < original.count, original[other].trimmed == line.trimmed,
        line.trimmed.isEmpty || original[other].leadingSpaces - line.leadingSpaces == shift
      else { return place }
    }
    return quote.count
  }

  /// Costs in nanoseconds are measured, so each names the file it was measured in.
  private func undeclaredFigures(in section: LessonSection, of lesson: Lesson) -> [LessonProblem] {
    let declared = section.allBlocks.compactMap { block in
      if case .figure(let figure, _) = block.content { figure } else { nil }
    }
    return section.allBlocks.flatMap { block -> [LessonProblem] in
      guard case .text(let content) = block.content else { return [] }
      return content.texts.flatMap(Self.nanoseconds).filter { !declared.contains($0) }.map {
        LessonProblem(
          file: lesson.file,
          line: block.line,
          "'\($0)' is a measured figure; say where it is from: '<!-- figure: \($0) in Results/… -->'"
        )
      }
    }
  }

  /// Every `71 ns` in a text.
  private static func nanoseconds(in text: String) -> [String] {
    let words = text.split(separator: " ").map(String.init)
    return zip(words, words.dropFirst()).compactMap { number, unit in
      guard unit == "ns" || unit.hasPrefix("ns,") || unit.hasPrefix("ns."),
        let digit = number.first, digit.isNumber
      else { return nil }
      return number + " ns"
    }
  }

  // MARK: Links

  private func links(in text: String, of file: String) -> [LessonProblem] {
    var problems: [LessonProblem] = []
    var isCode = false
    for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
      if isCode { continue }
      for target in Self.targets(in: String(line)) {
        if let message = complaint(aboutLink: target, in: text) {
          problems.append(LessonProblem(file: file, line: place + 1, message))
        }
      }
    }
    return problems
  }

  /// What stands in the brackets of every `](…)`, except within code.
  static func targets(in line: String) -> [String] {
    var targets: [String] = []
    let spans = line.split(separator: "`", omittingEmptySubsequences: false)
    for (place, span) in spans.enumerated() where place % 2 == 0 {
      var rest = span
      // A link whose label is code has its brackets in the next span: `](` is what counts.
      while let start = rest.firstRange(of: "](") {
        rest = rest[start.upperBound...]
        guard let end = rest.firstIndex(of: ")") else { break }
        targets.append(String(rest[..<end]))
      }
    }
    return targets
  }

  private func complaint(aboutLink target: String, in text: String) -> String? {
    if target.hasPrefix("https://") {
      let host = target.dropFirst(8).prefix { $0 != "/" }
      return host.contains(".") && !target.contains(" ")
        ? nil : "'\(target)' is not an address; write https://host/path"
    }
    if target.contains("://") { return "'\(target)' is not a secure address; write https://…" }
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first.map(String.init) ?? ""
    guard name.isEmpty || Course.exists(path(name)) else {
      return "the link leads to '\(name)', which is not there; mend it or take it out"
    }
    guard parts.count == 2, name.isEmpty || name.hasSuffix(".md") else { return nil }
    let other = name.isEmpty ? text : Course.text(of: path(name)) ?? ""
    return Self.anchors(in: other).contains(String(parts[1]))
      ? nil : "the link leads to '#\(parts[1])', but no heading of that name is there"
  }

  private static func anchors(in text: String) -> Set<String> {
    Set(
      text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
        LessonParser.slug(of: String(line.drop { $0 == "#" }).trimmed)
      }
    )
  }
}

extension LessonBlock.Content {
  /// Where it speaks of the wall clock; nil if it does not.
  fileprivate var lineOfWallClock: Int? {
    switch self {
    case .transcript(let transcript): transcript.isExact ? nil : transcript.line
    case .claim(let claim): claim.line
    case .text, .commands, .quotation, .code, .figure, .picture: nil
    }
  }
}

extension MarkdownBlock.Content {
  /// Its sentences.
  var texts: [String] {
    switch self {
    case .paragraph(let text), .heading(_, let text): [text]
    case .list(let items, _): items.map(\.text)
    case .table(let rows): rows
    case .fold(_, let blocks): blocks.flatMap(\.content.texts)
    case .fence, .directive: []
    }
  }
}
