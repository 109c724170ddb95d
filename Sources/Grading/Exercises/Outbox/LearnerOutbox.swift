internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What a learner writes in the exercise on order: messages that are sent without waiting, and taken in order.
package protocol LearnerOutbox: Sendable {
  /// Makes an outbox whose messages `receiver` takes.
  init(receiver: Receiver)

  /// Sends a message; cannot wait.
  func send(_ message: String)
}

/// Takes messages, one after the other; taking one suspends.
package struct Receiver: Sendable {
  let taking: @Sendable (String) async -> Void

  /// Takes a message; wrong while another is being taken.
  package func take(_ message: String) async { await taking(message) }
}

/// What a receiver has taken, and how.
final class Inbox: Sendable {
  private struct State {
    var taken: [String] = []
    var begun = 0
    var ended = 0
    /// A message that was handed over otherwise than it may be, and how.
    var mishandled: String?
    /// Is signalled when so many have been taken.
    var due: (count: Int, signal: Signal)?
  }

  private let state = Lock(State())
  /// Whether it remembers what it took.
  private let remembers: Bool

  init(remembers: Bool = true) { self.remembers = remembers }

  /// Takes a message, and does what it takes in between.
  func take(_ message: String, _ meanwhile: () async -> Void) async {
    // An exploration stops there, and must not do so under a lock that it does not see: who comes to that lock
    // meanwhile is blocked in earnest, and goes on whenever its thread gets a processor.
    let isCancelled = Task.isCancelled
    state.withLock { state in
      if state.begun > state.ended {
        state.mishandled =
          state.mishandled ?? "'\(message)' was handed over while another was being taken"
      }
      if isCancelled {
        state.mishandled =
          state.mishandled
          ?? "'\(message)' was handed over by a task that is cancelled: a receiver that heeds that drops it"
      }
      state.begun += 1
      if remembers { state.taken.append(message) }
    }
    await meanwhile()
    let signal = state.withLock { state in
      state.ended += 1
      guard let due = state.due, state.ended >= due.count else { return nil as Signal? }
      state.due = nil
      return due.signal
    }
    signal?.signal()
  }

  /// A receiver that suspends once for each message.
  var receiver: Receiver { Receiver { message in await self.take(message) { await Task.yield() } } }

  /// Waits until so many have been taken.
  func wait(for count: Int) async {
    let (condition, signal) = Condition.makeCondition()
    let isThere = state.withLock { state in
      if state.ended < count { state.due = (count, signal) }
      return state.ended >= count
    }
    if !isThere { try? await condition.waitUncancellably() }
  }

  /// Waits until so many have been taken, or none has been for a while.
  func settle(for count: Int) async {
    var seen = 0
    var idle = 0
    while idle < 1_000 {
      let ended = state.withLock { $0.ended }
      if ended >= count { return }
      idle = ended == seen ? idle + 1 : 0
      seen = ended
      await Moment.pass()
    }
  }

  /// What has been taken.
  var texts: [String] { state.withLock { $0.taken } }

  /// How many have been taken.
  var count: Int { state.withLock { $0.ended } }

  /// What was taken otherwise than it was sent; nil if each sender's messages were taken once and in its order.
  func fault(_ senders: [[String]]) -> String? {
    let (taken, mishandled) = state.withLock { ($0.taken, $0.mishandled) }
    // In an order that is wrong, the first thing to say is the order.
    for sent in senders {
      let own = Set(sent)
      let theirs = taken.filter { own.contains($0) }
      if theirs.count == sent.count, theirs != sent, theirs.sorted() == sent.sorted() {
        return Self.told(sent, theirs)
      }
    }
    if let mishandled { return mishandled }
    let all = senders.flatMap(\.self)
    if taken.sorted() != all.sorted() {
      if all.count > 8 { return "of \(all.count) messages \(taken.count) were taken" }
      return "sent were \(Self.list(all)), and taken \(Self.list(taken))"
    }
    return nil
  }

  /// That the same messages were taken in another order; of many, where it begins to differ.
  private static func told(_ sent: [String], _ taken: [String]) -> String {
    let place = zip(sent, taken).prefix { $0 == $1 }.count
    return place < 3
      ? "sent were \(list(sent)), in this order, and taken \(list(taken))"
      : "number \(place + 1) of \(sent.count) sent was '\(sent[place])', and '\(taken[place])' was taken in its place"
  }

  private static func list(_ messages: [String]) -> String {
    ListText.some(messages.map { "'\($0)'" })
  }
}
