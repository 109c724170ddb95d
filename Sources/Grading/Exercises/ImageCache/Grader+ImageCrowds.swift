internal import Basics
internal import LessonBook
internal import Limiters

/// How often an image was fetched, by a network that brings none before it is told to.
private final class HeldFetches: Sendable {
  private let fetches = Lock<[String: Int]>([:])
  private let gate = Condition.makeCondition()

  /// How many have begun, of whichever image.
  var begun: Int { fetches.withLock { $0.values.reduce(0, +) } }

  /// An image that was fetched more than once, and how often.
  var twice: (name: String, count: Int)? {
    fetches.withLock { $0.first { $0.value > 1 } }.map { ($0.key, $0.value) }
  }

  /// Begins a fetch and waits, cancelled or not.
  ///
  /// - Returns: which fetch of that image it is.
  func hold(_ name: String) async throws -> Int {
    let number = fetches.withLock {
      $0[name, default: 0] += 1
      return $0[name, default: 0]
    }
    try await gate.condition.waitUncancellably()
    return number
  }

  func goOn() { gate.signal.signal() }
}

/// Who asked, and what became of it.
private final class Askers: Sendable {
  private let counts = Lock((asked: 0, told: 0, wrong: 0, failed: 0))

  var asked: Int { counts.withLock { $0.asked } }
  /// Who got an image or an error.
  var told: Int { counts.withLock { $0.told } }
  /// Who got another image.
  var wrong: Int { counts.withLock { $0.wrong } }
  /// Who got an error.
  var failed: Int { counts.withLock { $0.failed } }

  func ask(_ cache: some LearnerImageCache, _ name: String) async {
    counts.withLock { $0.asked += 1 }
    let image = try? await cache.image(name)
    counts.withLock {
      $0.told += 1
      if image == nil { $0.failed += 1 } else if image != Array(name.utf8) { $0.wrong += 1 }
    }
  }
}

