import Dispatch
import ExplorableSynchronization
import Grading

// Clients and readers that are called back, and are wrong at one moment or for one kind of question only.

/// How a task waits for a call back that a cancellation may come before.
protocol CallBackFlaw: SendableMetatype {
  /// Whether the continuation is resumed under the lock that the cancellation handler takes.
  static var resumesUnderLock: Bool { get }
  /// Whether something is kept of who was told a value or an error.
  static func keeps(_ result: Result<Int, any Error>) -> Bool
  /// How many may ask.
  static var most: Int { get }
}

extension CallBackFlaw {
  static var resumesUnderLock: Bool { false }
  static func keeps(_ result: Result<Int, any Error>) -> Bool { false }
  static var most: Int { .max }
}

/// The rest of a task, resumed by whoever comes first: the call back, or the cancellation.
private final class CallBack<F: CallBackFlaw>: Sendable {
  private enum State {
    case begins
    case waits(CheckedContinuation<Int, any Error>)
    case isOver(Result<Int, any Error>)
  }

  private let state = Mutex(State.begins)

  func wait(_ ask: () -> Void) async throws -> Int {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let early: Result<Int, any Error>? = state.withLock { state in
          if case .isOver(let result) = state { return result }
          state = .waits(continuation)
          return nil
        }
        if let early { continuation.resume(with: early) }
        ask()
      }
    } onCancel: {
      end(.failure(CancellationError()))
    }
  }

  func end(_ result: Result<Int, any Error>) {
    let late: CheckedContinuation<Int, any Error>? = state.withLock { state in
      defer { if case .isOver = state {} else { state = .isOver(result) } }
      guard case .waits(let continuation) = state else { return nil }
      if !F.resumesUnderLock { return continuation }
      continuation.resume(with: result)
      return nil
    }
    late?.resume(with: result)
  }
}

/// Who asks, and how many have.
private final class Asking<F: CallBackFlaw>: Sendable {
  struct Exhausted: Error {}

  private let count = Mutex(0)

  func wait(_ ask: (CallBack<F>) -> Void) async throws -> Int {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number > F.most { throw Exhausted() }
    let callBack = CallBack<F>()
    do {
      let value = try await callBack.wait { ask(callBack) }
      note(.success(value))
      return value
    } catch {
      note(.failure(error))
      throw error
    }
  }

  private func note(_ result: Result<Int, any Error>) { if F.keeps(result) { OwnHeap.keep() } }
}

final class CalledClient<F: CallBackFlaw>: LearnerClient {
  private let server: CallingServer
  private let asking = Asking<F>()

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await asking.wait { callBack in server.ask(question) { callBack.end($0) } }
  }
}

final class CalledReader<F: CallBackFlaw>: LearnerReader {
  private let disk: Disk
  private let queue = DispatchQueue(label: "disk")
  private let asking = Asking<F>()

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await asking.wait { callBack in
      queue.async { [disk] in callBack.end(Result { try disk.read(block) }) }
    }
  }
}

enum SoundCallBack: CallBackFlaw {}

enum ResumesUnderLock: CallBackFlaw {
  static let resumesUnderLock = true
}

enum KeepsErrors: CallBackFlaw {
  static func keeps(_ result: Result<Int, any Error>) -> Bool {
    if case .failure(let error) = result { return !(error is CancellationError) }
    return false
  }
}

enum KeepsWhoWasCancelled: CallBackFlaw {
  static func keeps(_ result: Result<Int, any Error>) -> Bool { Task.isCancelled }
}

enum TwoBytesOfQuestions: CallBackFlaw {
  static let most = 65_535
}
