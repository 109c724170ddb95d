internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Limiters

extension Grader {
  /// Lesson 3: who waits holds no thread.
  package static func batch<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook {
    GradeBook([
      // Before the threads are counted: they pile up too where 'whenAll' does not wait for what holds them.
      batches(type, "limit", [(12, 3)]),
      returnsAtOnce(type),
      returnsInLine(type),
      returnsBeforeEnd(type),
      threadsOfBatch(type),
      threadsOfLists(type),
      filesInOrder(type),
      endOfFirstList(type),
      batches(type, "limits", (1...6).map { (3 * $0, $0) } + [(12, 9)]),
      batches(type, "again", [(6, 2), (0, 2), (1, 2), (7, 2)], shared: true),
      threeBatches(type),
      listsOfOne(type),
      sameFile(type),
      batchesApart(type),
      batchLetGo(type),
      idleBatches(type),
      quietBatch(type),
      keptOfLists(type),
      keptOfLast(type),
      namedTwice(type),
      sendsTheNext(type),
      asAFileEnds(type),
      asAListComes(type),
      explored(type),
      exploredLists(type),
      waitsAtEachLimit(type),
      exploredWide(type),
    ])
  }

  /// `once`, `3 times`.
  static func howOften(_ count: Int) -> String {
    count == 0 ? "not at all" : count == 1 ? "once" : "\(count) times"
  }

  /// Waits until something is so, as long as the library's threads may still bring it about.
  ///
  /// - Returns: whether it came to be.
  static func comes(_ isSo: () -> Bool) -> Bool {
    var patience = QuestionPatience(seconds: 20, sharesPool: false)
    let pool = PoolTurn()
    while !patience.isOver {
      let hasTurn = pool.looks()
      if comes(withinTenths: 1, isSo) { return true }
      patience.look(poolHasTurn: hasTurn, steps: 0, areAllAsleep: OtherThreads.areAllAsleep)
    }
    return isSo()
  }

  /// Waits until something is so, for so many tenths of a second.
  ///
  /// - Returns: whether it came to be.
  static func comes(withinTenths tenths: Int, _ isSo: () -> Bool) -> Bool {
    for _ in 0..<20 * tenths {
      if isSo() { return true }
      usleep(5_000)
    }
    return isSo()
  }

  /// Sends a list, of which no file comes before `mayEnd` is signalled, once for all.
  private static func send(
    _ list: [Int],
    to batch: some LearnerBatch,
    until mayEnd: DispatchSemaphore,
    _ watches: BatchWatch...
  ) {
    batch.download(list) { file in
      for watch in watches { watch.begin(file) }
      mayEnd.wait()
      mayEnd.signal()
      for watch in watches { watch.end() }
    } whenAll: {
      for watch in watches { watch.allHaveCome() }
    }
  }

  /// Waits for the end of all lists.
  ///
  /// - Returns: what is wrong with them; nil if nothing is.
  static func fault(
    of lists: [[Int]],
    _ watches: [BatchWatch],
    limit: Int
  ) -> String? {
    guard comes({ watches.allSatisfy(\.isOver) }) else {
      let (ended, count) = (watches.map(\.ended).reduce(0, +), lists.joined().count)
      return "'whenAll' was not called for each list"
        + (ended < count ? ": of \(count) files \(ended) have come" : "")
    }
    return zip(lists, watches).lazy.compactMap { $1.fault($0, limit: limit) }.first
  }