/// What becomes of images when thousands ask, and of large ones.
extension Grader {
  /// However many ask for an image and however many of them are cancelled, it is fetched once, and stays.
  static func crowdOfAskers<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let (count, hits) = (3_000, 70_000)
    let asked = "\(count) tasks ask for one image, of which every third is cancelled"
    return .task("crowd", asked, seconds: 60) { _ in
      func refused(_ why: String) -> GradeItem {
        GradeItem("crowd", passed: false, "\(asked): \(why)")
      }
      let (fetches, askers) = (HeldFetches(), Askers())
      let cache = Cache { name in
        _ = try await fetches.hold(name)
        return Array(name.utf8)
      }
      let ask: @Sendable () async -> Void = { await askers.ask(cache, "logo") }
      Task(priority: .low) { await ask() }
      // From here on nobody who leaves is the last who waits for it.
      await Moment.pass(until: 1) { fetches.begun }
      let others = (1..<count).map { number in
        Task(priority: .inTurn(number)) { await ask() }
      }
      await Moment.pass(until: count) { askers.asked }
      for (number, task) in others.enumerated() where number % 3 == 0 { task.cancel() }
      fetches.goOn()
      let told = await Moment.pass(until: count) { askers.told }
      if told < count { return refused("\(count - told) of them wait for ever") }
      // Who was cancelled may have been told so.
      let cancelled = (count + 1) / 3
      if askers.failed > cancelled { return refused("some who were not cancelled did not get it") }
      for _ in 1...hits { _ = try? await cache.image("logo") }
      for _ in 1...count / 3 {
        let late = Task { await ask() }
        late.cancel()
        await late.value
      }
      await ask()
      if askers.wrong > 0 { return refused("\(askers.wrong) got a wrong image") }
      if let (_, often) = fetches.twice {
        return refused(
          "when many more had asked, cancelled or not, it had been fetched \(often) times. An image that is there or "
            + "on its way is not fetched again, however many ask and leave"
        )
      }
      return GradeItem(
        "crowd",
        passed: true,
        "\(asked): it is fetched once, for these and for all later"
      )
    }
  }

  /// However many images are on their way, each is fetched once.
  static func manyUnderWay<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let count = 1_500
    let asked = "\(count) images on their way at once, each for two tasks"
    return .task("under_way", asked, seconds: 60) { _ in
      let (fetches, askers) = (HeldFetches(), Askers())
      let cache = Cache { name in
        _ = try await fetches.hold(name)
        return Array(name.utf8)
      }
      let ask: @Sendable (Int) async -> Void = { await askers.ask(cache, "image \($0)") }
      for number in 0..<2 * count { Task { await ask(number % count) } }
      await Moment.pass(until: 2 * count) { askers.asked }
      fetches.goOn()
      let told = await Moment.pass(until: 2 * count) { askers.told }
      let fault =
        told < 2 * count
        ? "\(2 * count - told) tasks wait for ever"
        : askers.failed > 0
          ? "\(askers.failed) tasks got no image"
          : askers.wrong > 0
            ? "\(askers.wrong) tasks got a wrong image"
            : fetches.twice.map { "'\($0.name)' was fetched \($0.count) times" }
      return GradeItem(
        "under_way",
        passed: fault == nil,
        "\(asked): \(fault ?? "each is fetched once")"
      )
    }
  }

  /// Thousands wait for a fetch that fails, and each asks again: one fetch more serves them all.
  static func failureForThousands<Cache: LearnerImageCache>(
    _ type: Cache.Type
  ) -> GradeBook.Question {
    let count = 3_000
    let asked = "\(count) tasks ask for one image, its fetch fails, and each who is told asks again"
    return GradeBook.Question(name: "failure_for_thousands") { terms in
      judgeFailure(type, asked, count, on: terms.executor).ask(terms)
    }
  }

  private static func judgeFailure<Cache: LearnerImageCache>(
    _ type: Cache.Type,
    _ asked: String,
    _ count: Int,
    on executor: (any TaskExecutor)?
  ) -> GradeBook.Question {
    .task("failure_for_thousands", asked, seconds: 60) { _ in
      let fetches = HeldFetches()
      let cache = Cache { name in
        // Of what is asked for behind the crowd nothing is held.
        guard name == "logo" else { return Array(name.utf8) }
        if try await fetches.hold(name) == 1 { throw FakeNetwork.Offline() }
        return Array(name.utf8)
      }
      let counts = Lock((asked: 0, told: 0, served: 0, ended: 0))
      let ask: @Sendable (isolated (any Actor)?) async -> Void = { _ in
        counts.withLock { $0.asked += 1 }
        var image = try? await cache.image("logo")
        let isTold = image == nil
        // Who came late may still be told of the first.
        for _ in 1...3 where image == nil { image = try? await cache.image("logo") }
        let isServed = image == Array("logo".utf8)
        counts.withLock {
          if isTold { $0.told += 1 }
          if isServed { $0.served += 1 }
          $0.ended += 1
        }
      }
      // Every second one asks from the cache's own actor, if it is one: it asks again before the next is told. Who
      // has to come back to the actor may come behind all that are told, and then nothing is begun that they
      // could forget.
      let home = cache as? any Actor
      for number in 1...count {
        Task(executorPreference: executor) { await ask(number.isMultiple(of: 2) ? home : nil) }
      }
      await Moment.pass(until: count) { counts.withLock { $0.asked } }
      await Moment.pass(until: 1) { fetches.begun }
      // Who asks may not be in the cache yet: an actor takes them one by one. Who asks behind them is behind them
      // there.
      for number in 1...3 { _ = try? await cache.image("behind \(number)") }
      fetches.goOn()
      let ended = await Moment.pass(until: count) { counts.withLock { $0.ended } }
      let (told, served) = counts.withLock { ($0.told, $0.served) }
      let often = fetches.begun
      // Many may have come when it was over, on a machine that is busy with something else.
      let fault =
        ended < count
        ? "\(count - ended) wait for ever"
        : told < count / 20
          ? "\(told) were told of the failure. However many wait for a fetch that fails, each gets its error"
          : served < count
            ? "\(count - served) did not get it then, though the next fetch brought it"
            : often > 2
              ? "it was fetched \(often) times, and 2 are enough: forget a fetch that fails only if it is still the "
                + "one that is kept"
              : nil
      return GradeItem(
        "failure_for_thousands",
        passed: fault == nil,
        "\(asked): \(fault ?? "each is told, and one more fetch serves them all")"
      )
    }
  }

  /// An image is kept whatever its size, and whatever all of them take together.
  ///
  /// All are the same bytes, which are in memory once.
  static func largeImages<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook.Question {
    let asked = "300 images of a megabyte and one of 20, each asked for twice"
    return .task("large", asked, seconds: 60) { _ in
      let fetches = Lock<[String: Int]>([:])
      let (megabyte, twenty) = (
        [UInt8](repeating: 1, count: 1 << 20), [UInt8](repeating: 2, count: 20 << 20)
      )
      let cache = Cache { name in
        fetches.withLock { $0[name, default: 0] += 1 }
        return name == "poster" ? twenty : megabyte
      }
      let names = ["poster"] + (1...300).map { "image \($0)" }
      for name in names + names {
        let size = (try? await cache.image(name))?.count
        guard size == (name == "poster" ? twenty.count : megabyte.count) else {
          return GradeItem(
            "large",
            passed: false,
            "\(asked): who asked for '\(name)' got " + (size.map { "\($0) bytes" } ?? "an error")
          )
        }
      }
      let often = fetches.withLock { fetches in names.count { fetches[$0] != 1 } }
      return GradeItem(
        "large",
        passed: often == 0,
        "\(asked): "
          + (often == 0
            ? "each was fetched once"
            : "\(often) of them were fetched again. An image that is there is not, however large it is")
      )
    }
  }
}
