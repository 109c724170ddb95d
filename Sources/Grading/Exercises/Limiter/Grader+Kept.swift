internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms

// Whether anything is kept for ever of one kind of visit, while the limiter lives on.
extension Grader {
  /// Nothing is kept of those who find a permit free.
  static func keptOfAlone(_ entry: CatalogueEntry) -> GradeBook.Question {
    keptOfEach("kept_alone", "tasks one after the other, each of which need not wait") { _ in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      return {
        let crowd = Crowd()
        crowd.goOn()
        await carry(mechanism, 1, crowd)
      }
    }
  }

  /// Nothing is kept of a limiter that nobody has any more.
  static func keptOfLimiters(
    _ entry: CatalogueEntry,
    _ what: String = "limiters"
  ) -> GradeBook.Question {
    keptOfEach("kept_of_\(what)", "\(what), each used once and let go of") { _ in
      {
        let crowd = Crowd()
        crowd.goOn()
        await carry(entry.make(MechanismSetup(limit: 1)), 1, crowd)
      }
    }
  }

  /// Nothing is kept of a body that throws, whether its task had to wait or not.
  static func keptOfThrown(_ entry: CatalogueEntry) -> GradeBook.Question {
    keptOfEach("kept_thrown", "pairs of tasks, one of which waits for the other; both bodies throw")
    {
      scheduler in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      return {
        let crowd = Crowd()
        let holder = visit(mechanism, 1, crowd, fails: true, on: scheduler)
        await turns(4)
        let waiter = visit(mechanism, 2, crowd, fails: true, on: scheduler)
        await turns(4)
        crowd.goOn()
        await holder.value
        await waiter.value
      }
    }
  }

  /// Nothing is kept of those who are cancelled, whenever that is.
  static func keptOfCancelled(_ entry: CatalogueEntry) -> GradeBook.Question {
    let who =
      "times three tasks: one was cancelled before it came, one is cancelled while its body runs and then throws, "
      + "one while it waits"
    return keptOfEach("kept_cancelled", who) { scheduler in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      return {
        let before = Task(executorPreference: scheduler) {
          withUnsafeCurrentTask { $0?.cancel() }
          let alone = Crowd(heedsCancellation: true)
          alone.goOn()
          await carry(mechanism, 1, alone)
        }
        await before.value
        let crowd = Crowd(heedsCancellation: true)
        let holder = visit(mechanism, 1, crowd, on: scheduler)
        await turns(4)
        let waiter = visit(mechanism, 2, crowd, on: scheduler)
        await turns(4)
        waiter.cancel()
        holder.cancel()
        crowd.goOn()
        await holder.value
        await waiter.value
      }
    }
  }

  /// Nothing is kept of those who were served, also while others always wait.
  static func keptInLine(_ entry: CatalogueEntry) -> GradeBook.Question {
    keptOfEach("kept_in_line", "tasks, each of which comes while another waits") { scheduler in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      let line = Lock<[Crowd]>([])
      @Sendable func come() {
        let crowd = Crowd()
        line.withLock { $0.append(crowd) }
        visit(mechanism, 1, crowd, on: scheduler)
      }
      come()
      come()
      await turns(4)
      return {
        come()
        await turns(4)
        line.withLock { $0.removeFirst() }.goOn()
        await turns(8)
      }
    }
  }

  /// Nothing is kept of a task that is cancelled when it was handed a permit and has not gone on yet.
  static func keptOfGranted(_ entry: CatalogueEntry) -> GradeBook.Question {
    keptOfEach("kept_granted", "tasks, each cancelled just when it was handed a permit") {
      scheduler in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      return {
        let crowd = Crowd()
        let next = Lock<Task<Void, Never>?>(nil)
        let holder = Task(executorPreference: scheduler) {
          await carry(mechanism, 1, crowd)
          // The permit has been handed over, and who has it has no turn before this task is through.
          next.withLock { $0 }?.cancel()
        }
        await turns(4)
        let waiter = visit(mechanism, 2, crowd, on: scheduler)
        next.withLock { $0 = waiter }
        await turns(4)
        crowd.goOn()
        await holder.value
        await waiter.value
      }
    }
  }

  /// Who is cancelled leaves the line, also if no permit comes by.
  static func keptBehindOne(_ entry: CatalogueEntry) -> GradeBook.Question {
    let sight = LastSight()
    sight.tell {
      "it takes longer with each: who has left is still in the line, which is gone through again and again"
    }
    return keptOfEach(
      "kept_behind",
      "tasks, each cancelled while one and the same task has the permit",
      sight: sight
    ) { scheduler in
      let mechanism = entry.make(MechanismSetup(limit: 1))
      let stays = Crowd()
      visit(mechanism, 1, stays, on: scheduler)
      await turns(4)
      return {
        let waiter = visit(mechanism, 2, stays, on: scheduler)
        await turns(4)
        waiter.cancel()
        await waiter.value
      }
    }
  }

  /// Lets those go on who can.
  private static func turns(_ count: Int) async {
    for _ in 0..<count { await Task.yield() }
  }

  /// Makes visits one after the other, in virtual time.
  private static func keptOfEach(
    _ name: String,
    _ what: String,
    sight: LastSight? = nil,
    _ make: @escaping @Sendable (VirtualScheduler) async -> @Sendable () async -> Void
  ) -> GradeBook.Question {
    let asked = "\(HeapTrial.count) \(what)"
    return GradeBook.Question(name: name) { terms in
      let heap = terms.heap
      return GradeBook.Question.task(name, asked, seconds: 120, sight: sight) { _ in
        let grows = Lock<Bool?>(nil)
        let scheduler = VirtualScheduler(workers: 1)
        Task(executorPreference: scheduler) {
          let keeps = await HeapTrial(heap: heap).grows { await make(scheduler) }
          grows.withLock { $0 = keeps }
        }
        _ = await scheduler.onOwnThread { $0.runUntilIdle() }
        let found = grows.withLock { $0 }
        return GradeItem(
          name,
          passed: found == false,
          "\(asked): \(found.map(HeapTrial.told) ?? "they did not come to an end")"
        )
      }.ask(terms)
    }
  }
}
