internal import Basics
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters
internal import Tracing
internal import VirtualTime

/// What a file or a cable does that fails.
private struct OutOfOrder: Error {}

/// The exercises in which a small edit mends a program.
extension Grader {
  /// What these files get wrong takes no more, and a look at each order takes no time.
  static let onePreemption = 1

  // MARK: Lesson 5

  /// A blocking call holds no thread of the pool.
  package static func reader<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook {
    GradeBook([
      answers(type),
      // Before there are many threads of Dispatch: each wakes once to come to rest, and keeps a thousand blocks to use
      // again.
      quietReads(type), keptOfReads(type),
      poolGoesOn(type, "pool"), poolGoesOn(type, "pool_each", readerForEach: true),
      mixedReads(type), longLineOfReads(type), cancelledRead(type), readsOfEachKind(type),
      readersApart(type), slowDisk(type), sameBlockApart(type), cancelledAsTheDiskHasRead(type),
      readsOfSome(type), manyMoreReads(type), explored(type),
    ])
  }

  private static func answers<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    let asked = "blocks one after the other, some of which do not exist"
    return .task("answers", asked, seconds: 10) { _ in
      let disk = Disk()
      let reader = Reader(disk: disk)
      var asks: [Int: Int] = [:]
      // One that four bytes cannot hold, and a dozen errors in a row.
      for block in [1, 2, -1, 3, 2, -2, -2, 4, 1 << 40] + (3...14).map({ -$0 }) + [5] {
        asks[block, default: 0] += 1
        do {
          let read = try await reader.read(block)
          guard block > 0 else {
            return GradeItem(
              "answers",
              passed: false,
              "\(asked): the disk threw, and 'read' did not"
            )
          }
          guard read == 10 * block else {
            return GradeItem(
              "answers",
              passed: false,
              "\(asked): block \(block) was read as \(read), not \(10 * block)"
            )
          }
        } catch {
          guard block < 0 else {
            return GradeItem(
              "answers",
              passed: false,
              "\(asked): 'read' threw \(error) for block \(block), which is there"
            )
          }
          guard error is Disk.NoSuchBlock else {
            return GradeItem(
              "answers",
              passed: false,
              "\(asked): the disk threw NoSuchBlock, and 'read' threw \(error)"
            )
          }
        }
        guard disk.count(block) == asks[block] else {
          return GradeItem(
            "answers",
            passed: false,
            "\(asked): block \(block) was asked for \(asks[block] ?? 0) times, and read "
              + "\(disk.count(block)) times"
          )
        }
      }
      return GradeItem(
        "answers",
        passed: true,
        "what stands in a block and the disk's error both come out, also after an error"
      )
    }
  }

  /// What each of many tasks gets that read at once, two of them the same block, some of them none.
  private static func mixedReads<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    let asked =
      "12 tasks read at once, two of them the same block and three of them none that exists"
    return .task("mixed", asked, seconds: 30) { _ in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let blocks = [1, 2, -1, 3, 4, 5, 5, -2, 6, -3, 7, 8]
      let wrong = await withTaskGroup { group in
        for block in blocks {
          group.addTask { () -> String? in
            do {
              let read = try await reader.read(block)
              return read == 10 * block ? nil : "who asked for block \(block) got \(read)"
            } catch {
              return block < 0 ? nil : "who asked for block \(block) was told \(error)"
            }
          }
        }
        // Until all have asked, as a rule.
        for _ in 1...10 { await Moment.pass() }
        disk.makeReady()
        return await group.reduce(into: [String]()) { if let fault = $1 { $0.append(fault) } }.first
      }
      let reads = Set(blocks).first { block in
        disk.count(block) != blocks.count { $0 == block }
      }
      let fault = wrong ?? reads.map { "block \($0) was read \(disk.count($0)) times" }
      return GradeItem(
        "mixed",
        passed: fault == nil,
        "\(asked): \(fault ?? "each gets what the disk says to it")"
      )
    }
  }

  /// Who has its block holds no thread of the pool, while the disk still reads for others.
  private static func readsOfSome<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let (count, quick) = (100, 80)
    let asked =
      "\(count) tasks read, and the disk reads \(quick) blocks and takes its time with the others"
    return .task("some", asked, seconds: 30) { _ in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let told = Lock(0)
      let turns = Lock(0)
      let isOver = Lock(false)
      let isStuck = Lock(false)
      // On a thread of its own: who holds the pool's threads would keep it from that too.
      OSThread("patience") {
        for _ in 1...quick { disk.letOneRead() }
        var (before, idle, looks) = (0, 0, 0)
        while told.withLock({ $0 }) < quick, idle < 1_000, looks < 2_000 {
          usleep(1_000)
          looks += 1
          let now = turns.withLock { $0 }
          idle = now == before ? idle + 1 : 0
          before = now
        }
        isStuck.withLock { $0 = idle == 1_000 }
        isOver.withLock { $0 = true }
        disk.makeReady()
      }.detach()
      // It wants nothing of the disk, and gets a turn of the pool each moment.
      let takeTurns: @Sendable () async -> Void = {
        while !isOver.withLock({ $0 }) {
          await Moment.pass()
          turns.withLock { $0 += 1 }
        }
      }
      let read: @Sendable (Int) async -> Void = { block in
        _ = try? await reader.read(block)
        told.withLock { $0 += 1 }
      }
      await withTaskGroup { group in
        group.addTask { await takeTurns() }
        for block in 1...count { group.addTask { await read(block) } }
      }
      let held = isStuck.withLock { $0 }
      return GradeItem(
        "some",
        passed: !held,
        "\(asked): "
          + (held
            ? "no other task gets a turn: those whose block has been read hold the threads of the pool until the others "
              + "have theirs. When a task goes on, let it wait for nothing else"
            : "those who have theirs hold up nobody")
      )
    }
  }

  /// Who waits for a block does not ask for it again and again.
  private static func quietReads<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    QuietProcessor.question("a task reads, and the disk takes more than a second") { aSecond in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let read: @Sendable () async -> Void = { _ = try? await reader.read(1) }
      let task = Task { await read() }
      await Moment.pass(until: 1) { disk.count(1) }
      await aSecond()
      disk.makeReady()
      await task.value
    }
  }

  /// One of three is cancelled while it reads.
  private static func cancelledRead<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let asked =
      "three tasks read, each in its turn is cancelled meanwhile, and then a fourth reads"
    return .task("cancelled", asked, seconds: 30) { _ in
      for gone in 1...3 {
        let disk = Disk(ready: false)
        let reader = Reader(disk: disk)
        var tasks = (1...3).map { block in Task { try await reader.read(block) } }
        for _ in 1...5 { await Moment.pass() }
        tasks[gone - 1].cancel()
        for _ in 1...5 { await Moment.pass() }
        // Before the block of who was cancelled has come.
        tasks.append(Task { try await reader.read(4) })
        for _ in 1...5 { await Moment.pass() }
        disk.makeReady()
        for (block, task) in zip(1...4, tasks) {
          switch await task.result {
          case .success(10 * block): continue
          case .failure(is CancellationError) where block == gone: continue
          case .success(let read):
            return GradeItem(
              "cancelled",
              passed: false,
              "\(asked): who asked for block \(block) got \(read)"
            )
          case .failure(let error):
            return GradeItem(
              "cancelled",
              passed: false,
              "\(asked): who asked for block \(block) was told \(error)"
            )
          }
        }
      }
      return GradeItem("cancelled", passed: true, "\(asked): the others read on")
    }
  }

  /// Who reads makes no difference: none holds a thread of the pool.
  private static func readsOfEachKind<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let asked =
      "a task that was cancelled before, one that is cancelled meanwhile, and one of each priority read"
    return .task("kinds", asked, seconds: 30) { _ in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let read: @Sendable (Int) async -> Bool = { block in
        do { return try await reader.read(block) == 10 * block } catch {
          return error is CancellationError
        }
      }
      let before = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await read(1)
      }
      let meanwhile = Task { await read(2) }
      let others = otherPriorities.enumerated().map { place, other in
        Task(priority: other.1) { await read(3 + place) }
      }
      // Until all have asked, as a rule.
      for _ in 1...10 { await Moment.pass() }
      meanwhile.cancel()
      disk.makeReady()
      var wrong: Int?
      for (place, task) in ([before, meanwhile] + others).enumerated() where await !task.value {
        wrong = wrong ?? place + 1
      }
      let names =
        ["cancelled before", "cancelled meanwhile"] + otherPriorities.map { "of \($0.0) priority" }
      let fault =
        disk.readOnPool.map { "a task \(names[$0 - 1]) held a thread of the pool while it read" }
        ?? wrong.map { "a task \(names[$0 - 1]) did not get what it asked for" }
        ?? (1...names.count).first { disk.count($0) > 1 }.map {
          "the block of a task \(names[$0 - 1]) was read \(disk.count($0)) times"
        }
      return GradeItem(
        "kinds",
        passed: fault == nil,
        "\(asked): \(fault ?? "each gets its block, and holds no thread of the pool")"
      )
    }
  }

  /// A reader reads its own disk.
  private static func readersApart<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let asked = "two readers of two disks"
    return .task("apart", asked, seconds: 30) { _ in
      let disks = [Disk(), Disk()]
      let readers = disks.map { Reader(disk: $0) }
      _ = try? await readers[0].read(1)
      _ = try? await readers[1].read(2)
      _ = try? await readers[0].read(3)
      let counts = disks.map { disk in (1...3).map { disk.count($0) } }
      return GradeItem(
        "apart",
        passed: counts == [[1, 0, 1], [0, 1, 0]],
        "\(asked): \(counts[0].reduce(0, +)) reads on the one and \(counts[1].reduce(0, +)) on the other, "
          + "expected 2 and 1"
      )
    }
  }

  /// A reader does not wait for the disk of another.
  private static func slowDisk<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    let asked = "a reader of a slow disk, and one of another disk"
    return .task("slow_disk", asked, seconds: 30) { _ in
      let (slow, quick) = (Disk(ready: false), Disk())
      let (one, other) = (Reader(disk: slow), Reader(disk: quick))
      let readSlow: @Sendable () async -> Int? = { try? await one.read(1) }
      let waiting = Task { await readSlow() }
      while slow.count(1) == 0 { await Moment.pass() }
      let block = try? await other.read(2)
      let hadToWait = slow.givenUp > 0
      slow.makeReady()
      _ = await waiting.value
      return GradeItem(
        "slow_disk",
        passed: !hadToWait && block == 20,
        "\(asked): "
          + (hadToWait
            ? "the other's block came only when the slow disk was given up. Each reader needs a queue of its own"
            : "each reads its own")
      )
    }
  }

  /// However long the line at the disk is, who stands in it holds no thread of the pool.
  private static func longLineOfReads<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let count = 5_000
    let asked = "\(count) tasks read at once, and the disk is not ready before all have come"
    return .task("long_line", asked, seconds: 60) { _ in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let come = Lock(0)
      let stuck = Lock<Int?>(nil)
      // On a thread of its own: who holds the pool's threads would keep it from that too.
      OSThread("patience") {
        var (before, idle) = (0, 0)
        while disk.readOnPool == nil, before < count, idle < 1_000 {
          usleep(1_000)
          let now = come.withLock { $0 }
          idle = now == before ? idle + 1 : 0
          before = now
        }
        if before < count { stuck.withLock { $0 = before } }
        // What has come may not have begun to wait yet.
        for _ in 1...20 where disk.readOnPool == nil { usleep(1_000) }
        disk.makeReady()
      }.detach()
      let read: @Sendable (Int) async -> Bool = { block in
        come.withLock { $0 += 1 }
        return (try? await reader.read(block)) == 10 * block
      }
      let right = await withTaskGroup { group in
        for block in 1...count { group.addTask { await read(block) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      let fault =
        disk.readOnPool == nil
        ? stuck.withLock { $0 }.map {
          "when \($0) had come, no other could: those who do not read yet hold the threads of the pool. A task that "
            + "waits for its turn is suspended"
        } ?? (right == count ? nil : "\(count - right) did not get what they asked for")
        : "one of them held a thread of the pool while it read. A line that is long is no reason for that"
      return GradeItem(
        "long_line",
        passed: fault == nil,
        "\(asked): \(fault ?? "each gets its block, and holds no thread of the pool")"
      )
    }
  }

  /// What is read of one disk is not told who reads the other, also if both ask for the same number.
  private static func sameBlockApart<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let asked = "two readers of two disks read block 1 at once, and the second disk is ready first"
    return .task("apart_at_once", asked, seconds: 30) { _ in
      let disks = [Disk(ready: false), Disk(ready: false, base: 1)]
      let tasks = Lock<[Task<Int, any Error>]>([])
      for disk in disks {
        let reader = Reader(disk: disk)
        let read: @Sendable () async throws -> Int = { try await reader.read(1) }
        tasks.withLock { $0.append(Task { try await read() }) }
        await Moment.pass(until: 1) { disk.count(1) }
      }
      disks[1].makeReady()
      // Until what was read has come to somebody.
      for _ in 1...20 { await Moment.pass() }
      disks[0].makeReady()
      var told: [Int?] = []
      for task in tasks.withLock({ $0 }) { told.append(try? await task.value) }
      return GradeItem(
        "apart_at_once",
        passed: told == [10, 11],
        "\(asked): "
          + (told == [10, 11]
            ? "each gets what its own disk has"
            : "the first disk has 10 there and the second 11, and their readers returned "
              + told.map { $0.map(String.init) ?? "an error" }.joined(separator: " and "))
      )
    }
  }

  private static func cancelledAsTheDiskHasRead<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    cancelledAsAnswered("a task reads, and is cancelled just as its block has been read") {
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      return AwaitedAnswer(
        ask: { _ = try? await reader.read(1) },
        count: { disk.count(1) },
        come: { disk.makeReady() }
      )
    }
  }

  private static func keptOfReads<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let what =
      "times three reads: of a block, of one that does not exist, and by a task that is cancelled meanwhile"
    return keptOfAnswers(what) {
      let reader = Reader(disk: Disk())
      let read: @Sendable (Int) async -> Void = { _ = try? await reader.read($0) }
      return {
        await read(1)
        await read(-1)
        let task = Task { await read(2) }
        task.cancel()
        await task.value
      }
    }
  }

  /// Numbers that are given to reads do not come to an end after two bytes of them.
  private static func manyMoreReads<Reader: LearnerReader>(
    _ type: Reader.Type
  ) -> GradeBook.Question {
    let count = 70_000
    let tasks = 50
    let asked = "\(count) reads by \(tasks) tasks"
    return .task("many", asked, seconds: 120) { _ in
      let reader = Reader(disk: Disk())
      let read: @Sendable (Int) async -> Bool = { (try? await reader.read($0)) == 10 * $0 }
      let right = await withTaskGroup { group in
        for task in 0..<tasks {
          group.addTask {
            var right = 0
            for block in stride(from: task, to: count, by: tasks) where await read(block) {
              right += 1
            }
            return right
          }
        }
        return await group.reduce(0, +)
      }
      return GradeItem(
        "many",
        passed: right == count,
        "\(asked): \(right == count ? "the last as the first" : "\(count - right) did not get their block")"
      )
    }
  }

  /// The last of many tasks makes the disk ready: it needs a thread again and again, while the others read.
  ///
  /// With a reader for each of them, one that keeps its callers in a line holds a thread for each too.
  private static func poolGoesOn<Reader: LearnerReader>(
    _ type: Reader.Type,
    _ name: String,
    readerForEach: Bool = false
  ) -> GradeBook.Question {
    // More than the threads of any pool this may run on, also if they are shared among the pools of five priorities;
    // and no more threads than GCD has.
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let readers = max(2 * processors + 4, min(5 * (processors + 1), 200))
    let asked =
      "\(readers) tasks read\(readerForEach ? ", each by a reader of its own" : ""), "
      + "and the last of them makes the disk ready first"
    return .task(name, asked, seconds: 60) { _ in
      let disk = Disk(ready: false)
      let shared = Reader(disk: disk)
      let own = (1...readers).map { _ in readerForEach ? Reader(disk: disk) : shared }
      let begun = Lock(0)
      let blocked = Lock<String?>(nil)
      let ask: @Sendable (Int) async -> Bool = { number in
        let isLast = begun.withLock { begun in
          begun += 1
          return begun == readers
        }
        if isLast {
          // What the others have begun elsewhere in the pool gets its threads first.
          for _ in 1...4 * readers { await Task.yield() }
          // Each priority has threads of its own, and a task of each must get one.
          for (name, priority) in otherPriorities where disk.givenUp == 0 {
            // Not by its value: who awaits that makes it more urgent.
            await withCheckedContinuation { continuation in
              Task.detached(priority: priority) { continuation.resume() }
            }
            if disk.givenUp > 0 { blocked.withLock { $0 = name } }
          }
          disk.makeReady()
        }
        return (try? await own[number - 1].read(number)) == 10 * number
      }
      let right = await withTaskGroup { group in
        for number in 1...readers { group.addTask { await ask(number) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      let late = disk.givenUp
      let threads = disk.mostAtOnce
      if late == 0, right == readers, !readerForEach, threads > 1 {
        return GradeItem(
          name,
          passed: false,
          "\(asked): \(threads) threads were blocked at once. The reader's one queue needs one"
        )
      }
      return GradeItem(
        name,
        passed: late == 0 && right == readers,
        "\(asked): "
          + (late > 0
            ? (blocked.withLock { $0 }.map { "a task of \($0) priority" } ?? "it")
              + " got no thread for 5 s, because the others blocked them all"
            : "the pool went on, and \(right) read what they asked for")
      )
    }
  }

  /// Those that have threads of their own beside the ones of what is asked.
  private static let otherPriorities: [(String, TaskPriority)] = [
    ("low", .low), ("background", .background), ("high", .high),
    ("the highest", TaskPriority(rawValue: 33)),
  ]

  // MARK: Lesson 10

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
    let urgencies = priorities.map(\.priority)
    return promise(
      "each_urgency",
      "two tasks add a record each, \(words.joined(separator: " and "))",
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
    let asked = "100 records at once, some equal, some negative"
    return .task("many", asked, seconds: 30) { _ in
      let state = Lock((running: 0, peak: 0, added: [Int: Int](), read: 0))
      let ledger = Ledger { record in
        state.withLock {
          $0.running += 1
          $0.peak = max($0.peak, $0.running)
        }
        await Task.yield()
        state.withLock {
          $0.running -= 1
          $0.added[record, default: 0] += 1
        }
      }
      let recorder = Recorder()
      let records = (1...100).map { $0 % 9 - 4 }
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
      let (_, peak, added, read) = state.withLock { $0 }
      let due = Dictionary(records.map { ($0, 1) }, uniquingKeysWith: +)
      let wrong = due.keys.sorted().first { added[$0] != due[$0] }
      let what =
        fault
        ?? (peak > 1 ? "\(peak) were added at the same time" : nil)
        ?? wrong.map { "\($0) was added \(added[$0, default: 0]) times, not \(due[$0] ?? 0)" }
        ?? (read == 100 ? nil : "100 files were read \(read) times")
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

  // MARK: Lesson 13

  /// Two limits without a ring.
  package static func copier<Copier: LearnerCopier>(_ type: Copier.Type) -> GradeBook {
    GradeBook([
      promise(
        "no_ring",
        "a download and an upload, one connection, one file",
        tasks: ["a download", "an upload"],
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 1, files: 1), atMost: 1)
      },
      promise(
        "connections",
        "a download and an upload, one connection, two files",
        tasks: ["a download", "an upload"],
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 1, files: 2), atMost: 1)
      },
      promise(
        "files",
        "a download and an upload, two connections, one file",
        tasks: ["a download", "an upload"],
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 2, files: 1), atMost: 1)
      },
      promise(
        "both",
        "a download and an upload at the same time, neither of which ends before both have begun, two of each",
        tasks: ["a download", "an upload"],
        preemptions: onePreemption
      ) {
        let copier = Copier(connections: 2, files: 2)
        try await meet(copier.download, copier.upload)
      },
      promise(
        "alike",
        "two downloads at the same time, neither of which ends before both have begun, then two uploads, two of each",
        tasks: ["a download", "a download", "an upload", "an upload"],
        preemptions: onePreemption
      ) {
        let copier = Copier(connections: 2, files: 2)
        try await meet(copier.download, copier.download)
        try await meet(copier.upload, copier.upload)
      },
      promise("errors", "copies that throw, and two after them", preemptions: onePreemption) {
        let copier = Copier(connections: 1, files: 1)
        let runs = Lock(0)
        for error in [OutOfOrder(), CancellationError()] as [any Error] {
          for pass in [copier.upload, copier.download] {
            do {
              try await pass {
                runs.withLock { $0 += 1 }
                throw error
              }
            } catch let told {
              try require(
                Swift.type(of: told) == Swift.type(of: error),
                "the copy threw \(error), and its task was told \(told)"
              )
              continue
            }
            try require(false, "its error did not come out")
          }
        }
        let count = runs.withLock { $0 }
        try require(count == 4, "four copies that throw ran \(count) times")
        try await copier.download {}
        try await copier.upload {}
      },
      quietCopies(type, connections: 1, files: 2),
      quietCopies(type, connections: 2, files: 1),
      errorInLine(type, CancellationError()),
      errorInLine(type, OutOfOrder()),
      crowded(type, "two_down", uploads: false),
      crowded(type, "two_up", uploads: true),
      cancelledAsItCopies(type, connections: 1, files: 1),
      cancelledAsItCopies(type, connections: 2, files: 1),
      cancelledAsItCopies(type, connections: 1, files: 2),
      cancelledAsItCopies(type, connections: 2, files: 1, whileAnotherWaits: true),
      cancelledAsItCopies(type, connections: 1, files: 2, whileAnotherWaits: true),
      cancelledAsAnotherEnds(type),
      cancelledBetween(type, connections: 2, files: 1),
      cancelledBetween(type, connections: 1, files: 2),
      cancelledCopies(type, connections: 2, files: 1),
      cancelledCopies(type, connections: 1, files: 2),
      cancelledBeforeCopy(type),
      orderAfterAnError(type),
      copiersApart(type),
      copyInACopy(type),
      copyLimits(type),
      ringOfMany(type),
      limitsAfter(type),
    ])
  }

  /// Who waits for either permit does not ask for it again and again.
  private static func quietCopies<Copier: LearnerCopier>(
    _ type: Copier.Type,
    connections: Int,
    files: Int
  ) -> GradeBook.Question {
    let asked =
      "a download takes more than a second, and two downloads and two uploads wait, limits \(connections) and \(files)"
    return QuietProcessor.question(asked) { aSecond in
      let copier = Copier(connections: connections, files: files)
      let (mayEnd, signal) = Condition.makeCondition()
      let hasBegun = Lock(0)
      let first = Task {
        try await copier.download {
          hasBegun.withLock { $0 = 1 }
          try await mayEnd.waitUncancellably()
        }
      }
      while hasBegun.withLock({ $0 == 0 }) { await Moment.pass() }
      let waiting = (1...4).map { number in
        Task { try await number % 2 == 0 ? copier.upload {} : copier.download {} }
      }
      await aSecond()
      signal.signal()
      for task in [first] + waiting { _ = await task.result }
    }
  }

  /// A copy that had to wait for its permits, and then throws, gives both back, once.
  private static func errorInLine<Copier: LearnerCopier>(
    _ type: Copier.Type,
    _ error: any Error
  ) -> GradeBook.Question {
    promise(
      "error_in_line",
      "a copy that waits for another one and then throws \(Swift.type(of: error)), and two after it, one connection, "
        + "one file",
      tasks: ["a copy", "the one that waits and throws"],
      schedules: 1_500
    ) {
      let copier = Copier(connections: 1, files: 1)
      let (hasBegun, begins) = Condition.makeCondition()
      let (mayEnd, signal) = Condition.makeCondition()
      let first = Task {
        try await copier.download {
          begins.signal()
          try await mayEnd.waitUncancellably()
        }
      }
      try await hasBegun.waitUncancellably()
      let waits = Task { try await copier.upload { throw error } }
      await Task.yield()
      signal.signal()
      try await first.value
      switch await waits.result {
      case .success: try require(false, "the copy threw \(error), and its task was told nothing")
      case .failure(let told):
        try require(
          Swift.type(of: told) == Swift.type(of: error),
          "the copy threw \(error), and its task was told \(told)"
        )
      }
      // Both permits are there, and no more than those.
      try await copies(copier, atMost: 1)
    }
  }

  /// Two copies of one kind that wait for each other, and one of the other kind: what it holds while it waits must
  /// not be what they need.
  private static func crowded<Copier: LearnerCopier>(
    _ type: Copier.Type,
    _ name: String,
    uploads: Bool
  ) -> GradeBook.Question {
    promise(
      name,
      "two \(uploads ? "uploads" : "downloads") that wait for each other and "
        + "\(uploads ? "a download" : "an upload"), two of each",
      tasks: uploads
        ? ["an upload", "an upload", "a download"] : ["a download", "a download", "an upload"],
      preemptions: onePreemption,
      schedules: 1_500
    ) {
      let copier = Copier(connections: 2, files: 2)
      let meeting = Meeting()
      let two: @Sendable (() async throws -> Void) async throws -> Void =
        uploads ? copier.upload : copier.download
      let one: @Sendable (() async throws -> Void) async throws -> Void =
        uploads ? copier.download : copier.upload
      let meet: @Sendable () async throws -> Void = { try await two { await meeting.come() } }
      try await together([meet, meet, { try await one { await Task.yield() } }])
    }
  }

  /// What one is handed who is cancelled goes on to who waits behind.
  private static func cancelledAsAnotherEnds<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_as_handed",
      "a download ends as an upload that waits is cancelled, and a download waits behind; one connection, one file",
      tasks: ["the first download", "the upload that is cancelled", "the download behind it"],
      preemptions: onePreemption,
      schedules: 2_000
    ) {
      let copier = Copier(connections: 1, files: 1)
      let (hasCome, comes) = Condition.makeCondition()
      let (mayEnd, end) = Condition.makeCondition()
      let download: @Sendable () async throws -> Void = {
        try await copier.download {
          comes.signal()
          try await mayEnd.waitUncancellably()
        }
      }
      let copies = Lock(0)
      let behind: @Sendable () async throws -> Void = {
        try await copier.download { copies.withLock { $0 += 1 } }
      }
      let upload: @Sendable () async throws -> Void = { try await copier.upload {} }
      let first = Task { try await download() }
      try await hasCome.waitUncancellably()
      let gone = Task { try await upload() }
      for _ in 1...2 { await Task.yield() }
      let last = Task { try await behind() }
      for _ in 1...2 { await Task.yield() }
      end.signal()
      await Task.yield()
      gone.cancel()
      try await first.value
      _ = await gone.result
      try await last.value
      let count = copies.withLock { $0 }
      try require(count == 1, "the last copy ran \(count) times")
    }
  }

  /// How many copy, and how many did at most.
  private final class Copying: Sendable {
    private let counts = Lock((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func begin() {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
    }

    func end() { counts.withLock { $0.now -= 1 } }
  }

  /// A copy that goes on though its task is cancelled keeps both until it ends, and who is cancelled as it waits for one
  /// does not copy without.
  private static func cancelledAsItCopies<Copier: LearnerCopier>(
    _ type: Copier.Type,
    connections: Int,
    files: Int,
    whileAnotherWaits: Bool = false
  ) -> GradeBook.Question {
    promise(
      "cancelled_copying",
      (whileAnotherWaits
        ? "an upload waits while a download copies; the download is cancelled and goes on, and the upload is cancelled; "
        : "a download is cancelled as it copies, and goes on; an upload comes, and is cancelled while it waits; ")
        + limits(connections, files),
      tasks: ["the download", "the upload"],
      preemptions: 0,
      schedules: 500
    ) {
      let copier = Copier(connections: connections, files: files)
      let (hasCome, comes) = Condition.makeCondition()
      let (mayEnd, end) = Condition.makeCondition()
      let copying = Copying()
      let download: @Sendable () async throws -> Void = {
        try await copier.download {
          copying.begin()
          comes.signal()
          try await mayEnd.waitUncancellably()
          copying.end()
        }
      }
      let upload: @Sendable () async throws -> Void = {
        try await copier.upload {
          copying.begin()
          await Task.yield()
          copying.end()
        }
      }
      let first = Task { try await download() }
      try await hasCome.waitUncancellably()
      if !whileAnotherWaits { first.cancel() }
      let other = Task { try await upload() }
      for _ in 1...6 { await Task.yield() }
      if whileAnotherWaits {
        first.cancel()
        for _ in 1...6 { await Task.yield() }
      }
      other.cancel()
      for _ in 1...6 { await Task.yield() }
      end.signal()
      _ = await first.result
      _ = await other.result
      let most = copying.most
      try require(
        most == 1,
        "\(most) copied at once, and one may: a copy has a connection and a file until it ends, also of a task that is "
          + "cancelled"
      )
      // Both permits are there, and no more than those.
      try await copies(copier, atMost: 1)
    }
  }

  /// Who has got its first permit when it is cancelled does not copy without the second.
  private static func cancelledBetween<Copier: LearnerCopier>(
    _ type: Copier.Type,
    connections: Int,
    files: Int
  ) -> GradeBook.Question {
    promise(
      "cancelled_between",
      "a download copies, two uploads wait behind it, it ends, and the second of them is cancelled; "
        + limits(connections, files),
      tasks: ["the download", "an upload", "the upload that is cancelled"],
      preemptions: onePreemption,
      schedules: 1_000
    ) {
      let copier = Copier(connections: connections, files: files)
      let (hasCome, comes) = Condition.makeCondition()
      let (mayEnd, end) = Condition.makeCondition()
      let (othersMayEnd, endOthers) = Condition.makeCondition()
      let copying = Copying()
      let copy: @Sendable (Bool) async throws -> Void = { isFirst in
        copying.begin()
        if isFirst {
          comes.signal()
          try await mayEnd.waitUncancellably()
        } else {
          try await othersMayEnd.waitUncancellably()
        }
        copying.end()
      }
      let download: @Sendable () async throws -> Void = {
        try await copier.download { try await copy(true) }
      }
      let upload: @Sendable () async throws -> Void = {
        try await copier.upload { try await copy(false) }
      }
      let first = Task { try await download() }
      try await hasCome.waitUncancellably()
      let second = Task { try await upload() }
      for _ in 1...2 { await Task.yield() }
      let gone = Task { try await upload() }
      for _ in 1...2 { await Task.yield() }
      end.signal()
      await Task.yield()
      gone.cancel()
      for _ in 1...6 { await Task.yield() }
      endOthers.signal()
      try await first.value
      try await second.value
      _ = await gone.result
      let most = copying.most
      try require(
        most == 1,
        "\(most) copied at once, and one may: who is cancelled copies with both permits or not at all"
      )
    }
  }

  /// A copy that copies more needs permits for these, too.
  private static func copyInACopy<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    promise(
      "inside",
      "a copy that starts a download and an upload and waits for both, two of each",
      tasks: ["a copy", "its download", "its upload"],
      preemptions: onePreemption,
      schedules: 500
    ) {
      let copier = Copier(connections: 2, files: 2)
      let copying = Copying()
      let copy: @Sendable () async -> Void = {
        copying.begin()
        await Task.yield()
        copying.end()
      }
      let inner: [@Sendable () async throws -> Void] = [
        { try await copier.download(copy) }, { try await copier.upload(copy) },
      ]
      let outer: @Sendable () async throws -> Void = {
        try await copier.download {
          copying.begin()
          let tasks = inner.map { one in Task { try await one() } }
          for task in tasks { try await task.value }
          copying.end()
        }
      }
      try await Task { try await outer() }.value
      let most = copying.most
      try require(
        most <= 2,
        "\(most) copied at once, and two may: a copy that is started by another one needs a connection and a file of "
          + "its own"
      )
    }
  }

  /// However many permits there are, who waits for one kind holds none that others wait for.
  private static func ringOfMany<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    let asked = "10, 64 and 200 copy, as many downloads and as many uploads wait behind them"
    return .task("no_ring_of_many", asked, seconds: 60) { _ in
      for limit in [10, 64, 200] {
        let copier = Copier(connections: limit, files: limit)
        let (mayEnd, ends) = Condition.makeCondition()
        let counts = Lock((copying: 0, come: 0, ended: 0))
        let begin: @Sendable () async -> Void = {
          try? await copier.download {
            counts.withLock { $0.copying += 1 }
            try await mayEnd.waitUncancellably()
          }
          counts.withLock { $0.ended += 1 }
        }
        let wait: @Sendable (Bool) async -> Void = { isUpload in
          counts.withLock { $0.come += 1 }
          do {
            if isUpload { try await copier.upload {} } else { try await copier.download {} }
          } catch {}
          counts.withLock { $0.ended += 1 }
        }
        for _ in 1...limit { Task { await begin() } }
        await Moment.pass(until: limit) { counts.withLock { $0.copying } }
        for number in 1...2 * limit { Task { await wait(number.isMultiple(of: 2)) } }
        await Moment.pass(until: 2 * limit) { counts.withLock { $0.come } }
        // Until the last have come to their line, as a rule.
        for _ in 1...10 { await Moment.pass() }
        ends.signal()
        let ended = await Moment.pass(until: 3 * limit) { counts.withLock { $0.ended } }
        if ended < 3 * limit {
          return GradeItem(
            "no_ring_of_many",
            passed: false,
            "\(asked): \(3 * limit - ended) wait for ever, with \(limit) of each. Take both in the same order "
              + "everywhere, however many there are"
          )
        }
      }
      return GradeItem("no_ring_of_many", passed: true, "\(asked): all end")
    }
  }

  /// Whatever has happened before, who comes takes the limits in the order in which who waits has taken them.
  private static func orderAfterAnError<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    promise(
      "same_order_after",
      "a download waits while another copies; that one throws, and an upload comes; one connection, one file",
      tasks: ["the one that throws", "the one that waits", "the upload"],
      preemptions: onePreemption,
      schedules: 600
    ) {
      let copier = Copier(connections: 1, files: 1)
      let (hasCome, comes) = Condition.makeCondition()
      let (mayEnd, end) = Condition.makeCondition()
      let download: @Sendable () async throws -> Void = {
        try await copier.download {
          comes.signal()
          try await mayEnd.waitUncancellably()
          throw OutOfOrder()
        }
      }
      let copies = Lock(0)
      let wait: @Sendable () async throws -> Void = {
        try await copier.download { copies.withLock { $0 += 1 } }
      }
      let first = Task { try await download() }
      try await hasCome.waitUncancellably()
      let waits = Task { try await wait() }
      for _ in 1...2 { await Task.yield() }
      end.signal()
      _ = await first.result
      try await copier.upload { copies.withLock { $0 += 1 } }
      try await waits.value
      let count = copies.withLock { $0 }
      try require(
        count == 2,
        count < 2 ? "\(count) of 2 copies ran" : "2 copies ran \(count) times: each runs once"
      )
    }
  }

  private static func limits(_ connections: Int, _ files: Int) -> String {
    "\(connections) connection\(connections == 1 ? "" : "s") and \(files) file\(files == 1 ? "" : "s")"
  }

  /// Who is cancelled while it waits for its second permit gives the first back.
  private static func cancelledCopies<Copier: LearnerCopier>(
    _ type: Copier.Type,
    connections: Int,
    files: Int
  ) -> GradeBook.Question {
    promise(
      "cancelled",
      "a download, and behind it two uploads and a download that are cancelled; \(limits(connections, files))",
      tasks: ["the first download", "an upload", "another", "a download"],
      preemptions: onePreemption,
      schedules: 600
    ) {
      let copier = Copier(connections: connections, files: files)
      let (isOver, over) = Condition.makeCondition()
      let first = Task { try await copier.download { try await isOver.waitUncancellably() } }
      await Task.yield()
      let runs = Lock(0)
      let passes: [@Sendable (() async throws -> Void) async throws -> Void] = [
        copier.upload, copier.upload, copier.download,
      ]
      var all: [Task<Bool, any Error>] = []
      for pass in passes {
        // Whether it copied, if it says that all went well.
        let visit: @Sendable () async throws -> Bool = {
          let copied = Lock(false)
          try await pass {
            copied.withLock { $0 = true }
            runs.withLock { $0 += 1 }
          }
          return copied.withLock { $0 }
        }
        let gone = Task { try await visit() }
        all.append(gone)
        await Task.yield()
        gone.cancel()
        // It may wait on, cancelled or not: then it copies when the first is over.
        await Task.yield()
      }
      over.signal()
      for gone in all {
        guard case .success(let copied) = await gone.result else { continue }
        try require(copied, "a task that is cancelled was told no error, and its copy did not run")
      }
      try await first.value
      try await copier.upload {}
      try await copier.download {}
      let count = runs.withLock { $0 }
      try require(count <= 3, "three copies ran \(count) times")
    }
  }

  /// Who was cancelled before it came either copies or is told an error.
  private static func cancelledBeforeCopy<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    let asked =
      "an upload and a download by tasks that were cancelled before they came, while another copies"
    return .task("cancelled_before", asked, seconds: 20) { _ in
      let copier = Copier(connections: 1, files: 1)
      let passes: [@Sendable (() async throws -> Void) async throws -> Void] = [
        copier.upload, copier.download,
      ]
      // Another has the only connection and the only file meanwhile.
      let (mayEnd, signal) = Condition.makeCondition()
      let copying = Lock(0)
      let most = Lock(0)
      let copy: @Sendable (Bool) async throws -> Void = { stays in
        let now = copying.withLock {
          $0 += 1
          return $0
        }
        most.withLock { $0 = max($0, now) }
        if stays { try await mayEnd.waitUncancellably() }
        copying.withLock { $0 -= 1 }
      }
      let other = Task { try await copier.download { try await copy(true) } }
      while copying.withLock({ $0 }) == 0 { await Moment.pass() }
      let tasks = passes.map { pass in
        Task {
          withUnsafeCurrentTask { $0?.cancel() }
          let copied = Lock(false)
          try await pass {
            try await copy(false)
            copied.withLock { $0 = true }
          }
          return copied.withLock { $0 }
        }
      }
      // Until both have come, as a rule.
      for _ in 1...10 { await Moment.pass() }
      signal.signal()
      _ = await other.result
      for task in tasks {
        if case .success(false) = await task.result {
          return GradeItem(
            "cancelled_before",
            passed: false,
            "\(asked): one was told no error, and its copy did not run"
          )
        }
      }
      let peak = most.withLock { $0 }
      if peak > 1 {
        return GradeItem(
          "cancelled_before",
          passed: false,
          "\(asked): \(peak) copies ran at once, with one connection and one file. Being cancelled gives nobody a permit"
        )
      }
      return GradeItem("cancelled_before", passed: true, "\(asked): they copy, or are told")
    }
  }

  /// A copier knows nothing of another's limits.
  private static func copiersApart<Copier: LearnerCopier>(
    _ type: Copier.Type
  ) -> GradeBook.Question {
    promise(
      "apart",
      "a download by one copier and an upload by another at the same time, neither of which ends before both have begun, "
        + "one of each",
      tasks: ["the download", "the upload"],
      preemptions: onePreemption
    ) {
      let (one, other) = (Copier(connections: 1, files: 1), Copier(connections: 1, files: 1))
      try await meet(one.download, other.upload)
    }
  }

  /// As many copies at once as both limits allow, for many pairs of limits, and no more.
  private static func copyLimits<Copier: LearnerCopier>(_ type: Copier.Type) -> GradeBook.Question {
    let asked =
      "limits from 1 to 6 and larger, of connections and of files, and many copies of both kinds"
    let sight = LastSight()
    return .task("limits", asked, seconds: 60, sight: sight) { _ in
      let pairs = (1...6).flatMap { one in (1...6).map { (one, $0) } } + [(40, 13), (11, 40)]
      for (connections, files) in pairs {
        let copier = Copier(connections: connections, files: files)
        if let wrong = await crowd(copier, connections, files, telling: sight) {
          return GradeItem("limits", passed: false, "\(asked): \(wrong)")
        }
      }
      return GradeItem("limits", passed: true, "\(asked): as many run as both allow")
    }
  }

  /// What is wrong with many copies of both kinds, if anything is.
  private static func crowd(
    _ copier: some LearnerCopier,
    _ connections: Int,
    _ files: Int,
    telling sight: LastSight
  ) async -> String? {
    let limit = min(connections, files)
    let rendezvous = Rendezvous(of: limit)
    let counts = Lock((running: 0, peak: 0, ended: 0))
    sight.tell {
      let (running, _, ended) = counts.withLock { $0 }
      return
        "of \(4 * limit) copies at limits of \(connections) and \(files) \(ended) ended, \(running) run, and the others "
        + "wait. Look for two of them of which each has what the other waits for, and for a permit that nobody gives back"
    }
    let copy: @Sendable () async -> Void = {
      counts.withLock {
        $0.running += 1
        $0.peak = max($0.peak, $0.running)
      }
      await Task.yield()
      await rendezvous.come()
      // Long enough for one too many to begin, if it may.
      for _ in 1...20 { await Task.yield() }
      counts.withLock {
        $0.running -= 1
        $0.ended += 1
      }
    }
    let isTold = await withTaskGroup { group in
      for number in 1...4 * limit {
        group.addTask { () -> Bool in
          do {
            try await number % 2 == 0 ? copier.download(copy) : copier.upload(copy)
            return false
          } catch { return true }
        }
      }
      return await group.reduce(false) { $0 || $1 }
    }
    let (_, peak, ended) = counts.withLock { $0 }
    if ended == 4 * limit, peak == limit, !isTold { return nil }
    return "of \(4 * limit) copies at \(connections) and \(files) \(ended) ended, and \(peak) ran "
      + "at once, expected \(limit)"
  }

  /// A copy that throws, and one that is cancelled while it waits for its first or its second permit, gives back what
  /// it has, once, and nothing else.
  private static func limitsAfter<Copier: LearnerCopier>(_ type: Copier.Type) -> GradeBook.Question
  {
    let asked =
      "copies that throw, or are cancelled while they wait for a connection or a file, and then many copies"
    let sight = LastSight()
    return .task("limits_after", asked, seconds: 60, sight: sight) { _ in
      for (connections, files) in [(1, 1), (3, 1), (1, 3), (3, 2), (2, 3)] {
        let copier = Copier(connections: connections, files: files)
        let passes: [@Sendable (() async throws -> Void) async throws -> Void] = [
          copier.download, copier.upload,
        ]
        for pass in passes {
          for error in [OutOfOrder(), CancellationError()] as [any Error] {
            _ = try? await pass { throw error }
          }
          await cancelInLine(pass, behind: min(connections, files), failing: false)
          await cancelInLine(pass, behind: min(connections, files), failing: true)
        }
        if let wrong = await crowd(copier, connections, files, telling: sight) {
          return GradeItem(
            "limits_after",
            passed: false,
            "\(asked): \(wrong). Look who gives back what it never got, or gives it back twice"
          )
        }
      }
      return GradeItem("limits_after", passed: true, "\(asked): as many run as both allow")
    }
  }

  /// Some that copy, and others that come, wait, and are cancelled; then those that copy end, or throw.
  private static func cancelInLine(
    _ pass: @escaping @Sendable (() async throws -> Void) async throws -> Void,
    behind count: Int,
    failing: Bool
  ) async {
    let (mayEnd, signal) = Condition.makeCondition()
    let copying = Lock(0)
    let copy: @Sendable () async throws -> Void = {
      copying.withLock { $0 += 1 }
      try await mayEnd.waitUncancellably()
      if failing { throw OutOfOrder() }
    }
    let holders = (1...count).map { _ in Task { try await pass(copy) } }
    for _ in 1...1_000 where copying.withLock({ $0 }) < count { await Moment.pass() }
    for _ in 1...3 {
      let gone = Task { try await pass {} }
      for _ in 1...10 { await Moment.pass() }
      gone.cancel()
      for _ in 1...10 { await Moment.pass() }
    }
    signal.signal()
    for holder in holders { _ = await holder.result }
  }

  /// Bodies at the same time, each on a task of its own: of each that waits for ever it is told where it stands.
  private static func together(_ bodies: [@Sendable () async throws -> Void]) async throws {
    let tasks = bodies.enumerated().map { number, body in
      Task(priority: .inTurn(number)) { try await body() }
    }
    for task in tasks { try await task.value }
  }

  /// Two copies, each of which ends when the other is under way too.
  private static func meet(
    _ first: @escaping @Sendable (() async throws -> Void) async throws -> Void,
    _ second: @escaping @Sendable (() async throws -> Void) async throws -> Void
  ) async throws {
    let meeting = Meeting()
    try await together([
      { try await first { await meeting.come() } }, { try await second { await meeting.come() } },
    ])
  }

  private static func copies(_ copier: some LearnerCopier, atMost limit: Int) async throws {
    let counts = Lock((running: 0, peak: 0, ended: 0))
    let copy: @Sendable () async -> Void = {
      counts.withLock {
        $0.running += 1
        $0.peak = max($0.peak, $0.running)
      }
      await Task.yield()
      counts.withLock {
        $0.running -= 1
        $0.ended += 1
      }
    }
    try await together([{ try await copier.download(copy) }, { try await copier.upload(copy) }])
    let (_, peak, ended) = counts.withLock { $0 }
    try require(
      ended == 2,
      ended < 2 ? "\(ended) of 2 copies ran" : "2 copies ran \(ended) times: each runs once"
    )
    try require(peak <= limit, "\(peak) copies ran at once, limit \(limit)")
  }
}
