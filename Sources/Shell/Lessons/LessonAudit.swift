internal import Basics
internal import Experiments
internal import Foundation
package import LessonBook
internal import Rendering
internal import Synchronization

/// Takes every lesson of a folder as a learner would, to see whether it still holds, or to renew its
/// transcripts.
package struct LessonAudit: Sendable {
  private let course: Course
  /// The folder from which quotes and figures name their files.
  private let root: String
  private let lab: RehearsalLab
  /// The lessons to rehearse, by number; empty for all.
  private let numbers: Set<Int>

  /// - Parameters:
  ///   - folder: of the lessons.
  ///   - package: the folder of this package; nil if it is the one around the lessons.
  ///   - numbers: of the lessons to rehearse or record; all of them if empty.
  ///   - program: the path of `lab`, for what must run in a process of its own.
  /// - Throws: `CourseError` if there are no lessons, or none of such a number.
  package init(
    folder: String,
    package: String? = nil,
    numbers: Set<Int> = [],
    program: String? = nil
  ) throws(CourseError) {
    self.numbers = numbers
    root = package ?? Classroom.parent(of: folder)
    lab = RehearsalLab(
      program: program,
      desk: ExerciseDesk(root: root)
    )
    course = try Course(folder: folder)
    let unknown = numbers.subtracting(course.lessons.map(\.number)).sorted()
    if !unknown.isEmpty {
      throw CourseError("there is no lesson \(ListText.all(unknown.map { "\($0)" }, "or"))")
    }
  }

  /// Everything that is wrong with the lessons.
  ///
  /// - Parameters:
  ///   - parts: what to rehearse; nothing but reading takes a moment.
  ///   - progress: is told of each lesson before it is rehearsed.
  /// - Returns: the problems, in the order of files and lines.
  package func problems(
    rehearsing parts: Rehearsal.Parts = .all,
    progress: (String) -> Void = { _ in }
  ) async -> [LessonProblem] {
    var problems = LessonLint(course, root: root, complaint: CommandTable.complaint).problems()
    let rehearsal = Rehearsal(in: lab)
    for lesson in chosen where !parts.isEmpty {
      progress("lesson \(lesson.number): \(lesson.title)")
      problems += await rehearsal.problems(of: lesson, parts: parts)
      if parts.contains(.transcripts) { problems += await pictures(of: lesson) }
    }
    return problems
  }

  /// The pictures that the lab draws otherwise now; of the wall clock, none is like the one before.
  private func pictures(of lesson: Lesson) async -> [LessonProblem] {
    var problems: [LessonProblem] = []
    for picture in lesson.pictures {
      let (text, isExact) = await lab.draw(picture.commands)
      let old = try? String(contentsOf: place(of: picture), encoding: .utf8)
      guard old == nil || isExact, old != text || text == nil else { continue }
      problems.append(
        LessonProblem(
          file: lesson.file,
          line: picture.line,
          text == nil
            ? "'\(picture.commands.joined(separator: "; "))' leaves neither a run nor a schedule to draw"
            : "the lab draws \(picture.file) otherwise now; record the lesson anew if that is right"
        )
      )
    }
    return problems
  }

  private func place(of picture: LessonPicture) -> URL {
    URL(fileURLWithPath: course.folder).appendingPathComponent(picture.file)
  }

  /// Draws the pictures anew, those of the wall clock only where there is none.
  ///
  /// - Returns: the files that changed.
  private func drawPictures(of lesson: Lesson, includingReal: Bool) async throws -> [String] {
    var changed: [String] = []
    for picture in lesson.pictures {
      let (text, isExact) = await lab.draw(picture.commands)
      let url = place(of: picture)
      let old = try? String(contentsOf: url, encoding: .utf8)
      guard let text, text != old, old == nil || isExact || includingReal else { continue }
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try Data(text.utf8).write(to: url, options: .atomic)
      changed.append(picture.file)
    }
    return changed
  }

  /// Each page of the lessons as an object on a line of its own: what it has one type and how its step is
  /// solved, for a program that types it at a terminal.
  package var pages: String {
    chosen.flatMap { lesson in
      lesson.sections.map { section in
        let exercise = section.exercise.flatMap { exercise in
          ExerciseHarness.all[exercise.harness].map { harness in
            let file = Classroom.exercisePlace(of: lesson, section, named: harness.type)
            let solution = exercise.solution.joined(separator: "\n") + "\n"
            return JSONObject.Value.object([
              ("file", .string(file)), ("solution", .string(solution)),
            ])
          }
        }
        return JSONObject.line([
          ("lesson", .number(lesson.number)), ("step", .string(section.id)),
          ("checks", .number(section.checks.count)),
          ("guess", section.prediction.map { .string($0.form.example) } ?? .null),
          ("commands", .commands(section.task)), ("solution", .commands(section.solution)),
          ("after", .commands(section.explanation)), ("exercise", exercise ?? .null),
        ])
      }
    }
    .joined()
  }

  /// Takes a part of each lesson once, or all parts, and tells of each claim about the wall clock whether it
  /// held: a line of JSON each.
  package func findings(part: String? = nil) async throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var text = ""
    for lesson in chosen {
      for part in part.map({ [$0] }) ?? lesson.partsWithClaims {
        for finding in await Rehearsal(in: lab).findings(in: lesson, part: part) {
          text += String(decoding: try encoder.encode(finding), as: UTF8.self) + "\n"
        }
      }
    }
    return text
  }

  /// Takes the lessons of the wall clock so many times, and counts in how many each claim held.
  ///
  /// Each part each time in a process of its own: what a run before has left in this one, such as idle
  /// threads, is not what a learner begins with who comes back to a step.
  ///
  /// - Parameters:
  ///   - times: how often each part is taken.
  ///   - tell: is given each lesson's tallies once they are there.
  /// - Returns: whether all claims held often enough.
  /// - Throws: what keeps a process from telling.
  package func repeated(_ times: Int, tell: (String) -> Void) async throws -> Bool {
    guard let program = lab.program else {
      throw CourseError("this needs the program 'lab' itself, to start it again and again")
    }
    var isWell = true
    for lesson in chosen where lesson.usesWallClock {
      var findings: [ClaimFinding] = []
      for _ in 0..<times {
        for part in lesson.partsWithClaims {
          findings += try await Self.findings(
            program,
            ["--lessons", course.folder, "--part", part, "\(lesson.number)"]
          )
        }
      }
      let tallies = ClaimTally.of(findings)
      isWell = isWell && tallies.allSatisfy(\.holds)
      tell(tallies.map { $0.description + "\n" }.joined())
    }
    return isWell
  }

  /// What another process finds.
  private static func findings(
    _ program: String,
    _ arguments: [String]
  ) async throws -> [ClaimFinding] {
    let child = try await ChildProcess.run(
      program,
      ["--repeat-lessons", "1", "--json"] + arguments,
      timeLimit: .seconds(600)
    )
    guard child.ending == .exited(0) else {
      let words = arguments.joined(separator: " ")
      throw CourseError("lab \(words) ended unexpectedly (\(child.ending)): \(child.errors)")
    }
    return try child.output.split(separator: "\n").map {
      try JSONDecoder().decode(ClaimFinding.self, from: Data($0.utf8))
    }
  }

  private var chosen: [Lesson] {
    course.lessons.filter { numbers.isEmpty || numbers.contains($0.number) }
  }

  /// Writes the lessons anew with what the lab prints now.
  ///
  /// What was recorded of the wall clock differs every time, so it is renewed only if
  /// `includingReal` says so, or where nothing was recorded yet.
  ///
  /// - Returns: the files that changed.
  /// - Throws: what keeps a file from being read or written.
  package func record(lesson number: Int? = nil, includingReal: Bool = false) async throws
    -> [String]
  {
    var changed: [String] = []
    let rehearsal = Rehearsal(in: lab)
    for lesson in chosen {
      changed += try await drawPictures(of: lesson, includingReal: includingReal)
      let file = URL(fileURLWithPath: course.folder).appendingPathComponent(lesson.file)
      let text = try String(contentsOf: file, encoding: .utf8)
      let renewed = await rehearsal.record(lesson, text: text, includingReal: includingReal)
      guard renewed != text else { continue }
      try Data(renewed.utf8).write(to: file, options: .atomic)
      changed.append(lesson.file)
    }
    return changed
  }
}

