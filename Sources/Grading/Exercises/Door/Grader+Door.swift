internal import Basics
internal import Experiments
internal import Exploration
internal import LessonBook
internal import Limiters

extension Grader {
  /// Lesson 6: no wake-up is lost, in any order.
  package static func door<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook {
    GradeBook([
      openDoor(type),
      waiters(type, "one_waits", 1),
      waiters(type, "two_wait", 2),
      waiters(type, "three_in_line", 3, preemptions: 1, schedules: 4_000),
      comesBehind(type, 3),
      comesBehind(type, 9),
      openedTwice(type),
      openedTwiceForTwo(type),
      openWhenOpened(type),
      cancelledAsItOpens(type),
      openedByTheCancelled(type),
      comesLater(type),
      quietAtTheDoor(type),
      cancelledAtTheDoor(type),
      cancelledWhileTheyWait(type, "cancelled_waiting", of: 3, [1]),
      cancelledInAnyPlace(type),
      cancelledWhileTheyWait(type, "cancelled_waiting", of: 200, Array(0..<200)),
      crowdAtTheDoor(type, 300),
      crowdAtTheDoor(type, 20_000),
      keptOfLater(type),
      keptOfOpenings(type),
      keptOfDoors(type),
      openedOften(type),
      doorsApart(type),
    ])
  }

