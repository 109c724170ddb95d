import Dispatch
import Grading

/// A client whose call backs come back by way of the main actor or the main queue, as an app's do.
struct MainQueueClient: LearnerClient {
  private let server: CallingServer

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      server.ask(question) { result in
        if question.isMultiple(of: 2) {
          Task { @MainActor in continuation.resume(with: result) }
        } else {
          DispatchQueue.main.async { continuation.resume(with: result) }
        }
      }
    }
  }
}

@main struct Program {
  static func main() { Grader.client(MainQueueClient.self).main() }
}