extension JSONObject.Value {
  /// The commands of some blocks of a lesson, in order.
  fileprivate static func commands(_ blocks: [LessonBlock]) -> JSONObject.Value {
    .array(blocks.commands.flatMap(\.commands).map { .string($0) })
  }
}

/// The lab that transcripts are recorded in: eighty columns by 24 lines, no colour, nothing remembered.
private struct RehearsalLab: LessonLab {
  let program: String?
  let desk: ExerciseDesk

  func begin() async -> any LabConversation { Conversation(program: program, desk: desk) }

  /// What the last of some commands shows, as a picture, and whether it is the same every time: the curve, the
  /// stall, the workers; else the last run, or the schedule told last where nothing ran.
  func draw(_ commands: [String]) async -> (text: String?, isExact: Bool) {
    let conversation = Conversation(program: program, desk: desk)
    for command in commands { _ = await conversation.run(command) }
    let runs = await conversation.session.runs.all
    switch commands.last {
    case "curve": return (CurveSVG.text(runs), runs.allSatisfy { $0.run.clock == .virtual })
    case "stall":
      guard runs.count > 1 else { return (nil, true) }
      return (LoopsSVG.text(runs[runs.count - 2].run, runs[runs.count - 1].run), true)
    case "timeline workers":
      guard let run = runs.last?.run else { return (nil, true) }
      return (WorkersSVG.text(run), run.clock == .virtual)
    default: break
    }
    if let run = await conversation.session.runs.last {
      return (RunSVG.text(run, run.summary), run.clock == .virtual)
    }
    guard let (story, scenario, _) = await conversation.session.story else { return (nil, true) }
    return (ScheduleSVG.text(story, of: scenario), true)
  }

