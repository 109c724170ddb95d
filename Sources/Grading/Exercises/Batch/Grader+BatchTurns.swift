internal import Basics
internal import Dispatch
internal import LessonBook
internal import Limiters

// Lesson 3: what comes in between while a file ends or a list is sent, and what 'whenAll' may do.

extension Grader {
  /// Lists of which each is sent by the `whenAll` of the one before.
  private struct Chain {
    var lists: [[Int]]
    /// Whether each `whenAll` also waits for the end of the list that it has sent.
    var waits: Bool
    var limit = 1

    var asked: String {
      let counts = lists.map { "\($0.count)" }.joined(separator: ", ")
      return "lists of \(counts), limit \(limit), each sent by the 'whenAll' of the one before"
        + (waits ? ", which waits for its end" : "")
    }
  }

  /// Who hears of the end of a list may send the next, and wait for it.
  static func sendsTheNext<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let name = "sends_next"
    // Of an empty list too; with files enough that two could run at once; and so often that the ends do not wait for
    // each other.
    let chains = [
      Chain(lists: [[1, 2], [3]], waits: false),
      Chain(lists: [[1, 2], [3, 4, 5]], waits: true),
      Chain(lists: [[], [1]], waits: true),
      Chain(lists: [[1], [2], [3], [4], [5], [6]], waits: true),
      Chain(lists: [[1], [2], [3], [4]], waits: true, limit: 2),
    ]
    return GradeBook.Question(name: name) { _ in
      for chain in chains {
        if let fault = fault(of: chain, type) {
          return GradeItem(name, passed: false, "\(chain.asked): \(fault)")
        }
      }
      return GradeItem(
        name,
        passed: true,
        "two to six lists, limits 1 and 2, each sent by the 'whenAll' of the one before: all come"
      )
    }
  }

  private static func fault<Batch: LearnerBatch>(of chain: Chain, _ type: Batch.Type) -> String? {
    let lists = chain.lists
    let batch = Batch(limit: chain.limit)
    let all = BatchWatch()
    let watches = lists.map { _ in BatchWatch() }
    let mayGoOn = lists.map { _ in DispatchSemaphore(value: 0) }
    let sent = Lock((begun: 0, returned: 0))
    @Sendable func send(_ number: Int) {
      sent.withLock { $0.begun += 1 }
      batch.download(lists[number]) { file in
        all.begin(file)
        watches[number].begin(file)
        // One too many gets the time to begin as well, and a thread for it.
        if watches[number].begun == 1, lists[number].count > 2 {
          _ = Grader.comes(withinTenths: 10) { all.peak > 1 }
        }
        watches[number].end()
        all.end()
      } whenAll: {
        watches[number].allHaveCome()
        if number + 1 < lists.count {
          send(number + 1)
          if chain.waits { mayGoOn[number + 1].wait() }
        }
        mayGoOn[number].signal()
      }
      sent.withLock { $0.returned += 1 }
    }
    send(0)
    let comes = comes { watches.allSatisfy(\.isOver) }
    let (begun, returned) = sent.withLock { $0 }
    let last = begun - 1
    let hasAllOfLast = watches[last].ended == lists[last].count
    // Whoever still waits then waits for nothing.
    for semaphore in mayGoOn { semaphore.signal() }
    if all.peak > 1 { return "\(all.peak) ran at once" }
    if comes { return fault(of: lists, watches, limit: 1) }
    if returned < begun {
      return "'download' does not return there. Call 'whenAll' when no lock of yours is held"
    }
    if hasAllOfLast {
      return last == 0
        ? "the 'whenAll' of the first was not called"
        : "all files of list \(last + 1) have come, and its 'whenAll' was not called while \(last) others waited. One "
          + "that waits holds up no other"
    }
    return last > 0 && lists[last - 1].isEmpty
      ? "list \(last + 1) is never over. A 'whenAll' may wait, so call it on no queue that brings the files"
      : "list \(last + 1) is never over. Give the last permit back before 'whenAll' is called"
  }

  /// What comes while a thread tells that a file is over.
  private enum Newcomer: CaseIterable {
    /// A list, and nobody waits.
    case list
    /// A list, and another file waits for the permit.
    case listBehindAnother
    /// The end of another file of the same list.
    case end

    var limit: Int { self == .end ? 2 : 1 }

    /// Lists that are sent before, and the one that comes.
    var lists: [[Int]] {
      switch self {
      case .list: [[1], [3]]
      case .listBehindAnother: [[1], [2], [3]]
      case .end: [[1, 2]]
      }
    }

    var words: String {
      switch self {
      case .list: "limit 1: a list is sent just as the only file ends"
      case .listBehindAnother:
        "limit 1: a list is sent just as a file ends, and another file waits for the permit"
      case .end: "limit 2: two files of a list end at the same moment"
      }
    }
  }

  /// Between two locks of the batch's, others come and go.
  static func asAFileEnds<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let name = "as_a_file_ends"
    return GradeBook.Question(name: name) { _ in
      for newcomer in Newcomer.allCases {
        // Few answers have more locks than that.
        for point in 1...20 {
          let (fault, isReached) = meet(type, newcomer, at: point)
          if let fault { return GradeItem(name, passed: false, "\(newcomer.words): \(fault)") }
          if !isReached { break }
        }
      }
      return GradeItem(
        name,
        passed: true,
        "files that end just as another list is sent, or as another file ends: each list heard of its own end"
      )
    }
  }

  /// Has a file end, and somebody come at a point of the thread on which it does.
  ///
  /// - Returns: what is wrong, and whether there is such a point.
  private static func meet<Batch: LearnerBatch>(
    _ type: Batch.Type,
    _ newcomer: Newcomer,
    at point: Int
  ) -> (fault: String?, isReached: Bool) {
    let batch = Batch(limit: newcomer.limit)
    let lists = newcomer.lists
    let watches = lists.map { _ in BatchWatch() }
    let all = BatchWatch()
    let order = Lock<[Int]>([])
    let (mayEnd, othersMayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let turns = Lock<[LockTurn]>([])
    @Sendable func send(_ number: Int) {
      batch.download(lists[number]) { file in
        watches[number].begin(file)
        all.begin(file)
        order.withLock { $0.append(file) }
        let mine = file == 1 ? mayEnd : othersMayEnd
        mine.wait()
        mine.signal()
        all.end()
        watches[number].end()
        if file == 1 { turns.withLock { $0.first }?.begin() }
      } whenAll: {
        watches[number].allHaveCome()
      }
    }
    let isPast = Lock(false)
    let turn = LockTurn(at: point) {
      if newcomer == .end { othersMayEnd.signal() } else { send(lists.count - 1) }
      OthersAtRest.waitForOthersAtLocks()
      isPast.withLock { $0 = true }
    }
    turns.withLock { $0 = [turn] }
    for number in 0..<max(1, lists.count - 1) { send(number) }
    _ = comes { watches[0].begun == newcomer.limit }
    mayEnd.signal()
    // Until the thread has told of the end, or somebody has come meanwhile.
    _ = comes(withinTenths: 1) { newcomer == .list && watches[0].isOver }
    OthersAtRest.wait { isPast.withLock { $0 } }
    let isReached = !turn.giveUp()
    if isReached { _ = comes { isPast.withLock { $0 } } }
    if !isReached, newcomer != .end { send(lists.count - 1) }
    // Who begins now does so beside the list that has come.
    OthersAtRest.wait()
    let most = all.peak
    othersMayEnd.signal()
    let areOver = comes { watches.allSatisfy(\.isOver) }
    let fault: String? =
      if most > newcomer.limit {
        "\(most) ran at once"
      } else if areOver {
        fault(of: lists, watches, limit: newcomer.limit)
          ?? (newcomer == .listBehindAnother && order.withLock { $0 } != [1, 2, 3]
            ? "the new list's file began before the one that waited. Hand the permit to who waits, under one lock, in one "
              + "step" : nil)
      } else if watches.contains(where: { $0.begun == 0 }) {
        "a file waits for ever, though no other is under way. Look whether somebody waits, and give the permit back, "
          + "under one lock, in one step"
      } else {
        "all files have come, and a 'whenAll' was not called. Count under one lock, in one step, or have a group count"
      }
    return (fault, isReached)
  }

  /// The files of a list may all have come before the next of it is counted.
  static func asAListComes<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let name = "as_a_list_comes"
    let list = [1, 2, 3, 4]
    let asked =
      "a list of 4, limit 4, whose first files come while 'download' still sends the others"
    return GradeBook.Question(name: name) { _ in
      for point in 1...20 {
        let batch = Batch(limit: 4)
        let watch = BatchWatch()
        let turn = LockTurn(at: point) { OthersAtRest.waitForOthersAtLocks() }
        OSThread("caller") {
          turn.begin()
          batch.download(list) { file in
            watch.begin(file)
            watch.end()
          } whenAll: {
            watch.allHaveCome()
          }
        }.join()
        let isReached = !turn.giveUp()
        OthersAtRest.wait { watch.isOver && watch.ended == list.count }
        if let fault = fault(of: [list], [watch], limit: 4) {
          return GradeItem(name, passed: false, "\(asked): \(fault)")
        }
        if !isReached { break }
      }
      return GradeItem(name, passed: true, "\(asked): 'whenAll' was called once, when all had come")
    }
  }
}
