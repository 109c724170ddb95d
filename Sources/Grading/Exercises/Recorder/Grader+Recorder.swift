internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What a file does that cannot be read.
private struct OutOfOrder: Error {}

/// What recorders are asked, of which one task at a time may add to the ledger.
extension Grader {
  /// A permit is held for what it protects and for nothing else.
  package static func recorder<Recorder: LearnerRecorder>(_ type: Recorder.Type) -> GradeBook {
    GradeBook([
      promise("one_at_a_time", "two tasks add a record each", preemptions: onePreemption) {
        let total = Lock(0)
        let ledger = Ledger { record in
          let before = total.withLock { $0 }
          await Task.yield()
          total.withLock { $0 = before + record }
        }
        let recorder = Recorder()
        async let one: Void = recorder.record(RecordFile { 1 }, in: ledger)
        async let two: Void = recorder.record(RecordFile { 2 }, in: ledger)
        _ = try await (one, two)
        let sum = total.withLock { $0 }
        try require(sum == 3, "the ledger has \(sum), expected 1 + 2")
      },
      promise("errors", "files cannot be read, and others can", preemptions: onePreemption) {
        let total = Lock(0)
        let ledger = Ledger { record in total.withLock { $0 += record } }
        let recorder = Recorder()
        let reads = Lock(0)
        func fail(_ error: any Error) async throws {
          do {
            try await recorder.record(
              RecordFile {
                reads.withLock { $0 += 1 }
                throw error
              },
              in: ledger
            )
          } catch let told {
            try require(
              Swift.type(of: told) == Swift.type(of: error),
              "the file threw \(error), and 'record' threw \(told)"
            )
            return
          }
          try require(false, "the file threw \(error), and 'record' did not")
        }
        try await fail(OutOfOrder())
        try await recorder.record(RecordFile { 2 }, in: ledger)
        try await fail(CancellationError())
        try await recorder.record(RecordFile { 3 }, in: ledger)
        let sum = total.withLock { $0 }
        try require(sum == 5, "the ledger has \(sum), expected 2 + 3")
        let count = reads.withLock { $0 }
        try require(count == 2, "two files that cannot be read were read \(count) times")
      },
      promise(
        "cancelled",
        "three tasks add a record each, and the second is cancelled",
        tasks: ["the first", "the second, which is cancelled", "the third"],
        schedules: 4_000
      ) {
        let total = Lock(0)
        let ledger = Ledger { record in
          let before = total.withLock { $0 }
          await Task.yield()
          total.withLock { $0 = before + record }
        }
        let recorder = Recorder()
        let tasks = [1, 10, 100].map { record in
          Task { try await recorder.record(RecordFile { record }, in: ledger) }
        }
        await Task.yield()
        tasks[1].cancel()
        var due = 0
        for (task, record) in zip(tasks, [1, 10, 100]) {
          switch await task.result {
          case .success: due += record
          case .failure(let error):
            try require(record == 10, "a task that nobody cancelled was told \(error)")
            try require(error is CancellationError, "the task that was cancelled was told \(error)")
          }
        }
        let sum = total.withLock { $0 }
        try require(
          sum == due,
          "those whose 'record' returned added \(due), and the ledger has \(sum)"
        )
        try await recorder.record(RecordFile { 1_000 }, in: ledger)
      },
      unreadBeside(type),
      recordsOfUrgency(type, [("low", .low), ("low", .low)]),
      recordsOfUrgency(type, [("background", .background), ("background", .background)]),
      recordsOfUrgency(type, [("background", .background), ("high", .high)]),
      recordersApart(type),
      twoLedgers(type),
      recordsComeAndGo(type),
      manyRecords(type),
      ownRecords(type),
      quietRecords(type),
      keptOfAnswers("records, added one after the other") {
        let recorder = Recorder()
        return { try? await recorder.record(RecordFile { 1 }, in: Ledger { _ in }) }
      },
      urgentWait(type),
      urgentAmongReaders(type),
      heldForNoMore(type),
      urgentBehind(type, .background, "background"),
      urgentBehind(type, .medium, "medium"),
      urgentBehind(type, .high, "high"),
    ])
  }