  /// A caller waits for no file, not even for the one that could begin at once.
  private static func returnsAtOnce<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let lists = [[7], [1, 2, 3], [4, 5, 6, 7]]
    return GradeBook.Question(name: "returns") { _ in
      for list in lists {
        let asked =
          "a list of \(list.count), limit 3, and no file comes before 'download' has returned"
        let batch = Batch(limit: 3)
        let watch = BatchWatch()
        let mayEnd = DispatchSemaphore(value: 0)
        let hasReturned = Lock(false)
        OSThread("caller") {
          send(list, to: batch, until: mayEnd, watch)
          hasReturned.withLock { $0 = true }
        }.detach()
        let returned = comes { hasReturned.withLock { $0 } }
        mayEnd.signal()
        let fault =
          returned
          ? fault(of: [list], [watch], limit: 3)
          : "it did not return. 'download' returns at once, and fetches on no thread of its caller"
        if let fault { return GradeItem("returns", passed: false, "\(asked): \(fault)") }
      }
      return GradeItem(
        "returns",
        passed: true,
        "lists of 1, 3 and 4, limit 3: 'download' returns before a file comes"
      )
    }
  }

  /// Nor does a caller wait for its turn, whatever it has sent.
  private static func returnsInLine<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    GradeBook.Question(name: "returns_in_line") { _ in
      // One is longer than any table of what waits.
      for list in [[], [7], [7, 8], files(20_037)] as [[Int]] {
        let asked =
          "a list of \(list.count), limit 1, while another file is under way and a third waits for the permit"
        let batch = Batch(limit: 1)
        let watches = [BatchWatch(), BatchWatch()]
        let mayEnd = DispatchSemaphore(value: 0)
        send([101, 102], to: batch, until: mayEnd, watches[0])
        _ = comes { watches[0].begun > 0 }
        let hasReturned = Lock(false)
        OSThread("caller") {
          send(list, to: batch, until: mayEnd, watches[1])
          hasReturned.withLock { $0 = true }
        }.detach()
        let returned = comes { hasReturned.withLock { $0 } }
        mayEnd.signal()
        let fault =
          returned
          ? fault(of: [[101, 102], list], watches, limit: 1)
          : "it did not return. 'download' returns at once, also if nothing can begin"
        if let fault { return GradeItem("returns_in_line", passed: false, "\(asked): \(fault)") }
      }
      return GradeItem(
        "returns_in_line",
        passed: true,
        "lists of 0, 1, 2 and 20037, limit 1, while others wait for the permit: 'download' returns at once"
      )
    }
  }

  /// Nor does a caller wait for what is to be done at the end, if there is nothing to fetch.
  private static func returnsBeforeEnd<Batch: LearnerBatch>(
    _ type: Batch.Type
  ) -> GradeBook.Question {
    GradeBook.Question(name: "returns_before_end") { _ in
      let asked = "a list of 0, whose 'whenAll' ends when 'download' has returned"
      let batch = Batch(limit: 1)
      let mayEnd = DispatchSemaphore(value: 0)
      let hasReturned = Lock(false)
      let hasEnded = Lock(false)
      OSThread("caller") {
        batch.download([]) { _ in
        } whenAll: {
          mayEnd.wait()
          hasEnded.withLock { $0 = true }
        }
        hasReturned.withLock { $0 = true }
      }.detach()
      let returned = comes { hasReturned.withLock { $0 } }
      mayEnd.signal()
      let ended = comes { hasEnded.withLock { $0 } }
      let fault =
        !returned
        ? "it did not return. 'download' returns at once, and calls 'whenAll' on no thread of its caller"
        : ended ? nil : "'whenAll' was not called"
      return GradeItem(
        "returns_before_end",
        passed: fault == nil,
        "\(asked): \(fault ?? "it returns")"
      )
    }
  }

  /// While the first of many is under way, a second thread may wait for the permit, and no third.
  private static func threadsOfBatch<Batch: LearnerBatch>(
    _ type: Batch.Type
  ) -> GradeBook.Question {
    heldThreads(
      type,
      "threads",
      "40 downloads, limit 1, the first of which takes some seconds",
      [Array(101...140)],
      advice: "Who has no permit should have no thread yet, nor who waits for the end of a list"
    )
  }

  /// Many lists at once have one gate, and not one each, whether they have two files or one.
  private static func threadsOfLists<Batch: LearnerBatch>(
    _ type: Batch.Type
  ) -> GradeBook.Question {
    heldThreads(
      type,
      "threads_of_lists",
      "200 lists of 2 and 200 of one file at once, limit 1, the first download of which takes some seconds",
      (0..<200).flatMap { [[3 * $0, 3 * $0 + 1], [3 * $0 + 2]] as [[Int]] },
      advice:
        "One thread may wait for the permit, not one for each list, and none for the end of a list"
    )
  }

  private static func heldThreads<Batch: LearnerBatch>(
    _ type: Batch.Type,
    _ name: String,
    _ asked: String,
    _ lists: [[Int]],
    advice: String
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { terms in
      let batch = Batch(limit: 1)
      let watches = lists.map { _ in BatchWatch() }
      let all = BatchWatch()
      let mayEnd = DispatchSemaphore(value: 0)
      let before = terms.threads()
      let hasReturned = Lock(false)
      OSThread("caller") {
        for (list, watch) in zip(lists, watches) {
          send(list, to: batch, until: mayEnd, watch, all)
        }
        hasReturned.withLock { $0 = true }
      }.detach()
      var held = 0
      // One works and one waits. The library may make one for itself besides, and keep one that has nothing to do:
      // where those of the questions before had gone, neither is among those counted before.
      func areHeld() -> Bool {
        held = terms.threads() - before
        return held > 4
      }
      // Where all threads wait, none is left for the first. By the clock: what asks whether the pool has a turn
      // would have the library make a thread for it.
      let begins = comes(withinTenths: 300) {
        hasReturned.withLock { $0 } && (areHeld() || watches.contains { $0.begun > 0 })
      }
      // The library sees that its threads are blocked, and adds one a second or so. It takes first those that have
      // nothing to do since the questions before, which are counted already.
      var isHeld = comes(withinTenths: 25, areHeld)
      let early = held
      isHeld = isHeld || comes(withinTenths: 25, areHeld)
      if !isHeld, held > early { isHeld = comes(withinTenths: 50, areHeld) }
      mayEnd.signal()
      let fault: String? =
        if !hasReturned.withLock({ $0 }) {
          "'download' waits, and holds the thread of its caller"
        } else if all.peak > 1 {
          "\(all.peak) ran at once"
        } else if isHeld {
          "\(held) threads are held, for one download. \(advice)"
        } else if !begins {
          "none began"
        } else {
          fault(of: lists, watches, limit: 1)
        }
      return GradeItem(
        name,
        passed: fault == nil,
        "\(asked): \(fault ?? "one thread works, and at most one waits")"
      )
    }
  }

  /// A list hears of its end at once, and not when there is a permit for another list.
  private static func endOfFirstList<Batch: LearnerBatch>(
    _ type: Batch.Type
  ) -> GradeBook.Question {
    let asked =
      "two lists of 2, limit 1, the second of which goes on when 'whenAll' of the first was called"
    return GradeBook.Question(name: "first_ends") { _ in
      let batch = Batch(limit: 1)
      let lists = [[1, 2], [3, 4]]
      let watches = lists.map { _ in BatchWatch() }
      let areSent = Lock(false)
      let isOver = Lock(false)
      let isLate = Lock(false)
      OSThread("caller") {
        for (number, list) in lists.enumerated() {
          batch.download(list) { file in
            watches[number].begin(file)
            // The second list stands behind the first before that ends, and waits for its end.
            let mayEnd = comes {
              number == 0 ? areSent.withLock { $0 } : isOver.withLock { $0 }
            }
            if !mayEnd { isLate.withLock { $0 = true } }
            watches[number].end()
          } whenAll: {
            watches[number].allHaveCome()
            if number == 0 { isOver.withLock { $0 = true } }
          }
        }
        areSent.withLock { $0 = true }
      }.detach()
      let wrong = fault(of: lists, watches, limit: 1)
      let fault =
        isLate.withLock { $0 } || wrong != nil && !isOver.withLock { $0 }
        ? "it was not called, though both files had come: it waits behind the other list's wait for a permit"
        : wrong
      return GradeItem(
        "first_ends",
        passed: fault == nil,
        "\(asked): \(fault ?? "each list heard of its own end")"
      )
    }
  }

  private static func batches<Batch: LearnerBatch>(
    _ type: Batch.Type,
    _ name: String,
    _ plans: [(files: Int, limit: Int)],
    shared: Bool = false
  ) -> GradeBook.Question {
    let words = plans.map { "\($0.files) at a limit of \($0.limit)" }
    let asked = "downloads: \(words.joined(separator: ", then "))"
    return GradeBook.Question(name: name) { _ in
      let common = Batch(limit: plans[0].limit)
      for (count, limit) in plans {
        let watch = BatchWatch()
        // Their numbers tell nothing of their places.
        let files = (0..<count).map { 1_000 + ($0 * 37) % 101 }
        let batch = shared ? common : Batch(limit: limit)
        batch.download(files) { file in
          watch.begin(file)
          // None of the first ends before as many run as may.
          _ = comes { watch.peak >= min(limit, count) }
          // One too many gets the time to begin as well: where many threads are blocked, GCD adds about one a second.
          if limit > 6 { _ = comes(withinTenths: 15) { watch.peak > limit } }
          usleep(2_000)
          watch.end()
        } whenAll: {
          watch.allHaveCome()
        }
        let areOver = comes { watch.isOver }
        // Before the end is asked for: those that run wait until as many run as may.
        let tooFew =
          !areOver && watch.begun > 0 && watch.peak < min(limit, count)
          ? "\(watch.peak) ran at once, and \(min(limit, count)) may" : nil
        let fault =
          tooFew ?? fault(of: [files], [watch], limit: limit)
          ?? (watch.peak >= min(limit, count)
            ? nil : "\(watch.peak) ran at once, and \(min(limit, count)) may")
        if let fault {
          let downloads = count == 1 ? "1 download" : "\(count) downloads"
          return GradeItem(name, passed: false, "\(downloads), limit \(limit): \(fault)")
        }
      }
      return GradeItem(name, passed: true, "\(asked): each limit is kept and reached")
    }
  }

  /// Lists at once share the limit and reach it, also before a short one, and each hears of its own end.
  private static func threeBatches<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked = "lists of 6, 6 and 1 at once, limit 2, the second of which takes longer"
    return GradeBook.Question(name: "three_lists") { _ in
      let batch = Batch(limit: 2)
      let all = BatchWatch()
      let lists = [Array(1...6), Array(7...12), [13]]
      let watches = lists.map { _ in BatchWatch() }
      for (list, watch) in zip(lists, watches) {
        batch.download(list) { file in
          all.begin(file)
          watch.begin(file)
          if list == lists[1] { _ = comes { watch.peak >= 2 } }
          usleep(list == lists[1] ? 20_000 : 2_000)
          watch.end()
          all.end()
        } whenAll: {
          watch.allHaveCome()
        }
      }
      let wrong = fault(of: lists, watches, limit: 2)
      let fault: String? =
        if all.peak > 2 {
          "\(all.peak) ran at once"
        } else if watches[1].begun > 0, watches[1].peak < 2 {
          "of the second list 1 ran at once, and 2 may. A list leaves the permits as they are for the others"
        } else {
          wrong
        }
      return GradeItem(
        "three_lists",
        passed: fault == nil,
        "\(asked): \(fault ?? "at most two ran at once, and each list heard of its own end")"
      )
    }
  }

  /// Three lists of one file each run as three files of a list do.
  private static func listsOfOne<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked = "3 lists of one file each, limit 3, and no file comes before all have begun"
    return GradeBook.Question(name: "lists_of_one") { _ in
      let batch = Batch(limit: 3)
      let together = BatchWatch()
      let lists = [[1], [2], [3]]
      let watches = lists.map { _ in BatchWatch() }
      let mayEnd = DispatchSemaphore(value: 0)
      for (list, watch) in zip(lists, watches) {
        send(list, to: batch, until: mayEnd, watch, together)
      }
      let areTogether = comes { together.running == 3 }
      let most = together.peak
      mayEnd.signal()
      let wrong = fault(of: lists, watches, limit: 3)
      let fault = areTogether ? wrong : "\(most) ran at once, and 3 may"
      return GradeItem(
        "lists_of_one",
        passed: fault == nil,
        "\(asked): \(fault ?? "they run at once, and each list heard of its own end")"
      )
    }
  }

  /// What another list has on its way is fetched all the same: each list has its files fetched by its own `fetch`.
  private static func sameFile<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked =
      "3 lists that all name file 7, two of them no other, limit 3, and no file comes before 3 have begun"
    return GradeBook.Question(name: "same_file") { _ in
      let batch = Batch(limit: 3)
      let together = BatchWatch()
      let lists = [[7], [7], [8, 7]]
      let watches = lists.map { _ in BatchWatch() }
      let mayEnd = DispatchSemaphore(value: 0)
      for (list, watch) in zip(lists, watches) {
        send(list, to: batch, until: mayEnd, watch, together)
      }
      let areTogether = comes { together.running == 3 }
      let most = together.peak
      mayEnd.signal()
      let wrong = fault(of: lists, watches, limit: 3)
      let count = together.count(of: 7)
      let fault =
        count != 3
        ? "it was fetched \(howOften(count)). Each list has it fetched"
        : areTogether ? wrong : "\(most) ran at once, and 3 may"
      return GradeItem(
        "same_file",
        passed: fault == nil,
        "\(asked): \(fault ?? "it is fetched for each")"
      )
    }
  }

  /// A batch knows nothing of another's permits.
  private static func batchesApart<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked = "two batches of limit 1 and 3 at once, and the first ends when the second has ended"
    return GradeBook.Question(name: "apart") { _ in
      let lists = [[1, 2, 3], [4, 5, 6]]
      let watches = [BatchWatch(), BatchWatch()]
      let mayEnd = DispatchSemaphore(value: 0)
      let (narrow, wide) = (Batch(limit: 1), Batch(limit: 3))
      send(lists[0], to: narrow, until: mayEnd, watches[0])
      _ = comes { watches[0].begun > 0 }
      let isReady = DispatchSemaphore(value: 1)
      send(lists[1], to: wide, until: isReady, watches[1])
      let isFree = comes { watches[1].isOver }
      mayEnd.signal()
      let fault =
        isFree
        ? fault(of: [lists[0]], [watches[0]], limit: 1)
          ?? fault(of: [lists[1]], [watches[1]], limit: 3)
        : watches[1].ended == lists[1].count
          ? "all files of the second have come, and its 'whenAll' was not called. Count under one lock, in one step, or "
            + "have a group count"
          : "the second waits for a permit of the first. Keep queues and permits in the batch, none that is static"
      return GradeItem(
        "apart",
        passed: fault == nil,
        "\(asked): \(fault ?? "each has its own permits")"
      )
    }
  }

  /// What was sent is downloaded, though nobody keeps the batch.
  private static func batchLetGo<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked = "4 downloads, limit 1, of a batch that nobody keeps"
    return GradeBook.Question(name: "let_go") { _ in
      let watch = BatchWatch()
      let mayEnd = DispatchSemaphore(value: 0)
      let list = [1, 2, 3, 4]
      send(list, to: Batch(limit: 1), until: mayEnd, watch)
      _ = comes { watch.begun > 0 || watch.isOver }
      mayEnd.signal()
      let fault = fault(of: [list], [watch], limit: 1)
      return GradeItem(
        "let_go",
        passed: fault == nil,
        "\(asked): \(fault ?? "all come all the same")"
      )
    }
  }

  /// A batch that has nothing to do holds no thread, nor does one that nobody keeps.
  private static func idleBatches<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let count = 12
    let asked =
      "\(count) batches, limit 3, each of which has downloaded one file, half of them kept"
    return GradeBook.Question(name: "idle") { terms in
      let before = terms.threads()
      let watches = (0..<count).map { _ in BatchWatch() }
      var kept: [Batch] = []
      for (number, watch) in watches.enumerated() {
        let batch = Batch(limit: 3)
        let mayEnd = DispatchSemaphore(value: 1)
        send([number], to: batch, until: mayEnd, watch)
        guard comes({ watch.isOver }) else { break }
        if number % 2 == 0 { kept.append(batch) }
      }
      let held = withExtendedLifetime(kept) { terms.threads() - before }
      let fault =
        watches.contains { !$0.isOver }
        ? "'whenAll' was not called for each"
        : held >= count / 2
          ? "\(held) threads are held, and there is nothing to do. Have a queue make threads when there is work"
          : nil
      return GradeItem("idle", passed: fault == nil, "\(asked): \(fault ?? "no thread is held")")
    }
  }

  /// Files begin in the order in which they were sent, however many wait and whoever sends them.
  private static func filesInOrder<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    // Their numbers tell nothing of their places.
    let numbers = (1...43).map { $0 * 17 % 44 }
    let ends = [1, 12, 13, 15, 40, 42, 43]
    let lists = zip([0] + ends, ends).map { Array(numbers[$0..<$1]) }
    let (sent, byWhenAll, byFetch) = (5, 5, 6)
    let asked =
      "lists of 1, 11, 1, 2 and 25, limit 1, all of which wait for the first file; then its 'whenAll' sends a list of 2, "
      + "and the next file's 'fetch' a list of 1"
    return GradeBook.Question(name: "order") { _ in
      let batch = Batch(limit: 1)
      let watches = lists.map { _ in BatchWatch() }
      let begun = Lock<[Int]>([])
      let mayEnd = DispatchSemaphore(value: 0)
      let returned = Lock<Set<Int>>([])
      let isLate = Lock(false)
      @Sendable func send(_ number: Int) {
        batch.download(lists[number]) { file in
          begun.withLock { $0.append(file) }
          watches[number].begin(file)
          mayEnd.wait()
          mayEnd.signal()
          if file == lists[1][0] {
            let isSent = comes { returned.withLock { $0.contains(byWhenAll) } }
            isLate.withLock { $0 = !isSent }
            send(byFetch)
          }
          watches[number].end()
        } whenAll: {
          watches[number].allHaveCome()
          if number == 0 { send(byWhenAll) }
        }
        returned.withLock { _ = $0.insert(number) }
      }
      for number in 0..<sent { send(number) }
      _ = comes { !begun.withLock { $0.isEmpty } }
      mayEnd.signal()
      let late =
        "the only file of the first list has come, the next one is under way, and the first list's 'whenAll' is not "
        + "called. It must not wait for what the other files wait for"
      let wrong = fault(of: lists, watches, limit: 1) ?? (isLate.withLock { $0 } ? late : nil)
      let order = begun.withLock { $0 }
      let early = zip(order, numbers).first { $0 != $1 }
      let fault =
        wrong ?? early.map { "file \($0) began before file \($1), which was sent before it" }
      return GradeItem(
        "order",
        passed: fault == nil,
        "\(asked): \(fault ?? "they begin in the order in which they were sent")"
      )
    }
  }

  /// Who waits for a permit sleeps meanwhile.
  private static func quietBatch<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    QuietProcessor.question("6 downloads, limit 1, the first of which takes more than a second") {
      aSecond in
      let batch = Batch(limit: 1)
      let watch = BatchWatch()
      let mayEnd = DispatchSemaphore(value: 0)
      send(Array(1...6), to: batch, until: mayEnd, watch)
      while watch.begun == 0 { await Moment.pass() }
      await aSecond()
      mayEnd.signal()
      while !watch.isOver { await Moment.pass() }
    }
  }

  /// A batch that lives on keeps nothing of the lists that have come.
  private static func keptOfLists<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    keptOfAnswers("lists of two files, one after the other, and as many empty ones, limit 1") {
      let batch = Batch(limit: 1)
      return {
        // The first file ends when both were sent: so the second has waited.
        let areSent = DispatchSemaphore(value: 0)
        await withCheckedContinuation { ended in
          batch.download([7, 8]) { file in
            if file == 7 { _ = areSent.wait(timeout: .now() + 1) }
          } whenAll: {
            ended.resume()
          }
          areSent.signal()
        }
        await withCheckedContinuation { ended in
          batch.download([]) { _ in
          } whenAll: {
            ended.resume()
          }
        }
      }
    }
  }

  /// Nor of the one that came last.
  private static func keptOfLast<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    keptOfList("a list of 3 that has come, limit 2, of a batch that is still there") {
      Batch(limit: 2)
    } _: { batch, witness in
      // None ends before all were sent: so one of them has waited.
      let areSent = DispatchSemaphore(value: 0)
      await withCheckedContinuation { ended in
        batch.download([1, 2, 3]) { _ in
          withExtendedLifetime(witness) {
            // Not for ever: who fetches in the call itself has not sent all before.
            _ = areSent.wait(timeout: .now() + 1)
            areSent.signal()
          }
        } whenAll: {
          withExtendedLifetime(witness) {}
          ended.resume()
        }
        areSent.signal()
      }
    }
  }

  /// A list is no set, and a list is over when its last file has come, whichever that is.
  private static func namedTwice<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let list = listWithRepeats
    let asked =
      "\(list.count) downloads of four files, one of them three times, limit 2, one of which ends after all others"
    return GradeBook.Question(name: "twice") { _ in
      for late in list.indices {
        let watch = BatchWatch()
        Batch(limit: 2).download(list) { file in
          if watch.begin(file) == late {
            _ = comes(withinTenths: 10) { watch.ended == list.count - 1 || watch.isOver }
            // Who does not wait for this one calls meanwhile.
            usleep(5_000)
          }
          watch.end()
        } whenAll: {
          watch.allHaveCome()
        }
        if let fault = fault(of: [list], [watch], limit: 2) {
          return GradeItem("twice", passed: false, "\(asked): \(fault)")
        }
      }
      return GradeItem("twice", passed: true, "\(asked): each came as often as it was named")
    }
  }
}
