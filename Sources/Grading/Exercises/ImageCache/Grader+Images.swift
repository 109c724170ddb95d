internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What becomes of an image when fetches fail, when tasks that ask for it are cancelled, and beside others.
extension Grader {
  /// Whatever the error and however often: the next who asks has it fetched again, and then it is there.
  static func fetchesThatFail<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let asked = "up to five fetches fail, one after the other, and two thousand"
    return .task("failures", asked, seconds: 30) { _ in
      let errors: [any Error] = [FakeNetwork.Offline(), CancellationError()]
      for (failures, error) in (Array(1...5) + [2_000]).flatMap({ count in
        errors.map { (count, $0) }
      }) {
        let network = FakeNetwork(failures: failures, failure: error)
        let cache = Cache(fetch: network.fetch)
        func refused(_ why: String) -> GradeItem {
          let count =
            failures == 1 ? "a fetch fails" : "\(failures) fetches fail, one after the other,"
          return GradeItem("failures", passed: false, "\(count) with \(error): \(why)")
        }
        for number in 1...failures + 3 {
          let result: Result<[UInt8], any Error>
          do { result = .success(try await cache.image("logo")) } catch { result = .failure(error) }
          let due = min(number, failures + 1)
          guard network.count("logo") == due else {
            return refused(
              "when \(number == 1 ? "one" : "\(number)") had asked, the image had been fetched "
                + "\(howOften(network.count("logo"))), and \(howOften(due)) was expected"
            )
          }
          switch result {
          case .success(let image):
            guard number > failures else { return refused("number \(number) was not told") }
            guard image == Array("logo".utf8) else { return refused("a wrong image") }
          case .failure(let told):
            guard number <= failures else {
              return refused("number \(number) was told \(told), though its fetch did not fail")
            }
            guard Swift.type(of: told) == Swift.type(of: error) else {
              return refused("number \(number) was told \(told)")
            }
          }
        }
      }
      return GradeItem("failures", passed: true, "\(asked): each is told, and the next asks again")
    }
  }

  /// Each is told the error of its own fetch, and what fails of one image takes none away that is there.
  static func failuresOfItsOwn<Cache: LearnerImageCache>(
    _ type: Cache.Type
  ) -> GradeBook.Question {
    let name = "failures_of_its_own"
    let asked =
      "an image is there, three fetches of another fail, each with an error of its own, and then both are asked for"
    return .task(name, asked, seconds: 30) { _ in
      let fetches = Lock<[String: Int]>([:])
      let cache = Cache { name in
        let number = fetches.withLock {
          $0[name, default: 0] += 1
          return $0[name, default: 0]
        }
        if name == "logo", number <= 3 { throw Failed(name: name, number: number) }
        return Array(name.utf8)
      }
      func refused(_ why: String) -> GradeItem {
        GradeItem(name, passed: false, "\(asked): \(why)")
      }
      _ = try? await cache.image("photo")
      for number in 1...3 {
        do {
          _ = try await cache.image("logo")
          return refused("fetch \(number) failed, and who asked was not told")
        } catch let error as Failed where error.number == number {
        } catch let error as Failed {
          return refused(
            "fetch \(number) failed, and who asked was told the error of fetch \(error.number)"
          )
        } catch {
          return refused("fetch \(number) failed, and who asked was told \(error)")
        }
      }
      for name in ["logo", "photo"] {
        guard (try? await cache.image(name)) == Array(name.utf8) else {
          return refused("'\(name)' did not come")
        }
      }
      let count = fetches.withLock { $0["photo", default: 0] }
      guard count == 1 else {
        return refused("'photo' was there, and was fetched again after the failures of the other")
      }
      return GradeItem(name, passed: true, "\(asked): each was told its own error, and both came")
    }
  }

  /// Who waits for a fetch that fails is told, and does not fetch again: both of two, in one schedule at least.
  static func failureForBoth<Cache: LearnerImageCache>(
    _ type: Cache.Type,
    with failure: any Error & Sendable = FakeNetwork.Offline()
  ) -> GradeBook.Question {
    let asked = "the first fetch fails with \(failure), two ask, and one asks again"
    return GradeBook.Question(name: "failure") { terms in
      let mostTold = Lock(0)
      let item = promise("failure", asked) {
        let network = FakeNetwork(failures: 1, failure: failure)
        let cache = Cache(fetch: network.fetch)
        let askers = (1...2).map { number in
          Task(priority: .inTurn(number)) { try await cache.image("logo") }
        }
        var errors = 0
        for task in askers {
          switch await task.result {
          case .success(let image): try require(image == Array("logo".utf8), "a wrong image")
          case .failure(let told):
            try require(
              Swift.type(of: told) == Swift.type(of: failure),
              "who asked was told \(told)"
            )
            errors += 1
          }
        }
        let told = errors
        mostTold.withLock { $0 = max($0, told) }
        try require(errors > 0, "nobody was told that the fetch failed")
        let image = try? await cache.image("logo")
        try require(image == Array("logo".utf8), "it was never fetched again")
        try require(
          network.count("logo") == 2,
          "it was fetched \(network.count("logo")) times, not 2"
        )
      }.ask(terms)
      guard item.passed, mostTold.withLock({ $0 }) < 2 else { return item }
      return GradeItem(
        "failure",
        passed: false,
        "\(asked): in no schedule were both told. A task that waits for a fetch which fails must get its error; "
          + "yours begins another fetch"
      )
    }
  }

  /// What a fetch of `failureForAll` fails with.
  private struct Failed: Error {
    var name: String
    var number: Int
  }

  /// However many wait for a fetch that fails, each is told, of its own image, and who asks then has it fetched again:
  /// all of them, in one schedule at least.
  static func failureForAll<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let asked = "four ask for one image and two for another, both fetches fail, and each asks again"
    return GradeBook.Question(name: "failure_for_all") { terms in
      let mostTold = Lock(0)
      let item = promise("failure_for_all", asked, preemptions: 0, schedules: 300) {
        let (haveBegun, begins) = Condition.makeCondition()
        let (mayFail, fails) = Condition.makeCondition()
        let fetches = Lock<[String: Int]>([:])
        let cache = Cache { name in
          let number = fetches.withLock {
            $0[name, default: 0] += 1
            return $0[name, default: 0]
          }
          guard number == 1 else { return Array(name.utf8) }
          begins.signal()
          try await mayFail.waitUncancellably()
          throw Failed(name: name, number: number)
        }
        let told = Lock(0)
        let ask: @Sendable (String) async throws -> Void = { name in
          do {
            try require(try await cache.image(name) == Array(name.utf8), "a wrong image")
          } catch let error as Failed {
            try require(
              error.name == name,
              "who asked for '\(name)' was told that the fetch of '\(error.name)' had failed"
            )
            told.withLock { $0 += 1 }
            do {
              try require(try await cache.image(name) == Array(name.utf8), "a wrong image")
            } catch is Failed {
              try require(false, "a task that asked after the failure got the old error")
            }
          }
        }
        let askers = ["logo", "logo", "photo", "logo", "photo", "logo"].map { name in
          Task { try await ask(name) }
        }
        for _ in 1...2 { try await haveBegun.waitUncancellably() }
        for _ in 1...2 { fails.signal() }
        for asker in askers { try await asker.value }
        let count = told.withLock { $0 }
        mostTold.withLock { $0 = max($0, count) }
      }.ask(terms)
      let most = mostTold.withLock { $0 }
      guard item.passed, most < 6 else { return item }
      return GradeItem(
        "failure_for_all",
        passed: false,
        "\(asked): at most \(most) of the six were told of the failure. However many wait for a fetch that fails, each "
          + "gets its error, and nobody fetches again before"
      )
    }
  }

  /// A fetch that fails is over, also if nobody is left who waits for it: in one schedule at least the next who asks
  /// comes when that is known.
  static func failureForNobody<Cache: LearnerImageCache>(
    _ type: Cache.Type
  ) -> GradeBook.Question {
    let asked = "one asks and is cancelled while it waits, its fetch fails, and another asks later"
    return GradeBook.Question(name: "failed_for_nobody") { terms in
      let begunAnew = Lock(0)
      let item = promise("failed_for_nobody", asked, preemptions: onePreemption) {
        let (mayFail, signal) = Condition.makeCondition()
        let fetches = Lock(0)
        let cache = Cache { name in
          let number = fetches.withLock {
            $0 += 1
            return $0
          }
          guard number > 1 else {
            // Not before the task that waits for it has been cancelled.
            try await mayFail.waitUncancellably()
            throw FakeNetwork.Offline()
          }
          await Task.yield()
          try Task.checkCancellation()
          return Array(name.utf8)
        }
        let gone = Task { try await cache.image("logo") }
        await Task.yield()
        gone.cancel()
        signal.signal()
        _ = await gone.result
        let logo = Array("logo".utf8)
        do {
          if try await cache.image("logo") == logo { begunAnew.withLock { $0 += 1 } }
        } catch is CancellationError {
          try require(
            false,
            "the one who asked later was told that it was cancelled, and nobody cancelled it: what the first one did "
              + "as it left came to the fetch after its own"
          )
        } catch is FakeNetwork.Offline {}
        let last = try? await cache.image("logo")
        try require(last == logo, "it was never fetched again")
      }.ask(terms)
      guard item.passed, begunAnew.withLock({ $0 }) == 0 else { return item }
      return GradeItem(
        "failed_for_nobody",
        passed: false,
        "\(asked): in every schedule the next who asked was told of the old failure. Forget a fetch that fails, whoever "
          + "waits for it"
      )
    }
  }

  /// Nor is it kept where those who waited had left before it failed: in one schedule at least the next who asks comes
  /// when the failure is known.
  static func failureAfterAllLeft<Cache: LearnerImageCache>(
    _ type: Cache.Type
  ) -> GradeBook.Question {
    let asked =
      "two ask and are cancelled while they wait; when they have left, their fetch fails, and another asks"
    return GradeBook.Question(name: "failed_after_all_left") { terms in
      let schedules = Lock((left: 0, anew: 0))
      let item = promise("failed_after_all_left", asked, preemptions: 0, schedules: 300) {
        let (mayFail, signal) = Condition.makeCondition()
        let fetches = Lock(0)
        let cache = Cache { name in
          let number = fetches.withLock {
            $0 += 1
            return $0
          }
          guard number > 1 else {
            try? await mayFail.waitUncancellably()
            throw FakeNetwork.Offline()
          }
          return Array(name.utf8)
        }
        let left = Lock(0)
        let wait: @Sendable () async -> Void = {
          _ = try? await cache.image("logo")
          left.withLock { $0 += 1 }
        }
        let gone = (1...2).map { _ in Task { await wait() } }
        // Each of these yields lets others go as far as they can; a right cache needs a few.
        for _ in 1...10 { await Task.yield() }
        for task in gone { task.cancel() }
        for _ in 1...10 { await Task.yield() }
        let haveLeft = left.withLock { $0 } == 2
        signal.signal()
        for _ in 1...20 { await Task.yield() }
        let image = try? await cache.image("logo")
        guard haveLeft else { return }
        schedules.withLock {
          $0.left += 1
          if image == Array("logo".utf8) { $0.anew += 1 }
        }
      }.ask(terms)
      let (left, anew) = schedules.withLock { $0 }
      guard item.passed, left > 0, anew == 0 else { return item }
      return GradeItem(
        "failed_after_all_left",
        passed: false,
        "\(asked): in every schedule it was told of the old failure. A fetch that fails is forgotten also when nobody "
          + "waits for it any more"
      )
    }
  }

  /// A fetch that goes on when all who waited for it have left is on its way as before: who asks then joins it.
  static func leftAlone<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "left_alone",
      "one asks and is cancelled while it waits; its fetch is on its way still, and another asks",
      tasks: ["the one that is cancelled", "the other"],
      preemptions: 0,
      schedules: 300
    ) {
      let (hasBegun, begins) = Condition.makeCondition()
      let (mayEnd, ends) = Condition.makeCondition()
      let (hasEnded, tellsEnd) = Condition.makeCondition()
      let first = Lock((hasBegun: false, isUnderWay: false, wasCancelled: false, meets: false))
      let cache = Cache { name in
        let isFirst = first.withLock {
          $0.meets = $0.meets || $0.isUnderWay
          let isFirst = !$0.hasBegun
          $0.hasBegun = true
          $0.isUnderWay = $0.isUnderWay || isFirst
          return isFirst
        }
        guard isFirst else { return Array(name.utf8) }
        begins.signal()
        try? await mayEnd.waitUncancellably()
        first.withLock {
          $0.isUnderWay = false
          $0.wasCancelled = Task.isCancelled
        }
        tellsEnd.signal()
        return Array(name.utf8)
      }
      let gone = Task { try await cache.image("logo") }
      try await hasBegun.waitUncancellably()
      gone.cancel()
      // Each of these yields lets others go as far as they can; a right cache needs a few.
      for _ in 1...10 { await Task.yield() }
      let other = Task { try await cache.image("logo") }
      for _ in 1...10 { await Task.yield() }
      ends.signal()
      _ = await gone.result
      try require(try await other.value == Array("logo".utf8), "the other did not get it")
      try await hasEnded.waitUncancellably()
      let (_, _, wasCancelled, meets) = first.withLock { $0 }
      try require(
        !meets || wasCancelled,
        "it was fetched again while the first fetch was still on its way, which nobody had cancelled. Keep it as long as "
          + "it goes on, or cancel it when the last who waits leaves"
      )
    }
  }

  /// What is there stays, however late it is asked for.
  static func thereNextYear<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "there_next_year",
      "an image is asked for again after a minute, after a day and after a year",
      preemptions: 0,
      schedules: 20
    ) {
      let network = FakeNetwork()
      let cache = Cache(fetch: network.fetch)
      for hours in [1.0 / 60, 24, 8_760] {
        _ = try await cache.image("logo")
        try await Task.sleep(for: .seconds(3_600 * hours))
      }
      _ = try await cache.image("logo")
      let count = network.count("logo")
      try require(count == 1, "it was fetched \(count) times. One that is there stays")
    }
  }

  /// Who waits for an image does not ask for it again and again, and one that is there stays longer than a second.
  static func quietAskers<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let count = 600
    let asked = "\(count) tasks ask for one image, and the fetch takes more than a second"
    return GradeBook.Question(name: "quiet") { terms in
      let fetches = Lock(0)
      let item = QuietProcessor.question(asked) { aSecond in
        let (isThere, arrives) = Condition.makeCondition()
        let cache = Cache { name in
          if name == "early" {
            fetches.withLock { $0 += 1 }
          } else {
            try await isThere.waitUncancellably()
          }
          return Array(name.utf8)
        }
        _ = try? await cache.image("early")
        await withTaskGroup { group in
          for _ in 1...count { group.addTask { _ = try? await cache.image("logo") } }
          await aSecond()
          arrives.signal()
        }
        _ = try? await cache.image("early")
      }.ask(terms)
      guard item.passed, fetches.withLock({ $0 }) > 1 else { return item }
      return GradeItem(
        "quiet",
        passed: false,
        "an image that had been there for more than a second was fetched again. One that is there stays"
      )
    }
  }

  /// Two of three who ask are cancelled: the third gets the image, and from then on it is there.
  static func cancelledAskers<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "cancelled",
      "three ask for one image and two of them are cancelled, then two ask, one of them cancelled",
      tasks: ["the first, which is cancelled", "the second", "the third, which is cancelled"],
      preemptions: onePreemption,
      schedules: 6_000
    ) {
      let network = FakeNetwork()
      let cache = Cache(fetch: network.fetch)
      let logo = Array("logo".utf8)
      let tasks = (1...3).map { number in
        Task(priority: .inTurn(number)) { try await cache.image("logo") }
      }
      await Task.yield()
      tasks[0].cancel()
      tasks[2].cancel()
      let image = try? await tasks[1].value
      try require(image == logo, "the one who was not cancelled did not get it")
      let gone = await [tasks[0].result, tasks[2].result]
      for result in gone {
        if case .success(let image) = result { try require(image == logo, "a wrong image") }
      }
      let count = network.count("logo")
      // A fetch may have been cancelled with who began it.
      try require(count <= 3, "it was fetched \(count) times for three")
      let late = Task { try await cache.image("logo") }
      late.cancel()
      _ = await late.result
      let again = try? await cache.image("logo")
      try require(again == logo, "it could not be had again")
      try require(
        network.count("logo") == count,
        "it was there, then a task that asked was cancelled, and it was fetched again"
      )
    }
  }

  /// A fetch that is on its way is on its way for all, also if who asked for it had been cancelled before.
  static func joinsCancelled<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "joins_cancelled",
      "a task that was cancelled before asks, and another while that one's fetch is on its way",
      tasks: ["the one that was cancelled before", "the other"],
      preemptions: onePreemption,
      schedules: 500
    ) {
      let running = Lock((now: 0, peak: 0))
      let (mayEnd, ends) = Condition.makeCondition()
      let cache = Cache { name in
        // One that is given up, since all who asked have left, is on its way for nobody.
        // Nil until it is counted, or given up before that.
        let isOnItsWay = Lock<Bool?>(nil)
        let end: @Sendable () -> Void = {
          let wasOnItsWay = isOnItsWay.withLock { isOnItsWay in
            defer { isOnItsWay = false }
            return isOnItsWay == true
          }
          if wasOnItsWay { running.withLock { $0.now -= 1 } }
        }
        await withTaskCancellationHandler {
          let begins = isOnItsWay.withLock { isOnItsWay in
            if isOnItsWay == nil { isOnItsWay = true }
            return isOnItsWay == true
          }
          if begins {
            running.withLock {
              $0.now += 1
              $0.peak = max($0.peak, $0.now)
            }
          }
          try? await mayEnd.waitUncancellably()
        } onCancel: {
          end()
        }
        end()
        return Array(name.utf8)
      }
      let gone = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await cache.image("logo")
      }
      for _ in 1...3 { await Task.yield() }
      let other = Task { try await cache.image("logo") }
      for _ in 1...3 { await Task.yield() }
      ends.signal()
      _ = await gone.result
      try require(try await other.value == Array("logo".utf8), "the other did not get it")
      let peak = running.withLock { $0.peak }
      // None is counted that is given up before it begins.
      try require(peak <= 1, "it was fetched \(peak) times at once")
    }
  }

  /// An image that somebody was given is there, whoever of those who waited for it comes first.
  static func thereForGood<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "there",
      "one asks for an image, another joins it and is cancelled; when that one has the image, a third asks",
      tasks: ["the first", "the second, which is cancelled"],
      preemptions: onePreemption,
      schedules: 3_000
    ) {
      let (hasBegun, begins) = Condition.makeCondition()
      let (mayEnd, ends) = Condition.makeCondition()
      let fetches = Lock(0)
      let cache = Cache { name in
        let number = fetches.withLock {
          $0 += 1
          return $0
        }
        if number == 1 {
          begins.signal()
          try await mayEnd.waitUncancellably()
        }
        return Array(name.utf8)
      }
      let logo = Array("logo".utf8)
      let first = Task { try await cache.image("logo") }
      // From here on nobody who leaves is the last who waits for it.
      try await hasBegun.waitUncancellably()
      let gone = Task { try await cache.image("logo") }
      await Task.yield()
      gone.cancel()
      ends.signal()
      if case .success = await gone.result {
        let image = try? await cache.image("logo")
        try require(image == logo, "the third got no image")
        let count = fetches.withLock { $0 }
        try require(
          count == 1,
          "one had been given the image already, and for the next it was fetched again: keep it before anybody is "
            + "given it"
        )
      }
      let image = try? await first.value
      try require(image == logo, "the one who was not cancelled did not get it")
    }
  }

  /// More images than a small cache has room for, of names that are alike, one of them empty; each is fetched once.
  static func manyImages<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let alike = [
      "", "logo", "Logo", "solo", "ogol", "logo ", " logo", "LOGO", "log/o", "logö", "a/logo",
      "b/logo", "logo/a",
      "logo/b", "logo.png", "logo.jpg", "logo?size=1", "logo?size=2", "logo#1", "logo#2",
      // Which are one to who makes a file's name or an address of them.
      "a/b", "a_b", "a-b", "a//b", "a/./b", "a/c/../b", "/a/b", "a/b/", "a b", "a%20b", "a+b",
      "a:b", "logo@2x", "logo\n",
      "http://host/logo", "https://host/logo", "https://HOST/logo", "//host/logo", "www.host/logo",
      "long " + String(repeating: "o", count: 5_000) + " 1",
      "long " + String(repeating: "o", count: 5_000) + " 2",
      "1 " + String(repeating: "o", count: 5_000), "2 " + String(repeating: "o", count: 5_000),
    ]
    let names = alike + (1...70_002 - alike.count).map { "image \($0)" }
    let asked = "70,002 images, each asked for twice"
    return .task("many", asked, seconds: 60) { _ in
      let network = FakeNetwork()
      let cache = Cache(fetch: network.fetch)
      for _ in 1...2 {
        for name in names {
          let image = try? await cache.image(name)
          guard image == Array(name.utf8) else {
            let got = image.map { "'\(shown(String(decoding: $0, as: UTF8.self)))'" } ?? "an error"
            return GradeItem(
              "many",
              passed: false,
              "\(asked): who asked for '\(shown(name))' got \(got)"
            )
          }
        }
      }
      let often = names.first { network.count($0) != 1 }
      return GradeItem(
        "many",
        passed: often == nil,
        often.map {
          "\(asked): '\(shown($0))' was fetched \(network.count($0)) times. An image that is there is not fetched again, "
            + "however many there are, nor an empty one"
        } ?? "\(asked): each was fetched once"
      )
    }
  }

  /// A name on one line, of which the middle is left out where it is long.
  private static func shown(_ name: String) -> String {
    let line = name.replacing("\n", with: "\\n")
    return line.count > 60 ? "\(line.prefix(20))… \(line.suffix(20))" : line
  }

  /// A fetch that fails is no matter of another that is on its way.
  static func failureBeside<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    promise(
      "failure_beside",
      "while one image is on its way another's fetch fails, and then a second task asks for the first image",
      tasks: ["the one that asks first", "the second"],
      preemptions: 0,
      schedules: 300
    ) {
      let (hasBegun, begins) = Condition.makeCondition()
      let (mayEnd, ends) = Condition.makeCondition()
      let fetches = Lock(0)
      let cache = Cache { name in
        guard name == "logo" else { throw FakeNetwork.Offline() }
        fetches.withLock { $0 += 1 }
        begins.signal()
        try await mayEnd.waitUncancellably()
        return Array(name.utf8)
      }
      let first = Task { try await cache.image("logo") }
      try await hasBegun.waitUncancellably()
      let failed = try? await cache.image("photo")
      try require(failed == nil, "an image whose fetch failed was given all the same")
      let second = Task { try await cache.image("logo") }
      await Task.yield()
      ends.signal()
      for task in [first, second] {
        let image = try? await task.value
        try require(
          image == Array("logo".utf8),
          "who asked for the image that was on its way did not get it"
        )
      }
      _ = try? await cache.image("logo")
      let count = fetches.withLock { $0 }
      try require(
        count == 1,
        "it was fetched \(count) times. A fetch that fails is forgotten alone: the others go on"
      )
    }
  }

  /// A cache has what its own network brought.
  static func cachesApart<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let asked = "two caches, each with a network of its own"
    return .task("caches_apart", asked, seconds: 30) { _ in
      let networks = [FakeNetwork(), FakeNetwork()]
      let caches = networks.map { Cache(fetch: $0.fetch) }
      for cache in caches + caches { _ = try? await cache.image("logo") }
      let counts = networks.map { $0.count("logo") }
      return GradeItem(
        "caches_apart",
        passed: counts == [1, 1],
        "\(asked): 'logo' was fetched \(counts[0]) and \(counts[1]) times, expected 1 and 1"
      )
    }
  }
}
