internal import Foundation
internal import LessonBook

/// Where a session takes its lessons from and keeps the learner's progress.
package struct Classroom: Sendable {
  /// The folder of the lessons; nil where none was found.
  let folder: String?
  /// The folder of this package, which exercises are built from; nil where it is not known.
  private let package: String?
  /// The program itself, for what must run in a process of its own.
  let program: String?
  private let store: ProgressStore?
  /// The progress, where it cannot be kept in a file.
  private var memory = LearnerProgress()
  /// What the learner was told of the file already.
  private var told: Set<String> = []
  /// Hears of everything that could be evidence, lesson or not.
  private let listener: (@Sendable (any MetricSource) -> Void)?
  /// The lesson the learner is in.
  private(set) var visit: LessonVisit?
  /// How many runs there were when the lesson was begun in this session.
  private(set) var firstRun = 0
  /// The lesson that this is of.
  private var lessonOfFirstRun: String?
  /// The learner's settings outside the lesson.
  private(set) var ownSettings: Settings?
  /// Which wrong answer the learner is looking at.
  private(set) var puzzle: Int?
  /// The code that was graded last in this session, and its file.
  var graded: (file: String, code: String)?
  /// What the learner was asked whether to forget, until they answer.
  var resetAsked: Reset?

  /// - Parameters:
  ///   - folder: of the lessons; nil if there is none.
  ///   - progressFile: where progress is kept; nil keeps it for the session only.
  ///   - package: the folder of this package; nil if it is the one around the lessons.
  ///   - program: the path of `lab`; nil where the session is not part of it.
  package init(
    folder: String? = nil,
    progressFile: String? = nil,
    package: String? = nil,
    program: String? = nil
  ) {
    self.folder = folder
    self.package = package ?? folder.map { Self.parent(of: $0) }
    self.program = program
    store = progressFile.map { ProgressStore(file: $0) }
    listener = nil
  }

  /// A classroom without lessons, for a caller that wants to see what a session runs.
  init(program: String?, listener: @escaping @Sendable (any MetricSource) -> Void) {
    folder = nil
    package = nil
    self.program = program
    store = nil
    self.listener = listener
  }

  /// The folder around a folder.
  package static func parent(of folder: String) -> String {
    URL(fileURLWithPath: folder).standardizedFileURL.deletingLastPathComponent().path
  }

  /// The nearest folder `Lessons` with lessons in it, from these places upwards.
  ///
  /// A place that is not named from the root is passed over: the current folder is not, where somebody has
  /// removed it meanwhile.
  package static func folder(from places: [String]) -> String? {
    for place in places where place.hasPrefix("/") {
      var url = URL(fileURLWithPath: place).standardizedFileURL
      while true {
        let candidate = url.appendingPathComponent("Lessons")
        let map = candidate.appendingPathComponent("README.md").path
        if FileManager.default.fileExists(atPath: map) { return candidate.path }
        if url.path == "/" { break }
        url.deleteLastPathComponent()
      }
    }
    return nil
  }

  /// The lessons as they are on disk now: a teacher edits them while the lab runs.
  func course() throws(ShellError) -> Course {
    guard let folder else {
      throw ShellError(
        "no folder 'Lessons' found from here upwards. Start the lab in the package's folder, or "
          + "with --lessons DIR"
      )
    }
    do {
      return try Course(folder: folder)
    } catch {
      throw ShellError(error.description)
    }
  }

  /// Where exercises are built; nil where this package is not known.
  var desk: ExerciseDesk? {
    package.map { ExerciseDesk(root: $0) }
  }

  /// The learner's file for the step they are in.
  func exerciseFile(of visit: LessonVisit, named name: String) -> String {
    exerciseFile(of: visit.lesson, visit.section, named: name)
  }

  /// The learner's file for a step.
  func exerciseFile(of lesson: Lesson, _ section: LessonSection, named name: String) -> String {
    exercises + "/" + Self.exercisePlace(of: lesson, section, named: name)
  }

  /// Where that is within the folder of all exercises.
  static func exercisePlace(
    of lesson: Lesson,
    _ section: LessonSection,
    named name: String
  ) -> String {
    "\(lesson.slug)/\(section.id)/\(name).swift"
  }

  /// Beside the progress, or in a temporary folder of this process where that is not kept.
  private var exercises: String {
    let state = store.map { ($0.file as NSString).deletingLastPathComponent }
    let process = ProcessInfo.processInfo.processIdentifier
    return (state ?? NSTemporaryDirectory() + "concurrency-lab-\(process)") + "/exercises"
  }

  /// The progress there is, and what the learner should be told, once.
  mutating func progress() -> (LearnerProgress, notice: String?) {
    guard let store else { return (memory, nil) }
    let (progress, notice) = store.load()
    return (progress, first(notice))
  }

  /// Changes the progress.
  ///
  /// - Returns: what the learner should be told, once.
  mutating func update(_ change: (inout LearnerProgress) -> Void) -> String? {
    change(&memory)
    return first(store?.update(change))
  }

  private mutating func first(_ notice: String?) -> String? {
    notice.flatMap { told.insert($0).inserted ? $0 : nil }
  }

  // MARK: The lesson under way

  mutating func begin(_ visit: LessonVisit, own settings: Settings, after runs: Int) {
    self.visit = visit
    ownSettings = settings
    // Who comes back to the lesson has still the runs of it.
    if lessonOfFirstRun != visit.lesson.slug {
      (firstRun, lessonOfFirstRun) = (runs, visit.lesson.slug)
    }
  }

  mutating func leave() { (visit, ownSettings, puzzle) = (nil, nil, nil) }

  /// The place of the next wrong answer, of so many.
  mutating func nextPuzzle(of count: Int) -> Int {
    let next = puzzle.map { ($0 + 1) % count } ?? 0
    puzzle = next
    return next
  }

  /// Takes something as evidence, which is worked out only if anybody wants it.
  mutating func note(_ source: @autoclosure () -> any MetricSource) {
    guard visit != nil || listener != nil else { return }
    let source = source()
    visit?.note(source)
    listener?(source)
  }

  /// Does something in the lesson and keeps what became of it.
  ///
  /// - Returns: what `body` returns, and what the learner should be told.
  mutating func inLesson<Value>(
    _ body: (inout LessonVisit) -> Value
  ) -> (value: Value, notice: String?)? {
    guard var current = visit else { return nil }
    let before = current.record
    let value = body(&current)
    visit = current
    let record = current.record
    let slug = current.lesson.slug
    let notice = record == before ? nil : update { $0.lessons[slug] = record }
    return (value, notice)
  }
}
