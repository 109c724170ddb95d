internal import Exploration
internal import LessonBook
internal import Limiters

/// What a learner's tests are asked: right caches pass, and wrong ones do not.
extension Grader {
  /// Lesson 17: a test that passes what is right, and finds what is not.
  package static func test<Test: LearnerTest>(_ type: Test.Type) -> GradeBook {
    GradeBook([
      judged(type, "right", "a cache that keeps its promises") { RightCache() },
      judged(type, "right_too", "another that does") { WaitingCache(.none) },
      judged(type, "right_at_once", "one that does, and downloads at once") { QuickCache() },
      judged(
        type,
        "once",
        "a cache that breaks promise 1: two that ask for a key at once both download",
        isRight: false
      ) { WaitingCache(.downloadsTwice) },
      judged(
        type,
        "once_of_three",
        "a cache that breaks promise 1 once: the second who asks downloads too, the third waits",
        isRight: false
      ) { WaitingCache(.downloadsForTheSecond) },
      judged(
        type,
        "own",
        "a cache that breaks promise 2: who waits for a download gets what was downloaded last, of any key",
        isRight: false
      ) { WaitingCache(.mixesUp) },
      judged(
        type,
        "swapped",
        "a cache that breaks promise 2: two that download at once get each other's value",
        isRight: false
      ) { WaitingCache(.swaps) },
      judged(
        type,
        "nothing_at_once",
        "a cache that breaks promise 2: 0 is what it tells whoever asks while the same key is downloaded",
        isRight: false
      ) { WaitingCache(.handsOutNothing) },
      lengths(type),
      judged(
        type,
        "kept",
        "a cache that breaks promise 1 when the download is over",
        isRight: false
      ) { WaitingCache(.keepsNothing) },
      judged(
        type,
        "answered",
        "a cache that breaks promise 3: who begins to wait just as the download ends waits for ever",
        isRight: false
      ) { WaitingCache(.forgets) },
      judged(
        type,
        "answered_each",
        "a cache that breaks promise 3 when two keys are asked for at once",
        isRight: false
      ) { WaitingCache(.stalls) },
      judged(
        type,
        "two_at_once",
        "a cache that breaks promises 1 and 2, both of them each time",
        isRight: false
      ) { WrongTwiceCache() },
      judged(type, "right_still", "the first cache once more", schedules: 300) { RightCache() },
    ])
  }

  /// The test looks at the value of each key that it asks for.
  ///
  /// Which these are, a right cache notes first.
  private static func lengths<Test: LearnerTest>(_ type: Test.Type) -> GradeBook.Question {
    GradeBook.Question(name: "lengths") { terms in
      let keys = Lock<Set<String>>([])
      let item = judged(type, "lengths", "a cache that keeps its promises") {
        WaitingCache(.none) { key in keys.withLock { _ = $0.insert(key) } }
      }.ask(terms)
      if !item.passed { return item }
      for key in keys.withLock({ $0.sorted() }) {
        let item = judged(
          type,
          "lengths",
          "a cache that breaks promise 2: the value of '\(key)' is one more than its length, the first time and later",
          isRight: false
        ) { WaitingCache(.isOneMore(of: key)) }.ask(terms)
        if !item.passed { return item }
      }
      return GradeItem(
        "lengths",
        passed: true,
        "caches that break promise 2 for one key: your test refuses each"
      )
    }
  }

  /// Explores a learner's test with one cache.
  private static func judged<Test: LearnerTest>(
    _ type: Test.Type,
    _ name: String,
    _ what: String,
    isRight: Bool = true,
    schedules: Int = mostSchedules,
    _ make: @escaping @Sendable () -> any LearnerCache
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { _ in
      do throws(Exploration.ExplorationFailure) {
        let verdict = try explore(
          "your test",
          preemptions: 2,
          schedules: schedules,
          besides: Scenario.aroundAnswers
        ) { try await type.check(make()) }
        return GradeItem(
          name,
          passed: isRight,
          "\(what): your test passes it, in \(verdict.schedules) "
            + (verdict.schedules == 1 ? "schedule" : "schedules")
        )
      } catch {
        return GradeItem(
          name,
          passed: !isRight,
          "\(what): your test refuses it" + (isRight ? ": \(Self.what(error))" : ""),
          story: isRight ? story(error, []) : ""
        )
      }
    }
  }
}