  /// The task that calls reads and adds by itself, for nobody else.
  private static func ownRecords<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked = "four tasks add a record each, and the first adds when all have come"
    return .task("own_task", asked, seconds: 30) { _ in
      let recorder = Recorder()
      let callers = Lock<[Int: Int]>([:])
      let wrong = Lock<String?>(nil)
      let come = Lock(0)
      // Which task it is that runs here.
      @Sendable func current() -> Int? { withUnsafeCurrentTask { $0?.hashValue } }
      @Sendable func judge(_ record: Int, _ verb: String) {
        let isOwn = callers.withLock { $0[record] } == current()
        if !isOwn { wrong.withLock { $0 = $0 ?? verb } }
      }
      let ledger = Ledger { record in
        judge(record, "added")
        await Moment.pass(until: 4) { come.withLock { $0 } }
        for _ in 1...20 { await Moment.pass() }
      }
      let record: @Sendable (Int) async -> Void = { number in
        callers.withLock { $0[number] = current() }
        let file = RecordFile {
          judge(number, "read")
          await Task.yield()
          come.withLock { $0 += 1 }
          return number
        }
        try? await recorder.record(file, in: ledger)
      }
      let tasks = (1...4).map { number in Task { await record(number) } }
      for task in tasks { await task.value }
      let verb = wrong.withLock { $0 }
      return GradeItem(
        "own_task",
        passed: verb == nil,
        "\(asked): "
          + (verb.map {
            "a record was \($0) by another task than the one that called 'record' with it. Start none, and do nobody "
              + "else's work"
          } ?? "each reads and adds its own")
      )
    }
  }

  /// Who waits for the ledger does not ask for it again and again.
  private static func quietRecords<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked = "a task adds a record for more than a second, and six of three urgencies wait"
    return QuietProcessor.question(asked) { aSecond in
      let (mayEnd, ends) = Condition.makeCondition()
      let begun = Lock(0)
      let ledger = Ledger { _ in
        begun.withLock { $0 += 1 }
        try? await mayEnd.waitUncancellably()
      }
      let recorder = Recorder()
      let record: @Sendable () async throws -> Void = {
        try await recorder.record(RecordFile { 1 }, in: ledger)
      }
      let first = Task { try await record() }
      while begun.withLock({ $0 == 0 }) { await Moment.pass() }
      let waiting = [TaskPriority.low, .medium, .high, .low, .medium, .high].map { priority in
        Task(priority: priority) { try await record() }
      }
      await aSecond()
      ends.signal()
      for task in [first] + waiting { _ = await task.result }
    }
  }

  /// A file that cannot be read gives back nothing that it has not got.
  private static func unreadBeside<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    promise(
      "unread_beside",
      "one adds a record, meanwhile a file cannot be read, and another record comes",
      tasks: ["the one that adds", "the one whose file cannot be read", "the one behind them"],
      preemptions: onePreemption,
      schedules: 500
    ) {
      let (hasBegun, begins) = Condition.makeCondition()
      let (mayEnd, ends) = Condition.makeCondition()
      let state = Lock((running: 0, peak: 0, sum: 0))
      let ledger = Ledger { record in
        state.withLock {
          $0.running += 1
          $0.peak = max($0.peak, $0.running)
        }
        begins.signal()
        try? await mayEnd.waitUncancellably()
        state.withLock {
          $0.running -= 1
          $0.sum += record
        }
      }
      let recorder = Recorder()
      let first = Task { try await recorder.record(RecordFile { 1 }, in: ledger) }
      try await hasBegun.waitUncancellably()
      let fails = Task { try await recorder.record(RecordFile { throw OutOfOrder() }, in: ledger) }
      await Task.yield()
      let last = Task { try await recorder.record(RecordFile { 2 }, in: ledger) }
      for _ in 1...3 { await Task.yield() }
      ends.signal()
      _ = await fails.result
      try await first.value
      try await last.value
      let (_, peak, sum) = state.withLock { $0 }
      try require(
        peak == 1,
        "\(peak) add at once. Whoever cannot read its file has had no turn, and gives none back"
      )
      try require(sum == 3, "the ledger has \(sum), expected 1 + 2")
    }
  }

  /// However urgent who adds is, it does so itself, and alone.
  private static func recordsOfUrgency<Recorder: LearnerRecorder>(
    _ type: Recorder.Type,
    _ priorities: [(name: String, priority: TaskPriority)]
  ) -> GradeBook.Question {
    let words = priorities.map { "one of \($0.name) urgency" }
    let both =
      Set(words).count == 1
      ? "both of \(priorities[0].name) urgency" : words.joined(separator: " and ")
    let urgencies = priorities.map(\.priority)
    return promise(
      "each_urgency",
      "two tasks add a record each, \(both)",
      tasks: words,
      preemptions: onePreemption,
      schedules: 1_000
    ) {
      let recorder = Recorder()
      let state = Lock((running: 0, peak: 0, added: Set<Int>(), ended: 0, early: 0))
      // Who is awaited becomes as urgent as who awaits it.
      let (areOver, over) = Condition.makeCondition()
      let ledger = Ledger { record in
        state.withLock {
          $0.running += 1
          $0.peak = max($0.peak, $0.running)
        }
        await Task.yield()
        state.withLock {
          $0.running -= 1
          $0.added.insert(record)
        }
      }
      let record: @Sendable (Int) async -> Void = { number in
        try? await recorder.record(RecordFile { number }, in: ledger)
        let isLast = state.withLock { state in
          if !state.added.contains(number) { state.early += 1 }
          state.ended += 1
          return state.ended == urgencies.count
        }
        if isLast { over.signal() }
      }
      for (number, priority) in urgencies.enumerated() {
        Task(priority: priority) { await record(number) }
      }
      try await areOver.waitUncancellably()
      let (_, peak, _, _, early) = state.withLock { $0 }
      try require(peak <= 1, "\(peak) add at the same time, whatever their urgency is")
      try require(
        early == 0,
        "'record' returned, and its record had not been added: the task that calls it adds, whatever its urgency is"
      )
    }
  }

  /// Who waits keeps its turn, whoever leaves before it and comes behind it.
  private static func recordsComeAndGo<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    promise(
      "come_and_go",
      "one adds and two wait; when the first is done and the second adds, a fourth comes",
      tasks: ["the first", "the second", "the third", "the fourth"],
      preemptions: 0,
      schedules: 300
    ) {
      let gates = (1...2).map { _ in
        (begun: Condition.makeCondition(), end: Condition.makeCondition())
      }
      let begun = Lock(0)
      let added = Lock<Set<Int>>([])
      let ledger = Ledger { record in
        let number = begun.withLock { begun in
          begun += 1
          return begun
        }
        if number <= gates.count {
          gates[number - 1].begun.signal.signal()
          try? await gates[number - 1].end.condition.waitUncancellably()
        }
        added.withLock { _ = $0.insert(record) }
      }
      let recorder = Recorder()
      let record: @Sendable (Int) async throws -> Void = { number in
        try await recorder.record(RecordFile { number }, in: ledger)
      }
      let first = Task { try await record(1) }
      try await gates[0].begun.condition.waitUncancellably()
      let waiting = [2, 3].map { number in Task { try await record(number) } }
      for _ in 1...3 { await Task.yield() }
      gates[0].end.signal.signal()
      try await gates[1].begun.condition.waitUncancellably()
      let last = Task { try await record(4) }
      for _ in 1...3 { await Task.yield() }
      gates[1].end.signal.signal()
      for task in [first] + waiting + [last] { try await task.value }
      let count = added.withLock { $0.count }
      try require(count == 4, "of 4 records \(count) were added")
    }
  }

  /// A recorder knows nothing of another's ledger.
  private static func recordersApart<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    promise(
      "apart",
      "two recorders with a ledger each; the first ledger's record is added when the other's has been",
      tasks: ["one that records in the first ledger", "one that records in the other"],
      preemptions: onePreemption
    ) {
      let (one, other) = (Recorder(), Recorder())
      let (isAdded, added) = Condition.makeCondition()
      let slow: @Sendable () async throws -> Void = {
        let ledger = Ledger { _ in try? await isAdded.waitUncancellably() }
        try await one.record(RecordFile { 1 }, in: ledger)
      }
      let quick: @Sendable () async throws -> Void = {
        try await other.record(RecordFile { 2 }, in: Ledger { _ in added.signal() })
      }
      let tasks = [slow, quick].map { record in Task { try await record() } }
      for task in tasks { try await task.value }
    }
  }

  /// A record is added to the ledger that it was handed in with, and by the task that did so.
  private static func twoLedgers<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    promise(
      "two_ledgers",
      "one recorder, two ledgers, and a task for each",
      tasks: ["one that records 1 in the first ledger", "one that records 2 in the second"],
      preemptions: onePreemption
    ) {
      let recorder = Recorder()
      let added = Lock([[Int](), [Int]()])
      let record: @Sendable (Int) async throws -> Void = { number in
        let ledger = Ledger { record in
          await Task.yield()
          added.withLock { $0[number].append(record) }
        }
        try await recorder.record(RecordFile { number + 1 }, in: ledger)
      }
      let tasks = (0...1).map { number in Task { try await record(number) } }
      for task in tasks { try await task.value }
      let found = added.withLock { $0 }
      try require(
        found == [[1], [2]],
        "the ledgers should have 1 and 2, and have \(found[0]) and \(found[1]): each record belongs in the ledger that "
          + "'record' was given with its file"
      )
    }
  }

  /// Files are read without a permit of any kind: also those of many.
  private static func urgentAmongReaders<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked =
      "30 records of low urgency, whose files are being read, 40 tasks of medium urgency, then an urgent record"
    return .task("urgent_among", asked) { _ in
      let scene = RecorderScene<Recorder>()
      for number in 1...30 {
        scene.start(.low) {
          try await scene.record {
            for _ in 1...5 { try await scene.sleep(10) }
            return number
          }
        }
      }
      for _ in 1...40 { scene.start(.medium, after: 5) { scene.work(10) } }
      scene.start(.high, after: 5) {
        try await scene.record { 2 }
        scene.noteEnd()
      }
      return await scene.judge("urgent_among", asked, from: 5)
    }
  }

  /// Records of any value are added, each once, and are there when `record` returns.
  private static func manyRecords<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let count = 1_200
    let asked =
      "\(count) records at once, some equal, some negative; the first is added when all have been read"
    return .task("many", asked, seconds: 60) { _ in
      let state = Lock(
        (running: 0, peak: 0, added: [Int: Int](), read: 0, unread: nil as Int?)
      )
      let ledger = Ledger { record in
        state.withLock {
          $0.running += 1
          $0.peak = max($0.peak, $0.running)
        }
        if state.withLock({ $0.unread == nil }) {
          let read = await Moment.pass(until: count) { state.withLock { $0.read } }
          state.withLock { $0.unread = count - read }
        }
        await Task.yield()
        state.withLock {
          $0.running -= 1
          $0.added[record, default: 0] += 1
        }
      }
      let recorder = Recorder()
      let records = (1...count).map { $0 % 9 - 4 }
      let add: @Sendable (Int) async -> String? = { record in
        let file = RecordFile {
          state.withLock { $0.read += 1 }
          await Task.yield()
          return record
        }
        do { try await recorder.record(file, in: ledger) } catch {
          return "a task was told \(error)"
        }
        let isThere = state.withLock { $0.added[record] != nil }
        return isThere ? nil : "'record' returned, and \(record) had not been added"
      }
      let fault = await withTaskGroup { group in
        for record in records { group.addTask { await add(record) } }
        return await group.reduce(nil as String?) { $0 ?? $1 }
      }
      let (_, peak, added, read, unread) = state.withLock { $0 }
      let due = Dictionary(records.map { ($0, 1) }, uniquingKeysWith: +)
      let wrong = due.keys.sorted().first { added[$0] != due[$0] }
      let what =
        fault
        ?? (peak > 1 ? "\(peak) were added at the same time" : nil)
        ?? wrong.map { "\($0) was added \(added[$0, default: 0]) times, not \(due[$0] ?? 0)" }
        ?? (read == count ? nil : "\(count) files were read \(read) times")
        ?? (unread == 0
          ? nil
          : "\(unread ?? count) files were read only when the first record had been added: their tasks wait for "
            + "the ledger before they read")
      return GradeItem(
        "many",
        passed: what == nil,
        "\(asked): \(what ?? "each was added once, and was there when 'record' returned")"
      )
    }
  }

  /// The scene of the lesson, with the learner's section in it.
  private static func urgentWait<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked = "a record of low urgency, 40 tasks of medium urgency, then an urgent record"
    return .task("urgent", asked) { _ in
      let scene = RecorderScene<Recorder>()
      scene.start(.low) {
        try await scene.record {
          for _ in 1...5 { try await scene.sleep(10) }
          return 1
        }
      }
      for _ in 1...40 { scene.start(.medium, after: 5) { scene.work(10) } }
      scene.start(.high, after: 5) {
        // Its file is in memory.
        try await scene.record { 2 }
        scene.noteEnd()
      }
      return await scene.judge("urgent", asked, from: 5)
    }
  }

  /// Whose file is read makes no difference: nobody holds the permit meanwhile.
  private static func urgentBehind<Recorder: LearnerRecorder>(
    _ type: Recorder.Type,
    _ priority: TaskPriority,
    _ name: String
  ) -> GradeBook.Question {
    let asked = "a record of \(name) urgency whose file takes a second, then an urgent record"
    return .task("behind", asked) { _ in
      let scene = RecorderScene<Recorder>()
      scene.start(priority) {
        try await scene.record {
          try await scene.sleep(1_000)
          return 1
        }
      }
      scene.start(.high, after: 5) {
        try await scene.record { 2 }
        scene.noteEnd()
      }
      return await scene.judge("behind", asked, from: 5)
    }
  }

  /// What is left under the permit does not suspend: whoever is more urgent would get the worker meanwhile.
  private static func heldForNoMore<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked =
      "a record of low urgency, and 40 tasks of medium urgency and an urgent record that come when its file has "
      + "been read"
    return .task("held", asked) { _ in
      let scene = RecorderScene<Recorder>()
      scene.start(.low) {
        try await scene.record {
          for _ in 1...40 { scene.start(.medium) { scene.work(10) } }
          scene.start(.high) {
            try await scene.record { 2 }
            scene.noteEnd()
          }
          return 1
        }
      }
      return await scene.judge("held", asked, from: 0)
    }
  }
}
