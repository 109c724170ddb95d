internal import Basics
internal import Foundation
internal import LessonBook
internal import Limiters

/// Lesson 2: the exercise on operations.
extension Grader {
  /// An operation is over when its download is.
  package static func downloader<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook {
    // More than the threads of an operation queue: once they are blocked it gets about one more a second,
    // and not so many in the time that the question has.
    let many = max(64, 2 * ProcessInfo.processInfo.activeProcessorCount + 4)
    return GradeBook([
      downloads(type, "over", [6], limit: 2),
      downloads(type, "limit_reached", [many], limit: many, together: many),
      beginsAtOnce(type, many),
      listsTogether(type, many),
      threadsOfDownloads(type),
      downloads(type, "all", [100, 0, 5, 1], limit: 8),
      downloadLimits(type),
      nextBegins(type),
      limitOfLists(type, "limit_of_two", lists: 2, of: 12, limit: 3),
      limitOfLists(type, "limit_of_two", lists: 2, of: 4, limit: 1),
      limitOfLists(type, "limit_of_ones", lists: 300, of: 1, limit: 2, moments: 1),
      twoListsAtOnce(type),
      endsBeforeLater(type),
      longList(type),
      cancelledList(type, meanwhile: false),
      cancelledList(type, meanwhile: true),
      quietDownloads(type, cancelled: false),
      quietDownloads(type, cancelled: true),
      fileTwice(type),
      fileOfTwoLists(type),
      fileAgain(type),
      asAFileEnds(type),
      downloadersApart(type),
      downloadsKept(type),
      explored(type),
      exploredList(type),
    ])
  }

