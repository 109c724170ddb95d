internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Limiters

/// What a learner mends in the exercise on threads that only wait: questions to a server that calls back.
package protocol LearnerClient: Sendable {
  init(server: CallingServer)

  /// The server's answer to a question.
  func answer(to question: Int) async throws -> Int
}

/// A server with one call, which does not wait; the answer comes by a call back, later or before it returns.
package final class CallingServer: Sendable {
  /// There is no answer to such a question.
  package struct NoAnswer: Error, Hashable {
    let question: Int
  }

  private struct Waiting: Sendable {
    let result: Result<Int, any Error>
    let answer: @Sendable (Result<Int, any Error>) -> Void

    func callBack() { answer(result) }
  }

  private struct State {
    var waiting: [Waiting] = []
    var asked = 0
    var isPatient = true
  }

  private let state = Lock(State())
  private let together: Int
  private let answersAtOnce: Bool
  private let base: Int
  private let counts: Bool
  private let keeps: Int
  private let queue = DispatchQueue(label: "server")

  /// - Parameters:
  ///   - together: answers nobody before so many have asked.
  ///   - answersAtOnce: calls back before `ask` returns.
  ///   - base: what is added to each answer.
  ///   - counts: whether the number of the asking, from 0, is added too.
  ///   - keeps: how many of those who ask first are answered only by `giveUp`.
  init(
    together: Int = 1,
    answersAtOnce: Bool = false,
    base: Int = 0,
    counts: Bool = false,
    keeps: Int = 0
  ) {
    self.together = together
    self.answersAtOnce = answersAtOnce
    self.base = base
    self.counts = counts
    self.keeps = keeps
  }

  /// How many have asked.
  var asked: Int { state.withLock { $0.asked } }

  /// Answers whoever has asked, and waits for no more.
  ///
  /// - Parameter here: whether it calls back on the thread that calls this.
  func giveUp(here: Bool = false) {
    let waiting = state.withLock { state in
      state.isPatient = false
      defer { state.waiting = [] }
      return state.waiting
    }
    if here {
      for one in waiting { one.callBack() }
    } else {
      queue.async { for one in waiting { one.callBack() } }
    }
  }

  /// Answers who has waited longest.
  func answerOne() {
    let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    if let first { queue.async { first.callBack() } }
  }

  /// Answers who stands at that place of the line, on the thread that calls this.
  func answer(at place: Int) { state.withLock { $0.waiting.remove(at: place) }.callBack() }

  /// Asks; `answer` is called once, with ten times the number and what `init` adds, or with `NoAnswer`
  /// if it is negative.
  package func ask(
    _ question: Int,
    then answer: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    let answered = state.withLock { state in
      let result: Result<Int, any Error> =
        question < 0
        ? .failure(NoAnswer(question: question))
        : .success(10 * question + base + (counts ? state.asked : 0))
      state.asked += 1
      state.waiting.append(Waiting(result: result, answer: answer))
      guard state.asked >= together || !state.isPatient else { return State().waiting }
      defer { state.waiting = Array(state.waiting.prefix(keeps)) }
      return Array(state.waiting.dropFirst(keeps))
    }
    if answersAtOnce {
      for one in answered { one.callBack() }
    } else {
      // Those who asked last first.
      queue.async { for one in answered.reversed() { one.callBack() } }
    }
  }
}