  private static func openDoor<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    let asked = "a door that is opened before anybody comes"
    return .task("open", asked, seconds: 10) { _ in
      let door = Door()
      door.open()
      for _ in 1...3 { await door.wait() }
      return GradeItem("open", passed: true, "\(asked): nobody waits")
    }
  }

  /// Some wait, another opens, in every order.
  private static func waiters<Door: LearnerDoor>(
    _ type: Door.Type,
    _ name: String,
    _ count: Int,
    preemptions: Int = 2,
    schedules: Int = 20_000
  ) -> GradeBook.Question {
    let who = count == 1 ? "one task waits" : "\(count) tasks wait"
    return promise(
      name,
      "\(who), another opens the door",
      tasks: (1...count).map { _ in "one that waits" } + ["the one that opens"],
      preemptions: preemptions,
      schedules: schedules
    ) {
      let door = Door()
      let isOpened = Lock(false)
      let wait: @Sendable () async -> Bool = {
        await door.wait()
        return isOpened.withLock { $0 }
      }
      let waiting = (1...count).map { number in
        Task(priority: .inTurn(number)) { await wait() }
      }
      let opening = Task {
        isOpened.withLock { $0 = true }
        door.open()
      }
      for task in waiting {
        let wasOpened = await task.value
        try require(wasOpened, "'wait' returned while the door was shut")
      }
      await opening.value
      // Whoever comes now does not wait.
      await door.wait()
    }
  }

  /// Who comes behind a line, as another opens the door: nobody has a place of his own.
  private static func comesBehind<Door: LearnerDoor>(
    _ type: Door.Type,
    _ count: Int
  ) -> GradeBook.Question {
    promise(
      "comes_behind",
      "\(count) tasks wait, one more comes, another opens the door",
      tasks: (1...count).map { _ in "one that waits" }
        + ["the one that comes", "the one that opens"],
      preemptions: 1,
      schedules: 400,
      isDrawn: true
    ) {
      let door = Door()
      let wait: @Sendable () async -> Void = { await door.wait() }
      // They wait when this goes on.
      let waiting = (1...count).map { _ in Task.immediate { await wait() } }
      let coming = Task { await wait() }
      let open: @Sendable () -> Void = { door.open() }
      let opening = Task { open() }
      await coming.value
      for task in waiting { await task.value }
      await opening.value
    }
  }

  private static func openedTwice<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    promise(
      "opened_twice",
      "one task waits, two open the door",
      tasks: ["the one that waits", "one that opens", "the other that opens"]
    ) {
      let door = Door()
      let waiting = Task { await door.wait() }
      let open: @Sendable () -> Void = { door.open() }
      let opening = (1...2).map { _ in Task { open() } }
      await waiting.value
      for task in opening { await task.value }
      await door.wait()
    }
  }

  /// What one who opens has looked at, the other may have woken.
  private static func openedTwiceForTwo<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    promise(
      "opened_twice_for_two",
      "two tasks wait, two open the door",
      tasks: ["one that waits", "the other that waits", "one that opens", "the other that opens"],
      preemptions: 2,
      schedules: 6_000
    ) {
      let door = Door()
      let wait: @Sendable () async -> Void = { await door.wait() }
      let waiting = (1...2).map { _ in Task { await wait() } }
      let open: @Sendable () -> Void = { door.open() }
      let opening = (1...2).map { _ in Task { open() } }
      for task in waiting + opening { await task.value }
    }
  }

  /// Whose `open` has returned finds the door open, also if another is in the middle of opening it.
  private static func openWhenOpened<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    promise(
      "open_when_opened",
      "two tasks open the door, and each goes through it then",
      tasks: ["one that opens", "the other that opens"],
      preemptions: 1
    ) {
      let door = Door()
      let openAndPass: @Sendable () async throws -> Void = {
        door.open()
        let isThrough = Lock(false)
        let passing = Task.immediate {
          await door.wait()
          isThrough.withLock { $0 = true }
        }
        let wasOpen = isThrough.withLock { $0 }
        await passing.value
        try require(
          wasOpen,
          "'open' had returned to a task, and it had to wait: 'wait' suspends although the door is open, or another was not "
            + "through with opening"
        )
      }
      async let one: Void = openAndPass()
      async let other: Void = openAndPass()
      _ = try await (one, other)
    }
  }

  /// Who waits is cancelled just when another opens the door: it comes through with the others.
  private static func cancelledAsItOpens<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_as_it_opens",
      "two tasks wait, one of them is cancelled and another task opens the door meanwhile",
      tasks: ["the one that is cancelled", "the other that waits", "the one that opens"],
      preemptions: 2,
      schedules: 3_000
    ) {
      let door = Door()
      let wait: @Sendable () async -> Void = { await door.wait() }
      // They wait when this goes on.
      let gone = Task.immediate { await wait() }
      let other = Task.immediate { await wait() }
      let opening = Task { door.open() }
      gone.cancel()
      for task in [gone, other, opening] { await task.value }
    }
  }

  /// A door is opened by whoever calls `open`, also if its task was cancelled.
  private static func openedByTheCancelled<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    promise(
      "opened_by_cancelled",
      "one task waits, a task that was cancelled opens the door",
      tasks: ["the one that waits", "the one that opens"],
      preemptions: 1
    ) {
      let door = Door()
      let waiting = Task { await door.wait() }
      let opening = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        door.open()
      }
      await opening.value
      await waiting.value
      await door.wait()
    }
  }

  /// When `open` has returned, whoever comes needs nobody else to get through.
  private static func comesLater<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    let times = 200
    let asked = "a task that comes when 'open' has returned, \(times) times"
    return .task("comes_later", asked, seconds: 60) { _ in
      for _ in 1...times {
        let scheduler = VirtualScheduler(workers: 1)
        let door = Door()
        let isThrough = Lock(false)
        Task(executorPreference: scheduler) {
          await door.wait()
          isThrough.withLock { $0 = true }
        }
        // The task has this thread for itself. What 'open' has left to another task comes too late, mostly.
        let hasPassed = await scheduler.onOwnThread { scheduler in
          door.open()
          _ = scheduler.runUntilIdle()
          return isThrough.withLock { $0 }
        }
        if hasPassed { continue }
        return GradeItem(
          "comes_later",
          passed: false,
          "\(asked): it waited. 'open' had returned, and the door was not open yet"
        )
      }
      return GradeItem("comes_later", passed: true, "\(asked): it does not wait")
    }
  }

  /// Being cancelled opens no door: `wait` has no error to tell of it.
  private static func cancelledAtTheDoor<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    let asked = "a task that was cancelled before it came to a shut door"
    return .task("cancelled", asked, seconds: 30) { _ in
      let scheduler = VirtualScheduler(workers: 1)
      let door = Door()
      let isThrough = Lock(false)
      Task(executorPreference: scheduler) {
        withUnsafeCurrentTask { $0?.cancel() }
        await door.wait()
        isThrough.withLock { $0 = true }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let wasEarly = isThrough.withLock { $0 }
      door.open()
      return GradeItem(
        "cancelled",
        passed: !wasEarly,
        "\(asked): \(wasEarly ? "'wait' returned, and the door was shut" : "it waits as others do")"
      )
    }
  }

  /// Whoever of a line it is.
  private static func cancelledInAnyPlace<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    let questions = (0..<9).map {
      cancelledWhileTheyWait(type, "cancelled_waiting", of: 9, [$0])
    }
    return GradeBook.Question(name: "cancelled_waiting") { terms in
      let items = questions.lazy.map { $0.ask(terms) }
      return items.first { !$0.passed }
        ?? GradeItem(
          "cancelled_waiting",
          passed: true,
          "the same with nine tasks, whichever of them is cancelled: all come through then, and none before"
        )
    }
  }

  /// Who is cancelled while it waits stays where it is, and is woken with the others.
  private static func cancelledWhileTheyWait<Door: LearnerDoor>(
    _ type: Door.Type,
    _ name: String,
    of count: Int,
    _ gone: [Int]
  ) -> GradeBook.Question {
    let who = gone.count == 1 ? "number \(gone[0] + 1) is cancelled" : "all are cancelled"
    let asked = "\(count) tasks wait at a shut door, \(who), and then the door is opened"
    return .task(name, asked, seconds: 30) { _ in
      let scheduler = VirtualScheduler(workers: 1)
      let door = Door()
      let through = Lock<Set<Int>>([])
      let wait: @Sendable (Int) async -> Void = { number in
        await door.wait()
        through.withLock { _ = $0.insert(number) }
      }
      let tasks = (1...count).map { number in
        Task(executorPreference: scheduler) { await wait(number) }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      for place in gone { tasks[place].cancel() }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let wasEarly = through.withLock { !$0.isEmpty }
      door.open()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      // What 'open' has left to another task comes a little later.
      for _ in 1...200 where through.withLock({ $0.count }) < count {
        await Moment.pass()
        _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      }
      let woken = through.withLock { $0.count }
      let fault: String? =
        if wasEarly {
          "'wait' returned, and the door was shut. Being cancelled opens no door"
        } else if woken < count {
          "\(woken) came through. Each is woken, however many wait, and who is cancelled as the others are"
        } else {
          nil
        }
      return GradeItem(
        name,
        passed: fault == nil,
        "\(asked): \(fault ?? "all come through then, and none before")"
      )
    }
  }

  /// However many wait, all are woken.
  private static func crowdAtTheDoor<Door: LearnerDoor>(
    _ type: Door.Type,
    _ count: Int
  ) -> GradeBook.Question {
    let asked = "\(count) tasks wait, and another opens the door"
    return .task("crowd", asked, seconds: 60) { _ in
      let door = Door()
      let come = Lock(0)
      let through = Lock(0)
      let pass: @Sendable () async -> Void = {
        come.withLock { $0 += 1 }
        await door.wait()
        through.withLock { $0 += 1 }
      }
      for _ in 1...count { Task { await pass() } }
      await Moment.pass(until: count) { come.withLock { $0 } }
      for _ in 1...5 { await Moment.pass() }
      let early = through.withLock { $0 }
      door.open()
      let woken = await Moment.pass(until: count) { through.withLock { $0 } }
      let fault: String? =
        if early > 0 {
          "\(early) came through while the door was shut"
        } else if woken < count {
          "\(woken) came through, and \(count - woken) wait at an open door"
        } else {
          nil
        }
      return GradeItem("crowd", passed: fault == nil, "\(asked): \(fault ?? "all were woken")")
    }
  }

  /// Who waits for the door does not ask again and again.
  private static func quietAtTheDoor<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    QuietProcessor.question("20 tasks wait at a door that opens after a second") { aSecond in
      let door = Door()
      await withTaskGroup { group in
        for _ in 1...20 { group.addTask { await door.wait() } }
        await aSecond()
        door.open()
      }
    }
  }

  /// Of those who come to the open door nothing is kept.
  private static func keptOfLater<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    kept(
      type,
      "kept",
      "\(HeapTrial.count) tasks come to an open door, one after the other",
      of: "those who do not wait"
    ) { await $0.wait() }
  }

  /// Nor of those who open it once more.
  private static func keptOfOpenings<Door: LearnerDoor>(
    _ type: Door.Type
  ) -> GradeBook.Question {
    kept(
      type,
      "kept_of_openings",
      "an open door is opened \(HeapTrial.count) times",
      of: "each time"
    ) { $0.open() }
  }

  private static func keptOfDoors<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    kept(
      type,
      "kept_of_doors",
      "\(HeapTrial.count) doors that are let go of: one waits at each before it is opened, and one comes later; and as "
        + "many that nobody opens",
      of: "each"
    ) { _ in
      let door = Door()
      let first = Task { await door.wait() }
      // It comes, and waits.
      for _ in 1...3 { await Task.yield() }
      door.open()
      await first.value
      await door.wait()
      _ = Door()
    }
  }

  /// A door that is open stays open, however often it is opened.
  private static func openedOften<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    let count = 70_000
    let asked = "a door is opened \(count) times, and one goes through it each time"
    return .task("opened_often", asked, seconds: 60) { _ in
      let door = Door()
      let through = Lock(0)
      Task {
        for _ in 1...count {
          door.open()
          await door.wait()
          through.withLock { $0 += 1 }
        }
      }
      let passed = await Moment.pass(until: count) { through.withLock { $0 } }
      return GradeItem(
        "opened_often",
        passed: passed == count,
        "\(asked): "
          + (passed == count
            ? "nobody waits" : "who comes after it was opened \(passed + 1) times waits for ever")
      )
    }
  }

  private static func kept<Door: LearnerDoor>(
    _ type: Door.Type,
    _ name: String,
    _ asked: String,
    of whom: String,
    _ act: @escaping @Sendable (Door) async -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { terms in
      let trial = HeapTrial(heap: terms.heap)
      return GradeBook.Question.task(name, asked, seconds: 60) { _ in
        let grows = await trial.grows {
          let door = Door()
          door.open()
          return { await act(door) }
        }
        return GradeItem(
          name,
          passed: !grows,
          "\(asked): "
            + (grows
              ? "memory grows with each: something is kept of \(whom)" : "nothing is kept of it")
        )
      }.ask(terms)
    }
  }

  private static func doorsApart<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook.Question {
    promise(
      "apart",
      "two doors, the second of which is opened first",
      tasks: ["the one at the first door"]
    ) {
      let (first, second) = (Door(), Door())
      let isOpened = Lock(false)
      let wait: @Sendable () async -> Bool = {
        await first.wait()
        return isOpened.withLock { $0 }
      }
      let waiting = Task { await wait() }
      second.open()
      await second.wait()
      isOpened.withLock { $0 = true }
      first.open()
      let wasOpened = await waiting.value
      try require(wasOpened, "the second door let somebody through the first")
    }
  }
}
