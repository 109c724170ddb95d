internal import Basics
internal import Foundation
internal import LessonBook
internal import Limiters

// Lesson 4: which threads wait for the server, and how long.

extension Grader {
  /// The thread of a task that waits is free at once.
  static func questionsLetGo<Client: LearnerClient>(_ type: Client.Type) -> GradeBook.Question {
    letsGoAtOnce("one task after the other asks, and the server answers none yet") {
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      return Asking(
        ask: { _ = try? await client.answer(to: $0) },
        answerAll: { server.giveUp() }
      )
    }
  }

  /// No thread is started to wait, be it one for a client or one for who is cancelled.
  static func threadsOfQuestions<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    // Many more than the threads that the pool and the library may make meanwhile.
    let count = 100 + 2 * ProcessInfo.processInfo.activeProcessorCount
    let asked =
      "\(count) clients, each asked by two tasks of one priority, of which one is cancelled then, and no server answers"
    return threadsThatWait(asked, most: count / 3) {
      let servers = (1...count).map { _ in CallingServer(together: .max) }
      let tasks = Lock<[Task<Void, Never>]>([])
      for (number, server) in servers.enumerated() {
        let client = Client(server: server)
        let ask: @Sendable (Int) async -> Void = { _ = try? await client.answer(to: $0) }
        let priority = [nil, .low, .high, .background][number % 4] as TaskPriority?
        let gone = Task(priority: priority) { await ask(1) }
        tasks.withLock { $0 += [gone, Task(priority: priority) { await ask(2) }] }
        await Moment.pass(until: 2) { server.asked }
        gone.cancel()
      }
      return {
        for server in servers { server.giveUp() }
        for task in tasks.withLock({ $0 }) { await task.value }
      }
    }
  }
}
