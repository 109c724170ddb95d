internal import Basics
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters

/// What readers are asked that must not hold a thread.
extension Grader {
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
      readsOfSome(type), manyMoreReads(type), readsLetGo(type), threadsOfReads(type),
      explored(type),
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
            "\(asked): 'read' was called for block \(block) \(times(asks[block] ?? 0)), and read it from the disk "
              + times(disk.count(block))
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

  private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

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
    let (count, blocks) = (5_000, 100)
    let asked =
      "\(count) tasks read at once, fifty of them the same each time, and the disk is not ready before all have come"
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
        for number in 1...count { group.addTask { await read(number % blocks) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      let times = (0..<blocks).reduce(0) { $0 + disk.count($1) }
      let fault: String? =
        if disk.readOnPool != nil {
          "one of them held a thread of the pool while it read. A line that is long is no reason for that"
        } else if let come = stuck.withLock({ $0 }) {
          "when \(come) had come, no other could: those who do not read yet hold the threads of the pool. A task that "
            + "waits for its turn is suspended"
        } else if right < count {
          "\(count - right) did not get what they asked for"
        } else if times != count {
          "the disk was read \(times) times. Each call reads it once, also if another reads the same block"
        } else {
          nil
        }
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
              + " got no thread for 5 s, because \(threads) reads blocked as many threads. On Linux the threads of "
              + "a global or concurrent queue are those of the tasks' pool: read on a queue that needs one thread"
            : "the pool went on, and \(right) read what they asked for")
      )
    }
  }

  /// Those that have threads of their own beside the ones of what is asked.
  private static let otherPriorities: [(String, TaskPriority)] = [
    ("low", .low), ("background", .background), ("high", .high),
    ("the highest", TaskPriority(rawValue: 33)),
  ]
}
