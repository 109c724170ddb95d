import Basics
import LessonBook
import Synchronization
import TestSupport
import Testing

@testable import Grading

/// Wrong answers that are right as long as nobody waits before it fails, is cancelled, or is given something.
@Suite(.watched, .serialized, .long) struct `Answers wrong behind a wait` {
  private func expect(
    _ book: GradeBook,
    _ name: String,
    refusedSaying part: String?,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let terms = GradeBook.Terms(seed: 1, executor: racetrack, sharesPool: true)
    let questions = book.questions.filter { $0.name == name }
    #expect(!questions.isEmpty, "no question is called \(name)", sourceLocation: location)
    var last: GradeItem?
    for question in questions where last?.passed != false {
      last = await onOwnThread { question.ask(terms) }
    }
    #expect(last?.passed == (part == nil), "\(last as Any)", sourceLocation: location)
    if let part {
      #expect(last?.sentence.contains(part) == true, "\(last as Any)", sourceLocation: location)
    }
  }

  @Test func `of copies whose task had waited are refused`() async {
    await expect(
      Grader.copier(LineCopier<LosesPlace>.self),
      "error_in_line",
      refusedSaying: "nothing can run any more"
    )
    await expect(
      Grader.copier(LineCopier<LosesPlaceWhenCancelled>.self),
      "error_in_line",
      refusedSaying: "nothing can run any more"
    )
    await expect(
      Grader.copier(LineCopier<LeavesTwice>.self),
      "error_in_line",
      refusedSaying: "2 copies ran at once, limit 1"
    )
    await expect(Grader.copier(LineCopier<Sound>.self), "error_in_line", refusedSaying: nil)
  }

  @Test func `of questions whose task had waited are refused`() async {
    func connections<F: AfterWait>(_ flaw: F.Type) -> GradeBook {
      Grader.connections(LineConnections<F>.self)
    }
    await expect(
      connections(LosesPlace.self),
      "error_in_line",
      refusedSaying: "nothing can run any more"
    )
    await expect(
      connections(LeavesTwice.self),
      "error_in_line",
      refusedSaying: "two were answered at once, with one connection"
    )
    await expect(
      connections(PutsBrokenBack.self),
      "breaks_in_line",
      refusedSaying: "the connection that had broken was used again"
    )
    await expect(
      connections(TellsBroken.self),
      "breaks_in_line",
      refusedSaying: "expected its answer, on another connection"
    )
    await expect(
      connections(DropsWhenCancelled.self),
      "cancelled",
      refusedSaying: "breaks no connection"
    )
    await expect(
      Grader.connections(SharesQuestions.self),
      "same",
      refusedSaying: "each task's question is its own"
    )
    for name in ["error_in_line", "breaks_in_line", "cancelled", "same"] {
      await expect(connections(Sound.self), name, refusedSaying: nil)
    }
  }

  @Test func `of images that somebody has, or waits for, are refused`() async {
    await expect(
      Grader.imageCache(KeepsUnlessCancelled.self),
      "there",
      refusedSaying: "for the next it was fetched again"
    )
    await expect(
      Grader.imageCache(LateLeave.self),
      "failed_for_nobody",
      refusedSaying: "nobody cancelled it"
    )
    for name in ["there", "failed_for_nobody"] {
      await expect(Grader.imageCache(PlainCache.self), name, refusedSaying: nil)
    }
  }

  @Test func `of messages whose sender is urgent are refused`() async {
    await expect(
      Grader.outbox(UrgentOutbox<ByUrgency>.self),
      "urgent",
      refusedSaying: "sent were 's', 'sw' and 'swi', in this order, and taken 'swi'"
    )
    await expect(Grader.outbox(UrgentOutbox<AsSent>.self), "urgent", refusedSaying: nil)
  }

  @Test func `of withdrawals behind others are refused`() async {
    await expect(
      Grader.account(BankOfSixteen.self),
      "many_at_once",
      refusedSaying: "though there is enough for each"
    )
    await expect(
      Grader.account(LineAccount<KeepsTurn>.self),
      "cancelled_behind",
      refusedSaying: "nothing can run any more"
    )
    for name in ["many_at_once", "cancelled_behind"] {
      await expect(Grader.account(LineAccount<PassesTurn>.self), name, refusedSaying: nil)
    }
  }

  @Test func `of an account may be no actor's function`() async {
    await expect(Grader.account(OpenAccount.self), "safety", refusedSaying: nil)
  }

  @Test func `of who was cancelled before it came where all is free are refused`() async {
    await expect(
      Grader.pool(LosesForCancelled.self),
      "cancelled_before",
      refusedSaying: "it waits for ever"
    )
  }
}

// MARK: A line