  /// Lists, one after the other.
  private static func downloads<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    _ name: String,
    _ counts: [Int],
    limit: Int,
    together: Int = 1
  ) -> GradeBook.Question {
    let lists = counts.map(String.init).joined(separator: ", then ")
    let asked =
      "\(lists) downloads, limit \(limit)"
      + (together > 1 ? ", none of which ends before all have begun" : "")
    let sight = LastSight()
    return .task(name, asked, seconds: 30, sight: sight) { _ in
      let downloader = Downloader(limit: limit)
      var sentence = ""
      for (list, count) in counts.enumerated() {
        let server = FakeServer(together: together)
        sight.tell {
          let counts = server.counts
          if count == 0 {
            return
              "'download' of no files has not returned. Nothing will come: return where there is nothing to fetch"
          }
          let underWay = counts.begun - counts.ended
          let advice =
            counts.begun < count && underWay < limit
            ? ". Look for what has one file wait for another: a 'start' that waits before it returns, a dependency"
            : ""
          return
            "\(counts.ended) of \(count) files have come, \(underWay) \(underWay == 1 ? "is" : "are") under way, "
            + "\(limit) may be at once, and nothing moves\(advice)"
        }
        let wanted = files(count, list: list)
        await downloader.download(wanted, server.fetch)
        // What is still under way when this returns is not over, whatever the queue says.
        let counts = server.counts
        sentence =
          "\(asked): \(counts.ended) of \(counts.begun) had ended when 'download' returned, and at most "
          + "\(counts.peak) ran at once"
        if counts.ended != count || counts.begun != count || counts.peak > limit {
          return GradeItem(name, passed: false, sentence)
        }
        if let fault = fault(in: counts.fetches, wanted) {
          return GradeItem(name, passed: false, "\(asked): \(fault)")
        }
      }
      return GradeItem(name, passed: true, sentence)
    }
  }

  /// Who starts an operation goes on with the next, not a moment later.
  private static func beginsAtOnce<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    _ many: Int
  ) -> GradeBook.Question {
    let name = "begins_at_once"
    let asked = "\(many) downloads, limit \(many), none of which ends before all have begun"
    return GradeBook.Question(name: name) { terms in
      let areAllAsleep = terms.areAllAsleep
      return GradeBook.Question.task(name, asked, seconds: 30) { _ in
        let server = FakeServer(together: many)
        let watch = AllAsleepWatch(
          due: many,
          begun: { server.counts.begun },
          areAllAsleep: areAllAsleep
        )
        await Downloader(limit: many).download(files(many), server.fetch)
        watch.end()
        let fault = watch.at.map {
          "\($0 == 0 ? "before one" : "when \($0)") had begun, every thread slept for a moment, and then the next began: a "
            + "'start' waits before it returns. Have it return at once"
        }
        return GradeItem(
          name,
          passed: fault == nil,
          "\(asked): \(fault ?? "they began without a pause")"
        )
      }.ask(terms)
    }
  }

  private static let fetchedByACancelledTask =
    "a file was fetched by a task that is cancelled, and most fetches bring none then. Fetch in a task that is not "
    + "cancelled with the one that asked"

  /// A list is no set, and a list is over when its last file has come, whichever that is.
  private static func fileTwice<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let wanted = listWithRepeats
    let asked =
      "\(wanted.count) downloads of four files, one of them three times, limit 2, one of which ends after all others"
    return .task("twice", asked, seconds: 30) { _ in
      for late in wanted.indices {
        let counts = Lock((begun: 0, ended: 0, fetches: [Int: Int]()))
        await Downloader(limit: 2).download(wanted) { file in
          let place = counts.withLock { counts in
            defer { counts.begun += 1 }
            counts.fetches[file, default: 0] += 1
            return counts.begun
          }
          await Moment.pass()
          if place == late {
            await Moment.pass(until: wanted.count - 1, patience: 500) {
              counts.withLock { $0.ended }
            }
            // Who does not wait for this one returns meanwhile.
            for _ in 1...5 { await Moment.pass() }
          }
          counts.withLock { $0.ended += 1 }
        }
        let (_, ended, fetches) = counts.withLock { $0 }
        let fault =
          fault(in: fetches, wanted)
          ?? (ended < wanted.count
            ? "'download' returned when \(ended) had ended. A file that is named twice has to come twice"
            : nil)
        if let fault { return GradeItem("twice", passed: false, "\(asked): \(fault)") }
      }
      return GradeItem("twice", passed: true, "\(asked): each was fetched as often as it was named")
    }
  }

  /// Who has all files goes on, whatever others have asked for since.
  private static func endsBeforeLater<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked =
      "two lists of 2 at once, limit 4, and no file of the second comes before the first has returned"
    return .task("ends_before_later", asked, seconds: 30) { _ in
      let downloader = Downloader(limit: 4)
      let (first, second) = (FakeServer(together: .max), FakeServer(together: .max))
      let hasReturned = Lock(false)
      let (early, late) = (files(2), files(2, list: 1))
      let one = Task {
        await downloader.download(early, first.fetch)
        hasReturned.withLock { $0 = true }
      }
      await Moment.pass(until: 2) { first.counts.begun }
      let other = Task { await downloader.download(late, second.fetch) }
      // Some have a list begin when the one before has ended, which is no fault.
      await Moment.pass(until: 2) { second.counts.begun }
      first.answerAll()
      let returned = await Moment.pass(until: 1) { hasReturned.withLock { $0 ? 1 : 0 } } == 1
      second.answerAll()
      await one.value
      await other.value
      return GradeItem(
        "ends_before_later",
        passed: returned,
        "\(asked): "
          + (returned
            ? "each returns when its own files have come"
            : "it did not return, though both its files had come: it waits for the files of another list")
      )
    }
  }

  /// The only file of a list holds no thread while it is under way, nor does the first of two.
  ///
  /// Each list has a downloader of its own: another list of the same one may have to wait for its end.
  private static func listsTogether<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    _ many: Int
  ) -> GradeBook.Question {
    let name = "lists_together"
    let asked =
      "\(many) downloaders with a list of one file each and \(many) with a list of two, limit 2, and no file comes before "
      + "all have begun"
    let sight = LastSight()
    return .task(name, asked, seconds: 30, sight: sight) { _ in
      let server = FakeServer(together: 3 * many)
      sight.tell {
        "\(server.counts.begun) of \(3 * many) files began, and no other does. A thread begins a file, and is "
          + "free until it has come; no thread waits for the end of a list"
      }
      let lists = (0..<2 * many).map { files($0 < many ? 1 : 2, list: $0) }
      await withTaskGroup { group in
        for list in lists {
          group.addTask { await Downloader(limit: 2).download(list, server.fetch) }
        }
      }
      let wrong = fault(in: server.counts.fetches, lists.flatMap(\.self))
      return GradeItem(
        name,
        passed: wrong == nil,
        "\(asked): \(wrong ?? "all were under way at once")"
      )
    }
  }

  /// Who waits for a file, or for the turn to ask for one, does not look for it again and again.
  private static func quietDownloads<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    cancelled: Bool
  ) -> GradeBook.Question {
    let asked =
      "two lists of 12 at once, limit 4, and no file comes for a second"
      + (cancelled ? ", while the tasks that asked for them are cancelled" : "")
    return QuietProcessor.question(asked) { aSecond in
      let server = FakeServer(together: .max)
      let downloader = Downloader(limit: 4)
      await withTaskGroup { group in
        for list in 0...1 {
          group.addTask { await downloader.download(files(12, list: list), server.fetch) }
        }
        while server.counts.begun < 4 { await Moment.pass() }
        if cancelled { group.cancelAll() }
        await aSecond()
        server.answerAll()
      }
    }
  }

  /// Which file was not fetched once; nil if each was.
  private static func fault(in fetches: [Int: Int], _ wanted: [Int]) -> String? {
    let counts = Dictionary(wanted.map { ($0, 1) }, uniquingKeysWith: +)
    if let file = wanted.first(where: { fetches[$0] != counts[$0] }) {
      return "file \(file) was fetched \(howOften(fetches[file, default: 0]))"
        + (counts[file] == 1 ? "" : ", and stands in the list \(counts[file, default: 0]) times")
    }
    let other = Set(fetches.keys).subtracting(wanted).min()
    return other.map { "file \($0) was fetched, which is in no list" }
  }

  /// Every limit is kept and reached, also when a short list comes meanwhile.
  private static func downloadLimits<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked =
      "limits from 1 to 12, 25, 40 and 64, twice as many files as may be downloaded at once, and a list of one that "
      + "comes meanwhile"
    let sight = LastSight()
    return .task("limits", asked, seconds: 60, sight: sight) { _ in
      for limit in Array(1...12) + [25, 40, 64] {
        let downloader = Downloader(limit: limit)
        let rendezvous = Rendezvous(of: limit)
        let server = FakeServer()
        let running = Lock((now: 0, peak: 0))
        let wanted = files(2 * limit)
        let fetch: @Sendable (Int) async -> Void = { file in
          running.withLock {
            $0.now += 1
            $0.peak = max($0.peak, $0.now)
          }
          // One too many gets the time to begin as well.
          await Moment.pass()
          if wanted.contains(file) {
            await rendezvous.come()
            await server.fetch(file)
          }
          running.withLock { $0.now -= 1 }
        }
        sight.tell {
          let (now, peak) = running.withLock { $0 }
          if server.counts.ended >= wanted.count, now == 0 {
            return
              "at a limit of \(limit), all \(wanted.count) files of the long list have come, and its 'download' has not "
              + "returned"
          }
          return
            "at a limit of \(limit), \(now) of the files are under way and no other begins, though the long list has "
            + "more" + (peak < limit ? "" : ". A list leaves the limit as it is for the others")
        }
        async let long: Void = downloader.download(wanted, fetch)
        await Moment.pass(until: limit, patience: 500) { running.withLock { $0.now } }
        await downloader.download([1], fetch)
        await long
        let peak = running.withLock { $0.peak }
        let fault =
          peak > limit
          ? "\(peak) ran at once at a limit of \(limit)"
          : fault(in: server.counts.fetches, wanted)
        if let fault { return GradeItem("limits", passed: false, "\(asked): \(fault)") }
      }
      return GradeItem("limits", passed: true, "\(asked): each is kept, and reached")
    }
  }

  /// A download begins when another is over, and not when all are.
  private static func nextBegins<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked = "three downloads, limit 2, the first of which ends when the last has begun"
    let sight = LastSight()
    let begun = Lock(0)
    sight.tell {
      begun.withLock { $0 } == 2
        ? "the third does not begin, though the second has come. Who ends makes room for the next at once, whatever "
          + "others do" : nil
    }
    return .task("next", asked, seconds: 30, sight: sight) { _ in
      let (lastBegins, signal) = Condition.makeCondition()
      await Downloader(limit: 2).download(files(3)) { _ in
        let number = begun.withLock { begun in
          begun += 1
          return begun
        }
        if number == 3 { signal.signal() }
        if number == 1 {
          try? await lastBegins.waitUncancellably()
        } else {
          await Moment.pass()
        }
      }
      return GradeItem("next", passed: true, "\(asked): it began when the second was over")
    }
  }

  /// `download` returns when its own files are there.
  private static func twoListsAtOnce<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked =
      "no files, then two lists at once, of 12 files that take long and 12 that do not, limit 24"
    return .task("two_at_once", asked, seconds: 30) { _ in
      let server = FakeServer()
      let downloader = Downloader(limit: 24)
      await downloader.download([], server.fetch)
      let lists = [files(12), files(12, list: 1)]
      let ended = Lock<Set<Int>>([])
      let fetch: @Sendable (Int) async -> Void = { file in
        await server.fetch(file)
        if lists[0].contains(file) { for _ in 1...40 { await Moment.pass() } }
        ended.withLock { _ = $0.insert(file) }
      }
      let download: @Sendable ([Int]) async -> Int = { list in
        await downloader.download(list, fetch)
        return list.count { file in !ended.withLock { $0.contains(file) } }
      }
      let early = await withTaskGroup { group in
        for list in lists {
          group.addTask { await download(list) }
          // The first list first.
          for _ in 1...5 { await Moment.pass() }
        }
        return await group.reduce(0, +)
      }
      let counts = server.counts
      let fault =
        early > 0
        ? "'download' returned when \(early) files of its list had not ended"
        : fault(in: counts.fetches, lists.flatMap(\.self))
      return GradeItem(
        "two_at_once",
        passed: fault == nil,
        "\(asked): "
          + (fault
            ?? "\(counts.ended) of \(counts.begun) had ended when both had returned, and at most "
            + "\(counts.peak) ran at once")
      )
    }
  }

  /// The limit holds for all calls together, also for those of one file.
  private static func limitOfLists<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    _ name: String,
    lists: Int,
    of count: Int,
    limit: Int,
    moments: Int = 20
  ) -> GradeBook.Question {
    let asked =
      "\(lists == 2 ? "two" : "\(lists)") lists at once, of \(count) \(count == 1 ? "file" : "files") each, limit \(limit)"
    return .task(name, asked, seconds: 30) { _ in
      let server = FakeServer(moments: moments)
      let downloader = Downloader(limit: limit)
      // Not in a group: who waits for one gives all its urgency.
      let tasks = (0..<lists).map { list in
        Task(priority: .inTurn(list)) {
          await downloader.download(files(count, list: list), server.fetch)
        }
      }
      for task in tasks { await task.value }
      let counts = server.counts
      let fault =
        counts.peak > limit
        ? "\(counts.peak) ran at once. The limit is the downloader's, whatever list a file stands in"
        : fault(in: counts.fetches, (0..<lists).flatMap { files(count, list: $0) })
      return GradeItem(
        name,
        passed: fault == nil,
        "\(asked): \(fault ?? "at most \(counts.peak) ran at once")"
          + (fault == nil && counts.peak < limit
            ? " (a barrier that ends one list keeps the next one waiting)" : "")
      )
    }
  }

  /// A list may be longer than any page of it, and a file come before who has begun it goes on.
  private static func longList<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let wanted = files(20_037)
    let limit = 16
    let asked = "\(wanted.count) downloads, limit \(limit), every other of which ends at once"
    let sight = LastSight()
    return .task("long_list", asked, seconds: 60, sight: sight) { _ in
      let fetches = Lock<[Int: Int]>([:])
      let underWay = Lock((now: 0, most: 0))
      sight.tell {
        "\(fetches.withLock { $0.count }) of \(wanted.count) files have come, and nothing moves. A file may have come "
          + "before who has begun it goes on: what is set then must not undo the end"
      }
      await Downloader(limit: limit).download(wanted) { file in
        underWay.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        // The others can be seen by who should have waited.
        if file.isMultiple(of: 2) { await Task.yield() }
        underWay.withLock { $0.now -= 1 }
        fetches.withLock { $0[file, default: 0] += 1 }
      }
      let most = underWay.withLock { $0.most }
      let fault =
        most > limit
        ? "\(most) ran at once. The limit holds for a list of any length"
        : fault(in: fetches.withLock { $0 }, wanted)
      return GradeItem(
        "long_list",
        passed: fault == nil,
        "\(asked): \(fault ?? "each file is there when 'download' returns")"
      )
    }
  }

  /// Who is cancelled gets all its files, and so does another: `download` has no error to tell of that.
  private static func cancelledList<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    meanwhile: Bool
  ) -> GradeBook.Question {
    let name = meanwhile ? "cancelled_meanwhile" : "cancelled"
    let asked =
      "two lists of 6, limit 2, one of whose tasks "
      + (meanwhile ? "is cancelled while it downloads" : "was cancelled before")
    let sight = LastSight()
    return .task(name, asked, seconds: 30, sight: sight) { _ in
      let downloader = Downloader(limit: 2)
      let server = FakeServer(together: .max)
      let lists = [files(6), files(6, list: 1)]
      let ended = Lock<Set<Int>>([])
      // How many files were missing when its 'download' returned.
      let download: @Sendable ([Int]) async -> Int = { list in
        await downloader.download(list) { file in
          await server.fetch(file)
          ended.withLock { _ = $0.insert(file) }
        }
        return ended.withLock { ended in list.count { !ended.contains($0) } }
      }
      let gone = Task {
        if !meanwhile { withUnsafeCurrentTask { $0?.cancel() } }
        return await download(lists[0])
      }
      await Moment.pass(until: 2) { server.counts.begun }
      let other = Task { await download(lists[1]) }
      // Until the other has come too, as a rule.
      for _ in 1...10 { await Moment.pass() }
      gone.cancel()
      for _ in 1...5 { await Moment.pass() }
      server.answerAll()
      let missing = [await gone.value, await other.value]
      let wrong = fault(in: server.counts.fetches, lists.flatMap(\.self))
      let tooMany =
        server.counts.peak > 2
        ? "\(server.counts.peak) files were fetched at once. Who is cancelled waits for a permit as others do"
        : nil
      let fault =
        missing[0] > 0
        ? "its 'download' returned, and \(missing[0]) of its files were not there. It has no error to tell of that, so "
          + "it fetches them all"
        : missing[1] > 0
          ? "the other's 'download' returned, and \(missing[1]) of its files were not there. Nobody cancelled that"
          : server.counts.cancelled > 0
            ? fetchedByACancelledTask
            : tooMany ?? wrong
      if let fault { return GradeItem(name, passed: false, "\(asked): \(fault)") }
      let later = FakeServer(together: 2)
      sight.tell {
        "when both were over, a list of 2 was sent, and \(later.counts.begun) of its files began. Who is cancelled "
          + "leaves the limit as it is for the lists that come later"
      }
      await downloader.download(files(2, list: 2), later.fetch)
      return GradeItem(
        name,
        passed: true,
        "\(asked): all files of both are fetched, and a later list reaches the limit"
      )
    }
  }

  /// Each list has its files fetched by its own 'fetch', and is over when those have come.
  private static func fileOfTwoLists<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let lists = [[8, 7], [7, 9], [8, 7]]
    let asked = "three lists at once that all name file 7, and of which two are alike, limit 6"
    return .task("in_two_lists", asked, seconds: 30) { _ in
      let downloader = Downloader(limit: 6)
      // Nothing is over before the last list has come.
      let servers = lists.map { _ in FakeServer(together: .max) }
      // How many files of a list had come when its 'download' returned.
      let returned = Lock<[Int: Int]>([:])
      let download: @Sendable (Int) async -> Void = { number in
        await downloader.download(lists[number], servers[number].fetch)
        returned.withLock { $0[number] = servers[number].counts.ended }
      }
      for number in lists.indices {
        Task { await download(number) }
        // Some have a list begin when the one before has ended, which is no fault.
        await Moment.pass(until: 2, patience: 100) { servers[number].counts.begun }
      }
      for server in servers { server.answerAll() }
      await Moment.pass(until: lists.count) { returned.withLock { $0.count } }
      let ends = returned.withLock { $0 }
      for (number, list) in lists.enumerated() {
        let fault =
          fault(in: servers[number].counts.fetches, list).map {
            "\($0). Each list has all its files fetched"
          }
          ?? (ends[number] == list.count
            ? nil
            : (ends[number].map { "'download' returned when \($0) of its files had come" }
              ?? "all its files have come, and 'download' does not return")
              + ". Lists that name the same files are two lists")
        guard let fault else { continue }
        return GradeItem(
          "in_two_lists",
          passed: false,
          "\(asked): of list \(number + 1), \(fault)"
        )
      }
      return GradeItem("in_two_lists", passed: true, "\(asked): it is fetched for each")
    }
  }

  /// Nothing is known of a list that is over: what it named may have changed, and the limit is what it was.
  private static func fileAgain<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let lists = Array(repeating: [[1, 7, 2], [7], [3, 2, 7, 4], []], count: 125).joined()
    let asked =
      "\(lists.count) lists one after the other, of which most name a file that another has named, limit 2"
    return .task("again", asked, seconds: 30) { _ in
      let downloader = Downloader(limit: 2)
      for (number, list) in lists.enumerated() {
        let server = FakeServer(moments: 0)
        await downloader.download(list, server.fetch)
        let counts = server.counts
        let fault =
          counts.peak > 2
          ? "\(counts.peak) files were fetched at once"
          : fault(in: counts.fetches, list).map { "\($0). Each list has all its files fetched" }
        guard let fault else { continue }
        return GradeItem("again", passed: false, "\(asked): of list \(number + 1), \(fault)")
      }
      return GradeItem("again", passed: true, "\(asked): each time it is fetched again")
    }
  }

  /// A downloader knows nothing of another's limit.
  private static func downloadersApart<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked = "two downloaders at once, one of limit 4 and one of limit 1"
    let sight = LastSight()
    return .task("apart", asked, seconds: 30, sight: sight) { _ in
      let (four, one) = (Downloader(limit: 4), Downloader(limit: 1))
      // None of the four ends before they are under way together.
      let servers = [FakeServer(together: 4), FakeServer()]
      sight.tell {
        let wide = servers[0].counts.begun
        return wide < 4
          ? "of the one of limit 4 \(wide) files began, and no other. Each downloader has a queue of its own, none that "
            + "is static" : nil
      }
      async let wide: Void = four.download(files(4), servers[0].fetch)
      async let narrow: Void = one.download(files(4), servers[1].fetch)
      _ = await (wide, narrow)
      let peaks = servers.map(\.counts.peak)
      return GradeItem(
        "apart",
        passed: peaks == [4, 1],
        "\(asked): at most \(peaks[0]) and \(peaks[1]) ran at once"
      )
    }
  }

  /// Of a list that is over, nothing is kept.
  private static func downloadsKept<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    keptOfList("a list that is over, of a downloader that is still there") {
      Downloader(limit: 2)
    } _: { downloader, witness in
      await downloader.download(files(5)) { _ in
        await Moment.pass()
        withExtendedLifetime(witness) {}
      }
    }
  }
}
