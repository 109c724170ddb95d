import Dispatch
import ExplorableSynchronization
import Foundation
import Grading
import TestSupport
import Testing

/// What goes wrong with a client that tells somebody else's answer, or makes somebody wait for it.
private protocol AskingFlaw: SendableMetatype {
  /// Whether a place in the table is used again while the server may still call back for who had it.
  static var usesPlacesAgain: Bool { get }
  /// Whether the answers are told in the order of asking.
  static var tellsInOrder: Bool { get }
  /// The question as it is sent.
  static func sent(_ question: Int) -> Int
}

extension AskingFlaw {
  static var usesPlacesAgain: Bool { false }
  static var tellsInOrder: Bool { false }
  static func sent(_ question: Int) -> Int { question }
}

/// Answers that are right as long as everybody waits for what comes next.
@Suite(.watched, .serialized) struct `Whose call back it is` {
  /// Keeps who waits by place; who is cancelled leaves its place.
  private final class Asking<F: AskingFlaw>: LearnerClient {
    private typealias Waiter = CheckedContinuation<Int, any Error>

    private let server: CallingServer
    private let places = Mutex<(waiting: [Int: Waiter], next: Int)>(([:], 0))
    private let line = DispatchQueue(label: "answers")

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      let own = Mutex<Int?>(nil)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let place = places.withLock { places in
            let place = F.usesPlacesAgain ? places.waiting.count : places.next
            places.next += 1
            places.waiting[place] = continuation
            return place
          }
          own.withLock { $0 = place }
          let isThere = DispatchSemaphore(value: 0)
          let told = Mutex<Result<Int, any Error>?>(nil)
          if F.tellsInOrder {
            line.async { [self] in
              isThere.wait()
              told.withLock { $0 }.map { tell(place, $0) }
            }
          }
          server.ask(F.sent(question)) { [self] result in
            guard F.tellsInOrder else { return tell(place, result) }
            told.withLock { $0 = result }
            isThere.signal()
          }
        }
      } onCancel: {
        if let place = own.withLock({ $0 }) { tell(place, .failure(CancellationError())) }
      }
    }

    private func tell(_ place: Int, _ result: Result<Int, any Error>) {
      places.withLock { $0.waiting.removeValue(forKey: place) }?.resume(with: result)
    }
  }

  private enum Sound: AskingFlaw {}

  private enum UsesPlacesAgain: AskingFlaw {
    static let usesPlacesAgain = true
  }

  private enum TellsInOrder: AskingFlaw {
    static let tellsInOrder = true
  }

  private enum FourBytes: AskingFlaw {
    static func sent(_ question: Int) -> Int { Int(Int32(truncatingIfNeeded: question)) }
  }

  /// After a thousand questions it tells what it knows, and does not ask.
  private final class KnowsAfterAThousand: LearnerClient {
    private let server: CallingServer
    private let known = Mutex<(count: Int, answers: [Int: Int])>((0, [:]))

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      let answer = known.withLock { known in
        known.count += 1
        return known.count > 1_000 ? known.answers[question] : nil
      }
      if let answer { return answer }
      let found = try await withCheckedThrowingContinuation { continuation in
        server.ask(question) { continuation.resume(with: $0) }
      }
      known.withLock { $0.answers[question] = found }
      return found
    }
  }

  /// Has the threads of the least urgent tasks wait.
  private final class HoldsInTheBackground: LearnerClient {
    private let server: CallingServer

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      if Task.currentPriority <= .background { return try wait(for: question) }
      return try await withCheckedThrowingContinuation { continuation in
        server.ask(question) { continuation.resume(with: $0) }
      }
    }

    private func wait(for question: Int) throws -> Int {
      let told = Mutex<Result<Int, any Error>?>(nil)
      let isThere = DispatchSemaphore(value: 0)
      server.ask(question) { result in
        told.withLock { $0 = result }
        isThere.signal()
      }
      isThere.wait()
      return try told.withLock { $0 }?.get() ?? 0
    }
  }

  @Test func `a client that asks no more what it knows is refused, after a thousand questions too`()
    async
  {
    await expect(
      Grader.client(KnowsAfterAThousand.self),
      "many",
      refusedSaying: "1 was asked again, and the server not. Each call asks it once"
    )
    await expect(Grader.client(Asking<Sound>.self), "many")
  }

  // It holds threads that other tests need until nobody comes any more.
  @Test(.long) func `a client that holds threads for the least urgent only is refused`() async {
    await expect(
      Grader.client(HoldsInTheBackground.self),
      "open",
      refusedSaying: "of whatever priority its task is"
    )
    await expect(Grader.client(Asking<Sound>.self), "open")
  }

  @Test func `a client that tells another what was meant for who has left is refused`() async {
    await expect(
      Grader.client(Asking<UsesPlacesAgain>.self),
      "answered_later",
      refusedSaying: "the answer to 2 is 20, and you returned 10"
    )
    await expect(Grader.client(Asking<Sound>.self), "answered_later")
  }

  @Test func `a client that asks in four bytes is refused`() async {
    await expect(
      Grader.client(Asking<FourBytes>.self),
      "answers",
      refusedSaying: "the answer to 1099511627776 is 10995116277760, and you returned 0"
    )
    await expect(Grader.client(Asking<Sound>.self), "answers")
  }

  // It is waited for, for seconds, until nobody comes any more.
  @Test(.long) func `a client that makes one wait for another's answer is refused`() async {
    await expect(
      Grader.client(Asking<TellsInOrder>.self),
      "answered_before",
      refusedSaying: "waits until the first has its answer too"
    )
    await expect(Grader.client(Asking<Sound>.self), "answered_before")
  }

  /// Waits for the whole line of reads when its own is over.
  private final class WaitsForAll: LearnerReader {
    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      let result = await withCheckedContinuation { continuation in
        queue.async { [disk] in continuation.resume(returning: Result { try disk.read(block) }) }
      }
      queue.sync {}
      return try result.get()
    }
  }

  /// Is told on the queue that reads, so behind the reads of others; it holds no thread meanwhile.
  private final class ToldInLine: LearnerReader {
    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      let result = await withCheckedContinuation { continuation in
        queue.async { [disk, queue] in
          let result = Result { try disk.read(block) }
          queue.async { continuation.resume(returning: result) }
        }
      }
      return try result.get()
    }
  }

  @Test(.long) func `a reader that holds its thread for the reads of others is refused`() async {
    await expect(
      Grader.reader(WaitsForAll.self),
      "some",
      refusedSaying: "holds its thread until others have theirs"
    )
    await expect(Grader.reader(ToldInLine.self), "some")
  }

  /// Hands over at once what is sent while it hands over.
  private final class BesideTheLine: LearnerOutbox {
    @TaskLocal private static var isInside = false

    private let receiver: Receiver
    private let state = Mutex<(line: [String], isBusy: Bool)>(([], false))

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      if Self.isInside {
        Task { [receiver] in await receiver.take(message) }
        return
      }
      let mustStart = state.withLock { state in
        state.line.append(message)
        defer { state.isBusy = true }
        return !state.isBusy
      }
      if mustStart { Task { await Self.$isInside.withValue(true) { await drain() } } }
    }

    private func next() -> String? {
      state.withLock { state in
        if state.line.isEmpty {
          state.isBusy = false
          return nil
        }
        return state.line.removeFirst()
      }
    }

    private func drain() async {
      while let next = next() { await receiver.take(next) }
    }
  }

  @Test func `an outbox that hands over at once what the receiver sends is refused`() async {
    await expect(
      Grader.outbox(BesideTheLine.self),
      "sent_meanwhile",
      refusedSaying: "sent were 's', 'sw' and 'swi', in this order, and taken"
    )
  }
}
