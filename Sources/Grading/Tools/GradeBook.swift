internal import Basics
internal import CAllocations
internal import Dispatch
internal import Experiments
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Mechanisms
internal import Synchronization

/// Grades one learner's code, question by question, up to the first that fails.
package struct GradeBook: Sendable {
  struct Question: Sendable {
    /// The figure that checks name.
    let name: String
    /// What is asked, in words, for who ends the program in the middle of it.
    var asked: String?
    /// Asks it, on a thread that may be held.
    let ask: @Sendable (Terms) -> GradeItem
  }

  struct Terms: Sendable {
    /// What is drawn is drawn from it.
    var seed: UInt64
    /// What share of a storm's rounds there are to be.
    var storm = 1.0
    /// What runs the tasks that are asked about; nil for the pool.
    ///
    /// A grading program uses its pool for nothing else. A test program keeps it busy, so that nothing moves
    /// there for seconds.
    var executor: (any TaskExecutor)?
    /// Whether others use the pool too, as in a test program, where the wrong answer of another test may hold
    /// all its threads for five seconds while everything else sleeps.
    var sharesPool = false
    /// How many bytes this program has from the heap; a test program's change by what other tests do.
    var heap: @Sendable () -> Int64 = { heap_bytes_in_use() }
    /// How much processor time this program has taken, in nanoseconds; a test program's is taken by other tests too.
    var processorTime: @Sendable () -> Int64 = { MachineClock.processTime() }
    /// How often each thread of this program has gone to sleep; those of other tests do so too.
    var sleeps: @Sendable () -> [String: Int] = { OtherThreads.sleeps }
    /// Whether every thread sleeps but the one that asks; other tests' hardly ever do together.
    var areAllAsleep: @Sendable () -> Bool = { OtherThreads.areAllAsleep }
    /// How many threads this program has besides; in a test program those of other tests come and go.
    var threads: @Sendable () -> Int = { OtherThreads.count }
    /// How many of those wait, and for no time that ends by itself.
    var waitingThreads: @Sendable () -> Int = { OtherThreads.waitingForGood }
  }

  let questions: [Question]
  /// What a lab can have explored, and played with; nil where the learner's code is a test.
  private var entry: CatalogueEntry?

  init(_ questions: [Question]) { self.questions = questions }

  /// The same, of code that can be explored.
  func about(_ entry: CatalogueEntry) -> Self {
    var book = self
    book.entry = entry
    return book
  }

  /// Grades, and tells `report` of each item.
  ///
  /// - Returns: whether all passed.
  func grade(_ terms: Terms, _ report: (GradeItem) -> Void) async -> Bool {
    for question in questions {
      let item = await onOwnThread { question.ask(terms) }
      report(item)
      if !item.passed { return false }
    }
    return true
  }

  /// Grades as a program: to standard output, a line of JSON for each item.
  ///
  /// Or explores, if a lab says so by its arguments.
  ///
  /// Grades on a thread of its own and not as a task: what is graded may block every thread of the pool. The program's
  /// first thread serves the main queue, for answers that go there. The seed is the first argument; without one it is
  /// drawn.
  package func main() -> Never {
    if isStartedByLab { ExplorationProcess.holdLifeline() }
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.count == 4, arguments.first == "--request" { explore(arguments[2], arguments[4]) }
    let seed = arguments.first.flatMap { UInt64($0) } ?? .random(in: 1...1_000_000)
    OSThread("grader") { gradeAll(seed: seed) }.detach()
    // It comes back where it has nothing to wait for. In a test program the first thread serves that queue already.
    while Thread.isMainThread { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    while true { pause() }
  }

  /// Asks all questions that no other program asks, writes what came of them, and ends the program.
  private func gradeAll(seed: UInt64) -> Never {
    LearnersOutput.comeByLines()
    let journal = ProcessInfo.processInfo.environment[GradeLine.journalVariable]
      .flatMap { ScheduleJournal(file: $0) }
    journal?.use()
    let asking = Mutex(0)
    TrapTeller.begin(besides: Scenario.aroundAnswers) { place in
      let number = asking.withLock { $0 }
      let item = Self.item(questions[number], trappedAt: place)
      Self.write(GradeLine(item: item, question: number))
    }
    var taken = TakenQuestions()
    var passed = true
    while passed, let number = taken.next(of: questions.count) {
      let question = questions[number]
      asking.withLock { $0 = number }
      journal?.clear()
      Self.write(
        GradeLine(asking: question.name, asked: question.asked, question: number, seed: seed)
      )
      let item = question.ask(Terms(seed: seed))
      Self.write(GradeLine(item: item, question: number))
      passed = item.passed
    }
    // No other program need ask what comes behind the first that fails.
    if !passed { taken.takeAll(questions.count) }
    Self.write(GradeLine(passed: passed, questions: questions.count, seed: seed))
    // Not `exit`, which waits for what threads that hang may hold.
    _exit(0)
  }

  /// Whether standard input is the lab's lifeline, and not the terminal of somebody who runs the grader by hand.
  private var isStartedByLab: Bool {
    ProcessInfo.processInfo.environment[GradeLine.journalVariable] != nil
  }

  /// What is said of an answer that stops the program.
  static func item(_ question: Question, trappedAt place: SourcePlace) -> GradeItem {
    GradeItem(
      question.name,
      passed: false,
      (question.asked.map { "\($0): " } ?? "") + "the program is stopped by your line \(place)"
        + (place.code.map { ": \($0)" } ?? "")
    )
  }

  private func explore(_ request: String, _ journal: String) -> Never {
    if let entry { Catalogue.add(yours: entry) }
    Task.detached { await ExplorationProcess.run(request, journal: journal) }
    while true { pause() }
  }

  private static func write(_ line: GradeLine) {
    FileHandle.standardOutput.write(Data(text(of: line).utf8))
  }

  /// The line by itself, whatever the learner's code prints before it and behind it.
  static func text(of line: GradeLine) -> String {
    guard let data = try? JSONEncoder().encode(line) else { return "" }
    return "\n" + String(decoding: data, as: UTF8.self) + "\n"
  }
}

extension GradeBook.Question {
  /// How many bytes an answer may take beyond what there was before the question.
  private static let mostHeap: Int64 = 2 << 30

  /// A question that is a task, asked from a thread that waits for it.
  ///
  /// - Parameters:
  ///   - name: the figure that checks name.
  ///   - asked: what is asked, for the sentence when no answer comes.
  ///   - seconds: how long an answer may take; it takes none if all threads sleep for five seconds.
  ///   - silence: while it is kept, nobody looks for the answer.
  ///   - sight: what is told where no answer comes.
  ///   - body: asks it.
  /// - Returns: the question; its item fails when no answer comes, or when it takes more than `mostHeap` bytes.
  static func task(
    _ name: String,
    _ asked: String,
    seconds: Int = 60,
    silence: Silence? = nil,
    sight: LastSight? = nil,
    _ body: @escaping @Sendable (_ seed: UInt64) async -> GradeItem
  ) -> Self {
    Self(name: name, asked: asked) { terms in
      let answer = Mutex<GradeItem?>(nil)
      let isThere = DispatchSemaphore(value: 0)
      Task.detached(executorPreference: terms.executor) {
        let item = await body(terms.seed)
        answer.withLock { $0 = item }
        isThere.signal()
      }
      let journal = ScheduleJournal.ofThisProgram
      let pool = PoolTurn()
      var patience = QuestionPatience(seconds: seconds, sharesPool: terms.sharesPool)
      let heap = terms.heap()
      var wasSilent = false
      while !patience.isOver {
        let isSilent = silence?.isKept == true
        // Once: where nothing moves any more, nobody ends the silence.
        if isSilent, !wasSilent {
          _ = isThere.wait(timeout: .now() + .milliseconds(Silence.milliseconds))
          if let item = answer.withLock({ $0 }) { return item }
        }
        wasSilent = isSilent
        let hasTurn = pool.looks()
        _ = isThere.wait(timeout: .now() + .milliseconds(100))
        if let item = answer.withLock({ $0 }) { return item }
        if terms.heap() - heap > mostHeap {
          return GradeItem(
            name,
            passed: false,
            "\(asked): the program had taken \(mostHeap >> 30) GB of memory, and was not at the end. Look for what "
              + "grows without a limit, and for tasks that nobody wakes: of each continuation that is dropped the system "
              + "keeps a message"
          )
        }
        patience.look(
          poolHasTurn: hasTurn,
          steps: journal?.schedule == nil ? sight?.moves ?? 0 : journal?.steps ?? 0,
          areAllAsleep: OtherThreads.areAllAsleep
        )
      }
      if let sight = sight?.text {
        return GradeItem(name, passed: false, "\(asked): after \(patience.seconds) s: \(sight)")
      }
      return GradeItem(
        name,
        passed: false,
        "\(asked): no end within \(patience.seconds) s. Look for a task that nobody wakes, for a loop that asks "
          + "again and again instead of waiting, and for threads that are held by who waits"
      )
    }
  }
}