/// Some places, one behind the other.
private actor Line {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ places: Int) { free = places }

  /// Whether it had to wait.
  func enter() async -> Bool {
    if free > 0 {
      free -= 1
      return false
    }
    await withCheckedContinuation { waiting.append($0) }
    return true
  }

  func leave() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
}

/// What is wrong of who had to wait.
private protocol AfterWait: SendableMetatype {
  /// How often it leaves the line after an error.
  static func leaves(after error: any Error) -> Int
  static var keepsBroken: Bool { get }
  static var tellsBroken: Bool { get }
  static var discardsWhenCancelled: Bool { get }
}

extension AfterWait {
  static func leaves(after error: any Error) -> Int { 1 }
  static var keepsBroken: Bool { false }
  static var tellsBroken: Bool { false }
  static var discardsWhenCancelled: Bool { false }
}

private enum Sound: AfterWait {}
private enum LosesPlace: AfterWait {
  static func leaves(after error: any Error) -> Int { 0 }
}
private enum LosesPlaceWhenCancelled: AfterWait {
  static func leaves(after error: any Error) -> Int { error is CancellationError ? 0 : 1 }
}
private enum LeavesTwice: AfterWait {
  static func leaves(after error: any Error) -> Int { error is CancellationError ? 2 : 1 }
}
private enum PutsBrokenBack: AfterWait { static var keepsBroken: Bool { true } }
private enum TellsBroken: AfterWait { static var tellsBroken: Bool { true } }
private enum DropsWhenCancelled: AfterWait {
  static var discardsWhenCancelled: Bool { true }
}

private struct LineCopier<F: AfterWait>: LearnerCopier {
  private let line: Line

  init(connections: Int, files: Int) { line = Line(min(connections, files)) }

  func download(_ copy: () async throws -> Void) async throws {
    let hasWaited = await line.enter()
    do {
      try await copy()
      await line.leave()
    } catch {
      for _ in 0..<(hasWaited ? F.leaves(after: error) : 1) { await line.leave() }
      throw error
    }
  }

  func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
}

private actor LineConnections<F: AfterWait>: LearnerConnections {
  private let line: Line
  private let open: @Sendable () async throws -> any LearnerConnection
  private var idle: [any LearnerConnection] = []

  init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
    line = Line(limit)
    self.open = open
  }

  func answer(to question: Int) async throws -> Int {
    let hasWaited = await line.enter()
    do {
      let answer = try await ask(question, hasWaited)
      await line.leave()
      return answer
    } catch {
      for _ in 0..<(hasWaited ? F.leaves(after: error) : 1) { await line.leave() }
      throw error
    }
  }

  private func ask(_ question: Int, _ hasWaited: Bool) async throws -> Int {
    while true {
      let connection: any LearnerConnection
      if let kept = idle.popLast() { connection = kept } else { connection = try await open() }
      do {
        let answer = try await connection.answer(to: question)
        idle.append(connection)
        return answer
      } catch is ConnectionBroken {
        if hasWaited, F.keepsBroken { idle.append(connection) }
        if hasWaited, F.tellsBroken { throw ConnectionBroken() }
        if hasWaited, F.keepsBroken { return question * question }
      } catch {
        if !F.discardsWhenCancelled || !Task.isCancelled { idle.append(connection) }
        throw error
      }
    }
  }
}

/// Equal questions are asked once, by a task that is cancelled with either of who asks.
private actor SharesQuestions: LearnerConnections {
  private let connections: LineConnections<Sound>
  private var underWay: [Int: Task<Int, any Error>] = [:]

  init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
    connections = LineConnections(limit: limit, open: open)
  }

  func answer(to question: Int) async throws -> Int {
    let task =
      underWay[question] ?? Task { [connections] in try await connections.answer(to: question) }
    underWay[question] = task
    defer { if underWay[question] == task { underWay[question] = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

// MARK: Images

/// Keeps every fetch, and forgets one that fails.
private actor PlainCache: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: [String: Task<[UInt8], any Error>] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
    fetches[name] = task
    do {
      return try await task.value
    } catch {
      if fetches[name] == task { fetches[name] = nil }
      throw error
    }
  }
}

/// Whoever comes first ends the fetch, and keeps the image if it is not cancelled.
private actor KeepsUnlessCancelled: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: [String: Task<[UInt8], any Error>] = [:]
  private var images: [String: [UInt8]] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    if let image = images[name] { return image }
    let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
    fetches[name] = task
    defer { if fetches[name] == task { fetches[name] = nil } }
    let image = try await task.value
    if !Task.isCancelled { images[name] = image }
    return image
  }
}

