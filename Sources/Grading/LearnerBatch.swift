internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Limiters

/// What a learner mends in the exercise on GCD: files that are downloaded so many at once, by calls that block.
package protocol LearnerBatch: Sendable {
  /// Makes a batch of at most `limit` downloads at once.
  init(limit: Int)

  /// Begins to download the files, each with one call of `fetch`, which blocks its thread; returns at once.
  ///
  /// - Parameters:
  ///   - files: the numbers of the files.
  ///   - fetch: downloads one.
  ///   - whenAll: to be called once all have come.
  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  )
}

/// What one batch of downloads has done.
private final class BatchWatch: Sendable {
  private struct State {
    var running = 0
    var peak = 0
    var fetched: [Int: Int] = [:]
    /// How many had ended when `whenAll` was called, each time it was.
    var endedAtCall: [Int] = []
    var ended = 0
    var begun = 0
  }

  private let state = Lock(State())

  func begin(_ file: Int) {
    state.withLock {
      $0.begun += 1
      $0.running += 1
      $0.peak = max($0.peak, $0.running)
      $0.fetched[file, default: 0] += 1
    }
  }

  func end() {
    state.withLock {
      $0.running -= 1
      $0.ended += 1
    }
  }

  func allHaveCome() { state.withLock { $0.endedAtCall.append($0.ended) } }

  var begun: Int { state.withLock { $0.begun } }
  var running: Int { state.withLock { $0.running } }
  var peak: Int { state.withLock { $0.peak } }
  var isOver: Bool { state.withLock { !$0.endedAtCall.isEmpty } }

  /// What is wrong with a batch of `files` that is over; nil if nothing is.
  func fault(_ files: [Int], limit: Int) -> String? {
    state.withLock { state in
      if state.peak > limit { return "\(state.peak) ran at once" }
      // Before the files are counted, some of which had not been begun then.
      if let ended = state.endedAtCall.first, ended < files.count {
        return "'whenAll' was called when \(ended) of \(files.count) had come"
      }
      if let file = files.first(where: { state.fetched[$0] != 1 }) {
        return "file \(file) was fetched \(state.fetched[file, default: 0]) times"
      }
      if state.fetched.count != files.count { return "a file was fetched that is in no list" }
      if state.endedAtCall.count > 1 {
        return "'whenAll' was called \(state.endedAtCall.count) times"
      }
      return nil
    }
  }
}

extension Grader {
  /// Lesson 3: who waits holds no thread.
  package static func batch<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook {
    GradeBook([
      // Before the threads are counted: they pile up too where 'whenAll' does not wait for what holds them.
      batches(type, "limit", [(12, 3)]),
      threadsOfBatch(type),
      threadsOfLists(type),
      endOfFirstList(type),
      batches(type, "limits", (1...6).map { (3 * $0, $0) }),
      batches(type, "again", [(6, 2), (0, 2), (1, 2), (7, 2)], shared: true),
      twoBatches(type),
    ])
  }

