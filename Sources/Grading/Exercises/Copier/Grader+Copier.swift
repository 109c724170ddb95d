internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What a file or a cable does that fails.
private struct OutOfOrder: Error {}

/// What copiers are asked that need a permit of each of two limits.
extension Grader {
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
        preemptions: onePreemption,
        standstill: bothMayCopy
      ) {
        let copier = Copier(connections: 2, files: 2)
        try await meet(copier.download, copier.upload)
      },
      promise(
        "alike",
        "two downloads at the same time, neither of which ends before both have begun, then two uploads, two of each",
        tasks: ["a download", "a download", "an upload", "an upload"],
        preemptions: onePreemption,
        standstill: bothMayCopy
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
      keptOfAnswers("times three copies: one throws, one waits for it, one is cancelled") {
        let copier = Copier(connections: 1, files: 1)
        return {
          var second: Task<Void, Never>?
          try? await copier.download {
            second = Task { try? await copier.upload {} }
            // It comes, and waits.
            for _ in 1...3 { await Task.yield() }
            throw HeapTrial.Failure()
          }
          await second?.value
          let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try? await copier.download {}
          }
          await third.value
        }
      },
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

  /// Where two copies wait for each other inside, and never meet.
  private static let bothMayCopy =
    "Two copies here each end when the other is under way too. Both may be: look for what lets in one at a time, or is "
    + "held by one that waits"

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
      schedules: 1_500,
      standstill: bothMayCopy
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
      preemptions: onePreemption,
      standstill: bothMayCopy
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
      let pairs =
        (1...6).flatMap { one in (1...6).map { (one, $0) } } + [(40, 13), (11, 40), (1_100, 1_100)]
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