/// Who is cancelled leaves by a task of its own, which does not say which fetch it leaves.
private actor LateLeave: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: [String: Task<[UInt8], any Error>] = [:]
  private var waiting: [String: Int] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  private func leave(_ name: String) {
    guard let task = fetches[name], let count = waiting[name] else { return }
    waiting[name] = count - 1
    if count == 1 {
      fetches[name] = nil
      waiting[name] = nil
      task.cancel()
    }
  }

  func image(_ name: String) async throws -> [UInt8] {
    let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
    if fetches[name] == nil {
      fetches[name] = task
      waiting[name] = 0
    }
    if let count = waiting[name] { waiting[name] = count + 1 }
    do {
      let image = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        Task { await self.leave(name) }
      }
      if fetches[name] == task { waiting[name] = nil }
      return image
    } catch {
      if fetches[name] == task {
        fetches[name] = nil
        waiting[name] = nil
      }
      throw error
    }
  }
}

// MARK: Messages

private protocol Turn: SendableMetatype {
  static func isBefore(_ one: TaskPriority, _ other: TaskPriority) -> Bool
}
private enum AsSent: Turn {
  static func isBefore(_ one: TaskPriority, _ other: TaskPriority) -> Bool { false }
}
private enum ByUrgency: Turn {
  static func isBefore(_ one: TaskPriority, _ other: TaskPriority) -> Bool { one > other }
}

/// Puts a message where its sender's priority wants it.
private final class UrgentOutbox<T: Turn>: LearnerOutbox {
  private struct State {
    var line: [(message: String, priority: TaskPriority)] = []
    var isUnderWay = false
  }

  private let state = Mutex(State())
  private let receiver: Receiver

  init(receiver: Receiver) { self.receiver = receiver }

  func send(_ message: String) {
    let priority = Task.currentPriority
    let begins = state.withLock { state in
      let place =
        state.line.firstIndex { T.isBefore(priority, $0.priority) } ?? state.line.endIndex
      state.line.insert((message, priority), at: place)
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    if begins { Task { await self.hand() } }
  }

  private func hand() async {
    while let next = state.withLock({ state -> String? in
      if state.line.isEmpty {
        state.isUnderWay = false
        return nil
      }
      return state.line.removeFirst().message
    }) { await receiver.take(next) }
  }
}

// MARK: Accounts

private actor BankOfSixteen: LearnerAccount {
  private var balance: Int
  private var pending = 0
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard pending < 16, balance >= amount else { return false }
    pending += 1
    defer { pending -= 1 }
    balance -= amount
    await bank.approve()
    return true
  }
}

private protocol TurnOfCancelled: SendableMetatype { static var isPassed: Bool { get } }
private enum PassesTurn: TurnOfCancelled { static var isPassed: Bool { true } }
private enum KeepsTurn: TurnOfCancelled { static var isPassed: Bool { false } }

/// One withdrawal after the other; one that is cancelled when its turn has come is refused.
private actor LineAccount<T: TurnOfCancelled>: LearnerAccount {
  private var balance: Int
  private let bank: Bank
  private let line = Line(1)

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    if await line.enter(), Task.isCancelled {
      if T.isPassed { await line.leave() }
      return false
    }
    let isEnough = balance >= amount
    if isEnough {
      await bank.approve()
      balance -= amount
    }
    await line.leave()
    return isEnough
  }
}

/// An actor whose function is not its own.
private actor OpenAccount: LearnerAccount {
  private let balance: Mutex<Int>
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = Mutex(balance)
    self.bank = bank
  }

  nonisolated func withdraw(_ amount: Int) async -> Bool {
    let isEnough = balance.withLock { balance in
      guard balance >= amount else { return false }
      balance -= amount
      return true
    }
    if isEnough { await bank.approve() }
    return isEnough
  }
}

// MARK: Pools

/// Has no element for who was cancelled before it came, and nobody who would wake it.
private final class LosesForCancelled: LearnerPool {
  private struct State {
    var free: [Int]
    var line: [Waiting.Waiter] = []
  }

  private let waiting: Waiting
  private let state: Mutex<State>

  init(size: Int, waiting: Waiting) {
    self.waiting = waiting
    state = Mutex(State(free: Array(1...size)))
  }

  func take() async -> Int {
    await waiting.suspend { waiter in
      let element = state.withLock { state -> Int? in
        if let element = state.free.popLast() { return element }
        state.line.append(waiter)
        return nil
      }
      if let element, !Task.isCancelled { waiter.resume(with: element) }
    }
  }

  func giveBack(_ element: Int) {
    let next = state.withLock { state -> Waiting.Waiter? in
      if state.line.isEmpty {
        state.free.append(element)
        return nil
      }
      return state.line.removeFirst()
    }
    next?.resume(with: element)
  }
}
