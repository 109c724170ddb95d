import Basics
import ExplorableLimiters
import ExplorableSynchronization
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// The exercise on order: what it takes, and by which question it refuses.
@Suite(.watched, .serialized, .long) struct `Outboxes` {
  /// One task takes from a stream.
  private final class Streaming: LearnerOutbox {
    private let messages: AsyncStream<String>.Continuation

    init(receiver: Receiver) {
      let (stream, messages) = AsyncStream<String>.makeStream()
      self.messages = messages
      Task { for await message in stream { await receiver.take(message) } }
    }

    func send(_ message: String) { messages.yield(message) }

    deinit { messages.finish() }
  }

  /// Each task awaits the one before.
  private class Chain: @unchecked Sendable {
    let receiver: Receiver
    // A class that is inherited cannot be checked; all that changes is behind this lock.
    let last = Mutex<(task: Task<Void, Never>?, text: String)>((nil, ""))

    required init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      last.withLock { last in
        last = (
          Task { [receiver, before = last.task] in
            await before?.value
            await receiver.take(message)
          }, message
        )
      }
    }
  }

  private final class Chained: Chain, LearnerOutbox, @unchecked Sendable {}

  private final class Queued: LearnerOutbox {
    private let receiver: Receiver
    private let queue = FIFOQueue()

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      queue.enqueue { [receiver] in await receiver.take(message) }
    }
  }

  @Test func `that keep the order in one of three ways pass`() async {
    for book in [
      Grader.outbox(Streaming.self), Grader.outbox(Chained.self), Grader.outbox(Queued.self),
    ] {
      let failed = await refusal(book)
      #expect(failed == nil, "\(failed as Any)")
    }
  }

  private struct Plain: LearnerOutbox {
    let receiver: Receiver
    func send(_ message: String) { Task { await receiver.take(message) } }
  }

  /// Waits on the caller's thread until the message has been taken, or the test is over.
  private final class Blocking: LearnerOutbox {
    static let taken = ThreadSemaphore()
    private let receiver: Receiver

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      Task { [receiver] in
        await receiver.take(message)
        Self.taken.post()
      }
      Self.taken.wait()
    }
  }

  /// A message that equals the one before is not sent.
  private final class Unequal: Chain, LearnerOutbox, @unchecked Sendable {
    override func send(_ message: String) {
      if last.withLock({ $0.text }) != message { super.send(message) }
    }
  }

  /// The same under a lock that one takes and frees by two calls.
  private final class TwoSections: LearnerOutbox, @unchecked Sendable {
    private let receiver: Receiver
    private let lock = LockObject()
    private var last: Task<Void, Never>?

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      let before = lock.withLock { last }
      let task = Task { [receiver] in
        await before?.value
        await receiver.take(message)
      }
      lock.withLock { last = task }
    }
  }

  private final class HeedingCancellation: Chain, LearnerOutbox, @unchecked Sendable {
    override func send(_ message: String) { if !Task.isCancelled { super.send(message) } }
  }

  /// Looks for the last one and puts itself there under two locks.
  private final class TwoLocks: Chain, LearnerOutbox, @unchecked Sendable {
    override func send(_ message: String) {
      let before = last.withLock { $0.task }
      let task = Task { [receiver] in
        await before?.value
        await receiver.take(message)
      }
      last.withLock { $0 = (task, message) }
    }
  }

  /// Asks again and again whether its turn has come.
  private final class Asking: LearnerOutbox {
    private let receiver: Receiver
    private let counts = Mutex((sent: 0, taken: 0))

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      let turn = counts.withLock { counts in
        counts.sent += 1
        return counts.sent
      }
      Task {
        // Explored only, never on a pool that others need.
        while true {
          let isNext = counts.withLock { $0.taken == turn - 1 }
          if isNext { break }
          await Task.yield()
        }
        await receiver.take(message)
        counts.withLock { $0.taken += 1 }
      }
    }
  }

  private final class NeverFinished: LearnerOutbox {
    private let messages: AsyncStream<String>.Continuation

    init(receiver: Receiver) {
      let (stream, messages) = AsyncStream<String>.makeStream()
      self.messages = messages
      Task { for await message in stream { await receiver.take(message) } }
    }

    func send(_ message: String) { messages.yield(message) }
  }

  private final class CancelledAtTheEnd: LearnerOutbox {
    private let messages: AsyncStream<String>.Continuation
    private let task: Task<Void, Never>

    init(receiver: Receiver) {
      let (stream, messages) = AsyncStream<String>.makeStream()
      self.messages = messages
      task = Task { for await message in stream { await receiver.take(message) } }
    }

    func send(_ message: String) { messages.yield(message) }

    deinit { task.cancel() }
  }

  private final class OneForAll: LearnerOutbox {
    private static let last = Mutex<Task<Void, Never>?>(nil)
    private let receiver: Receiver

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      Self.last.withLock { last in
        last = Task { [receiver, before = last] in
          await before?.value
          await receiver.take(message)
        }
      }
    }
  }

  /// What nobody has taken goes with the outbox.
  private final class GoneWithIt: LearnerOutbox {
    private let receiver: Receiver
    private let last = Mutex<Task<Void, Never>?>(nil)

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      last.withLock { last in
        last = Task { [weak self, before = last] in
          await before?.value
          await self?.receiver.take(message)
        }
      }
    }
  }

  /// Keeps every task that it ever made.
  private final class KeepingTasks: LearnerOutbox {
    /// How many bytes it keeps, as no other test changes them.
    static let kept = Atomic<Int64>(0)
    private let receiver: Receiver
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      Self.kept.add(64, ordering: .relaxed)
      tasks.withLock { tasks in
        tasks.append(
          Task { [receiver, before = tasks.last] in
            await before?.value
            await receiver.take(message)
          }
        )
      }
    }
  }

  private func expect<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    refusedBy name: String,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    // Only what is to refuse it: to tell a schedule of a program as large as this one takes seconds.
    let asked = Grader.outbox(type).questions.filter { $0.name == name }
    let failed = await refusal(
      GradeBook(asked),
      heap: { KeepingTasks.kept.load(ordering: .relaxed) }
    )
    #expect(failed?.name == name, "\(failed as Any)", sourceLocation: location)
    #expect(failed?.sentence.contains(part) == true, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `of many messages it is said where the order ends`() async {
    let inbox = Inbox()
    var taken = (0..<100).map { "m\($0)" }
    let sent = taken
    taken.swapAt(41, 42)
    for message in taken { await inbox.take(message) {} }
    #expect(
      inbox.fault([sent]) == "number 42 of 100 sent was 'm41', and 'm42' was taken in its place"
    )
  }

  @Test func `that do not are refused by what becomes of the messages`() async {
    await expect(Blocking.self, refusedBy: "comes_back", saying: "it does not return")
    Blocking.taken.post()
    await expect(Plain.self, refusedBy: "two", saying: "in this order, and taken 'sw' and 's'")
    await expect(TwoLocks.self, refusedBy: "at_once", saying: "while another was being taken")
    await expect(TwoSections.self, refusedBy: "at_once", saying: "while another was being taken")
    await expect(
      TwoLocks.self,
      refusedBy: "at_once_drawn",
      saying: "while another was being taken"
    )
    await expect(UnseenOutbox.self, refusedBy: "threads", saying: "Let one lock guard")
    await expect(NeverFinished.self, refusedBy: "two", saying: "end it in 'deinit'")
    await expect(CancelledAtTheEnd.self, refusedBy: "let_go", saying: "a task that is cancelled")
    await expect(GoneWithIt.self, refusedBy: "let_go", saying: "sent is never taken")
    await expect(
      HeedingCancellation.self,
      refusedBy: "cancelled",
      saying: "sent is never taken"
    )
    await expect(Asking.self, refusedBy: "waits", saying: "asks again and again")
    await expect(Unequal.self, refusedBy: "equal", saying: "sent is never taken")
    await expect(OneForAll.self, refusedBy: "apart", saying: "wrong in at least one schedule")
    await expect(KeepingTasks.self, refusedBy: "kept", saying: "of tasks the last one at most")
  }
}
