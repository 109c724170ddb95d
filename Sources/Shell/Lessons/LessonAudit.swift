internal import Foundation
package import LessonBook
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
  /// - Throws: `CourseError` if there are no lessons.
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
      desk: ExerciseDesk(
        root: root,
        workplace: NSTemporaryDirectory() + "concurrency-lab-exercises-\(getuid())"
          + root.replacing("/", with: "-")
      )
    )
    course = try Course(folder: folder)
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
    }
    return problems
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

/// The lab that transcripts are recorded in: eighty columns by 24 lines, no colour, nothing remembered.
private struct RehearsalLab: LessonLab {
  let program: String?
  let desk: ExerciseDesk

  func begin() async -> any LabConversation { Conversation(program: program, desk: desk) }

  private final class Conversation: LabConversation {
    private let page = Page()
    private let evidence = Evidence()
    private let session: Session

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