  /// Waits until something is so, a tenth of a second at a time.
  ///
  /// - Returns: whether it came to be.
  private static func comes(looks: Int, _ isSo: () -> Bool) -> Bool {
    for _ in 0..<looks {
      if isSo() { return true }
      usleep(100_000)
    }
    return isSo()
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
      advice: "Who has no permit should have no thread yet"
    )
  }

  /// Sixty lists at once have one gate, and not one each.
  private static func threadsOfLists<Batch: LearnerBatch>(
    _ type: Batch.Type
  ) -> GradeBook.Question {
    heldThreads(
      type,
      "threads_of_lists",
      "60 lists of 2 at once, limit 1, the first download of which takes some seconds",
      (0..<60).map { [2 * $0 + 1, 2 * $0 + 2] },
      advice: "One thread may wait for the permit, not one for each list"
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
      let mayEnd = DispatchSemaphore(value: 0)
      let before = terms.threads()
      let hasReturned = Lock(false)
      OSThread("caller") {
        for (list, watch) in zip(lists, watches) {
          batch.download(list) { file in
            watch.begin(file)
            mayEnd.wait()
            mayEnd.signal()
            watch.end()
          } whenAll: {
            watch.allHaveCome()
          }
        }
        hasReturned.withLock { $0 = true }
      }.detach()
      var held = 0
      // One works and one waits; the library may make a thread for itself besides.
      func areHeld() -> Bool {
        held = terms.threads() - before
        return held > 3
      }
      // Where all threads wait, none is left for the first.
      let begins = comes(looks: 100) {
        hasReturned.withLock { $0 } && (areHeld() || watches.contains { $0.begun > 0 })
      }
      // The library sees that its threads are blocked, and adds one a second or so.
      let isHeld = comes(looks: 50, areHeld)
      mayEnd.signal()
      let fault: String? =
        if !hasReturned.withLock({ $0 }) {
          "'download' waits, and holds the thread of its caller"
        } else if isHeld {
          "\(held) threads are held, for one download. \(advice)"
        } else if !begins {
          "none began within ten seconds"
        } else if !comes(looks: 300, { watches.allSatisfy(\.isOver) }) {
          "'whenAll' was not called within thirty seconds"
        } else {
          zip(lists, watches).lazy.compactMap { $1.fault($0, limit: 1) }.first
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
      let (areSent, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isLate = Lock(false)
      OSThread("caller") {
        for (number, list) in lists.enumerated() {
          batch.download(list) { file in
            watches[number].begin(file)
            // The second list stands behind the first before that ends, and waits for its end.
            let awaited = number == 0 ? areSent : isOver
            if awaited.wait(timeout: .now() + .seconds(10)) == .timedOut {
              isLate.withLock { $0 = true }
            }
            awaited.signal()
            watches[number].end()
          } whenAll: {
            watches[number].allHaveCome()
            if number == 0 { isOver.signal() }
          }
        }
        areSent.signal()
      }.detach()
      let areOver = comes(looks: 600) { watches.allSatisfy(\.isOver) }
      let fault: String? =
        if isLate.withLock({ $0 }) {
          "it was not called, though both files had come: it waits behind the other list's wait for a permit"
        } else if !areOver {
          "'whenAll' was not called for both within a minute"
        } else {
          zip(lists, watches).lazy.compactMap { $1.fault($0, limit: 1) }.first
        }
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
        let together = DispatchSemaphore(value: 0)
        // Their numbers tell nothing of their places.
        let files = (0..<count).map { 1_000 + ($0 * 37) % 101 }
        let batch = shared ? common : Batch(limit: limit)
        batch.download(files) { file in
          watch.begin(file)
          // None of the first ends before as many run as may.
          if watch.peak < min(limit, count) {
            _ = together.wait(timeout: .now() + .seconds(20))
          }
          together.signal()
          // One too many gets the time to begin as well.
          usleep(2_000)
          watch.end()
        } whenAll: {
          watch.allHaveCome()
        }
        let isOver = comes(looks: 600) { watch.isOver }
        let reached = watch.peak >= min(limit, count)
        let fault =
          !isOver
          ? "'whenAll' was not called within a minute"
          : watch.fault(files, limit: limit)
            ?? (reached ? nil : "\(watch.peak) ran at once, and \(min(limit, count)) may")
        if let fault {
          return GradeItem(name, passed: false, "\(count) downloads, limit \(limit): \(fault)")
        }
      }
      return GradeItem(name, passed: true, "\(asked): each limit is kept and reached")
    }
  }

  /// Two lists at once share the limit, and each hears of its own end.
  private static func twoBatches<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let asked = "two lists of 6 at once, limit 2, the second of which takes longer"
    return GradeBook.Question(name: "two_lists") { _ in
      let batch = Batch(limit: 2)
      let both = BatchWatch()
      let watches = [BatchWatch(), BatchWatch()]
      let lists = [Array(1...6), Array(7...12)]
      for (list, watch) in zip(lists, watches) {
        batch.download(list) { file in
          both.begin(file)
          watch.begin(file)
          usleep(file > 6 ? 20_000 : 2_000)
          watch.end()
          both.end()
        } whenAll: {
          watch.allHaveCome()
        }
      }
      let areOver = comes(looks: 600) { watches.allSatisfy(\.isOver) }
      let fault =
        !areOver
        ? "'whenAll' was not called for both within a minute"
        : both.peak > 2
          ? "\(both.peak) ran at once"
          : zip(lists, watches).lazy.compactMap { $1.fault($0, limit: 2) }.first
      return GradeItem(
        "two_lists",
        passed: fault == nil,
        "\(asked): \(fault ?? "at most two ran at once, and each list heard of its own end")"
      )
    }
  }
}