  private final class Conversation: LabConversation {
    private let page = Page()
    private let evidence = Evidence()
    let session: Session

    private let desk: ExerciseDesk

    init(program: String?, desk: ExerciseDesk) {
      self.desk = desk
      let evidence = evidence
      session = Session(
        settings: Settings(),
        output: page,
        classroom: Classroom(program: program) { evidence.add($0) }
      )
    }

    func run(_ command: String) async -> LabAnswer {
      _ = await session.execute(command, at: .prompt(columns: Transcript.prompt.count))
      return LabAnswer(output: page.takeLines(), evidence: evidence.take())
    }

    func grade(_ exercise: Exercise, code: [String]) async -> any MetricSource {
      guard let harness = ExerciseHarness.all[exercise.harness] else { return MetricTable([:]) }
      do {
        let text = code.joined(separator: "\n") + "\n"
        let outcome = try await desk.grade(text, by: harness, session.interruption)
        if case .doesNotBuild = outcome { return MetricTable(["builds": .word("no")]) }
        return GradeMetrics(harness: exercise.harness, outcome)
      } catch {
        return MetricTable(["passed": .absent(because: "\(error)")])
      }
    }
  }

  private final class Evidence: Sendable {
    private let sources = Mutex<[any MetricSource]>([])

    func add(_ source: any MetricSource) { sources.withLock { $0.append(source) } }

    func take() -> [any MetricSource] {
      sources.withLock { sources in
        defer { sources = [] }
        return sources
      }
    }
  }

  /// What a session says, complaints in their place.
  private final class Page: ShellOutput {
    private let text = Mutex("")

    let isClosed = false
    let display = Display(width: 80, height: 24)

    func write(_ text: String) { self.text.withLock { $0 += text } }

    func complain(_ line: String) { write(line + "\n") }

    /// How long an exploration takes depends on the machine; a transcript must not.
    func tellProgress(_ line: String) {}

    /// Without white space at the ends of lines, which nobody sees.
    func takeLines() -> [String] {
      let text = text.withLock { text in
        defer { text = "" }
        return text
      }
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        var line = line
        while line.last == " " { line = line.dropLast() }
        return String(line)
      }
      while lines.last == "" { lines.removeLast() }
      return lines
    }
  }
}
