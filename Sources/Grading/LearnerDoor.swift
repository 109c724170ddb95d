internal import Exploration
internal import GradeReport
internal import Limiters

/// What a learner mends in the exercise on lost wake-ups: a door that is shut until somebody opens it.
package protocol LearnerDoor: Sendable {
  init()

  /// Returns once the door is open.
  func wait() async

  /// Opens the door, for good.
  func open()
}

extension Grader {
  /// Lesson 6: no wake-up is lost, in any order.
  package static func door<Door: LearnerDoor>(_ type: Door.Type) -> GradeBook {
    GradeBook([
      openDoor(type),
      waiters(type, "one_waits", 1),
      waiters(type, "two_wait", 2),
      waiters(type, "three_in_line", 3, preemptions: 0),
      openedTwice(type),
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
    preemptions: Int = 2
  ) -> GradeBook.Question {
    let who = count == 1 ? "one task waits" : "\(count) tasks wait"
    return promise(
      name,
      "\(who), another opens the door",
      tasks: (1...count).map { _ in "one that waits" } + ["the one that opens"],
      preemptions: preemptions
    ) {
      let door = Door()
      let isOpened = Lock(false)
      let wait: @Sendable () async -> Bool = {
        await door.wait()
        return isOpened.withLock { $0 }
      }
      let waiting = (1...count).map { _ in Task { await wait() } }
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
