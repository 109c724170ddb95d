import Exploration
import Foundation
import Synchronization

// Operations and their queues: what code was written with before tasks, and still is.

extension Judged {
  // MARK: One at a time

  /// Counts by operations of one queue.
  final class OperationCounter: @unchecked Sendable {
    private let queue = OperationQueue()
    private var count = 0

    init(atOnce limit: Int) { queue.maxConcurrentOperationCount = limit }

    func add() { queue.addOperation { self.count += 1 } }

    func countAtEnd() -> Int {
      queue.waitUntilAllOperationsAreFinished()
      return count
    }
  }

  static func count(atOnce limit: Int) throws {
    let counter = OperationCounter(atOnce: limit)
    counter.add()
    counter.add()
    let count = counter.countAtEnd()
    try require(count == 2, "\(count) of 2")
  }

  // MARK: Cancelling

  /// An operation that looks once whether it is cancelled, and works behind that.
  final class Cancellable: Operation, @unchecked Sendable {
    let worked = Mutex(0)

    override func main() {
      if isCancelled { return }
      worked.withLock { $0 += 1 }
    }
  }

  /// Cancels an operation that was just given to a queue, and says that it works no more.
  static func cancelAtOnce(waits: Bool) throws {
    let queue = OperationQueue()
    let operation = Cancellable()
    queue.addOperation(operation)
    operation.cancel()
    if waits { queue.waitUntilAllOperationsAreFinished() }
    let before = operation.worked.withLock { $0 }
    queue.waitUntilAllOperationsAreFinished()
    let after = operation.worked.withLock { $0 }
    try require(before == after, "it went on behind its cancellation")
  }

  // MARK: Waiting inside

  /// An operation that waits for another one of its queue.
  static func waitInside(atOnce limit: Int) throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = limit
    queue.addOperation {
      let inner = BlockOperation {}
      queue.addOperations([inner], waitUntilFinished: true)
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  // MARK: Dependencies

  /// Writes and then reads, in two operations.
  static func readBehindWrite(depends: Bool) throws {
    let queue = OperationQueue()
    let value = Mutex(0)
    let seen = Mutex(0)
    let write = BlockOperation { value.withLock { $0 = 1 } }
    let read = BlockOperation { seen.withLock { $0 = value.withLock { $0 } } }
    if depends { read.addDependency(write) }
    queue.addOperations([read, write], waitUntilFinished: true)
    let found = seen.withLock { $0 }
    try require(found == 1, "read \(found)")
  }

  // MARK: The end of an operation

  /// Counts ends in completion blocks, which run when the operation has ended already.
  static func countEnds(inCompletionBlock isInBlock: Bool) throws {
    let queue = OperationQueue()
    let ended = Mutex(0)
    let operation = BlockOperation { if !isInBlock { ended.withLock { $0 += 1 } } }
    if isInBlock { operation.completionBlock = { ended.withLock { $0 += 1 } } }
    queue.addOperations([operation], waitUntilFinished: true)
    let count = ended.withLock { $0 }
    try require(count == 1, "\(count) ended")
  }

  // MARK: Awaiting an operation

  /// Awaits an operation that somebody else may cancel before it begins.
  static func awaitOperation(resumesAtEnd: Bool) async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    try await both {
      await withCheckedContinuation { continuation in
        // Of a cancelled operation the block does not run, but the completion block does.
        let operation = BlockOperation { if !resumesAtEnd { continuation.resume() } }
        if resumesAtEnd { operation.completionBlock = { continuation.resume() } }
        queue.addOperation(operation)
      }
    } _: {
      queue.cancelAllOperations()
    }
  }

  // MARK: A barrier

  /// Reads between two blocks that must not overlap it.
  static func writeBehind(aBarrier: Bool) throws {
    let queue = OperationQueue()
    let readers = Mutex(0)
    let overlapped = Mutex(false)
    queue.addOperation {
      readers.withLock { $0 += 1 }
      readers.withLock { $0 -= 1 }
    }
    let write = { @Sendable in
      let reading = readers.withLock { $0 }
      if reading > 0 { overlapped.withLock { $0 = true } }
    }
    if aBarrier { queue.addBarrierBlock(write) } else { queue.addOperation(write) }
    queue.waitUntilAllOperationsAreFinished()
    let found = overlapped.withLock { $0 }
    try require(!found, "a write beside a read")
  }

  // MARK: A queue that is suspended

  /// Adds while the queue is suspended, and waits for it.
  static func waitForSuspended(resumes: Bool) async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let ran = Atomic(false)
    queue.addOperation { ran.store(true, ordering: .relaxed) }
    try await both {
      if resumes { queue.isSuspended = false }
    } _: {
      waitForAll(of: queue)
    }
    try require(ran.load(ordering: .relaxed), "the operation did not run")
  }

  /// Not to be called by a task, says its declaration, which the code that one meets does not heed.
  static func waitForAll(of queue: OperationQueue) { queue.waitUntilAllOperationsAreFinished() }

  // MARK: Operations of one's own

  /// Ends when what it started has ended, as downloads do.
  final class Download: Operation, @unchecked Sendable {
    // Safe: what its queue looks at is behind the lock.
    private let state = Mutex((isExecuting: false, isFinished: false))
    private let loaded: Mutex<Int>
    private let endsBefore: Bool

    init(endsBefore: Bool) {
      loaded = Mutex(0)
      self.endsBefore = endsBefore
    }

    var bytes: Int { loaded.withLock { $0 } }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.isExecuting } }
    override var isFinished: Bool { state.withLock { $0.isFinished } }

    override func start() {
      change(to: (true, false))
      Task {
        if endsBefore { change(to: (false, true)) }
        loaded.withLock { $0 = 1 }
        if !endsBefore { change(to: (false, true)) }
      }
    }

    private func change(to new: (isExecuting: Bool, isFinished: Bool)) {
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      state.withLock { $0 = new }
      didChangeValue(for: \.isFinished)
      didChangeValue(for: \.isExecuting)
    }
  }

  static func download(endsBefore: Bool) throws {
    let queue = OperationQueue()
    let download = Download(endsBefore: endsBefore)
    let read = BlockOperation {}
    read.addDependency(download)
    queue.addOperations([download, read], waitUntilFinished: true)
    try require(download.bytes == 1, "\(download.bytes) bytes")
  }

  /// Downloads of one queue, whose state it looks at while it has a lock of its own.
  static func downloadAll() throws {
    let queue = OperationQueue()
    let downloads = [Download(endsBefore: false)]
    for download in downloads { queue.addOperation(download) }
    queue.waitUntilAllOperationsAreFinished()
    let bytes = downloads.reduce(0) { $0 + $1.bytes }
    try require(bytes == 1, "\(bytes) bytes")
  }

  // MARK: The main queue

  static func useMain() async throws {
    let ran = Atomic(false)
    await withCheckedContinuation { continuation in
      OperationQueue.main.addOperation {
        ran.store(true, ordering: .relaxed)
        continuation.resume()
      }
    }
    try require(ran.load(ordering: .relaxed), "the operation did not run")
  }

  // MARK: Priorities

  /// Of those that wait for a place, the more urgent one runs first; of those that do not, nobody knows.
  static func addUrgent(behindAnother isBehind: Bool) throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let order = Mutex<[String]>([])
    queue.isSuspended = isBehind
    let plain = BlockOperation { order.withLock { $0.append("plain") } }
    let urgent = BlockOperation { order.withLock { $0.append("urgent") } }
    urgent.queuePriority = .veryHigh
    queue.addOperation(plain)
    queue.addOperation(urgent)
    queue.isSuspended = false
    waitForAll(of: queue)
    let found = order.withLock { $0 }
    try require(found == ["urgent", "plain"], "\(found)")
  }

  // MARK: States of their own

  /// An operation that says itself how far it is, and looks before it says that it has ended, or does not.
  private final class OwnState: Operation, @unchecked Sendable {
    private let state = Atomic(0)
    private let ends = Atomic(0)
    private let looks: Bool

    init(looks: Bool) {
      self.looks = looks
      super.init()
    }

    var timesEnded: Int { ends.load(ordering: .sequentiallyConsistent) }
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.load(ordering: .sequentiallyConsistent) == 1 }
    override var isFinished: Bool { state.load(ordering: .sequentiallyConsistent) == 2 }

    override func start() {
      go(to: 1)
      end()
    }

    private func go(to next: Int) {
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      state.store(next, ordering: .sequentiallyConsistent)
      didChangeValue(for: \.isExecuting)
      didChangeValue(for: \.isFinished)
    }

    /// Called by the operation, and by who has no more patience.
    func end() {
      if looks {
        let (isFirst, _) = ends.compareExchange(
          expected: 0,
          desired: 1,
          ordering: .sequentiallyConsistent
        )
        if !isFirst { return }
      } else {
        ends.add(1, ordering: .sequentiallyConsistent)
      }
      go(to: 2)
    }
  }

  /// Waits for the queue as Foundation does: it asks the operation for its end again and again.
  static func waitForOwnState(looks: Bool, isEndedByOther: Bool = false) async throws {
    let queue = OperationQueue()
    let operation = OwnState(looks: looks)
    queue.addOperation(operation)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        if isEndedByOther, operation.isExecuting { operation.end() }
        waitForAll(of: queue)
        continuation.resume()
      }
    }
    try require(operation.timesEnded < 2, "ended \(operation.timesEnded) times")
  }

  // MARK: What Foundation keeps

  /// Has Foundation look up what it keeps under locks of its own, more of it the first time.
  static func format() async throws {
    let texts = Mutex<[String]>([])
    let write: @Sendable (Int) async throws -> Void = { number in
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      let date = Date(timeIntervalSince1970: Double(number))
      let data = try encoder.encode([date])
      let day = Calendar(identifier: .gregorian).component(.day, from: date)
      texts.withLock { $0.append("\(String(decoding: data, as: UTF8.self)) \(day)") }
    }
    try await both {
      try await write(1)
    } _: {
      try await write(2)
    }
    let count = texts.withLock(\.count)
    try require(count == 2, "\(count) texts")
  }

  static let operations: [JudgedProgram] = [
    JudgedProgram("an operation is not at work any more when it is cancelled", fails: .requirement)
    {
      try cancelAtOnce(waits: false)
    },
    JudgedProgram("an operation that was cancelled is waited for") {
      try cancelAtOnce(waits: true)
    },
    JudgedProgram("an operation that keeps its state itself is waited for", spins: true) {
      try await waitForOwnState(looks: true)
    },
    JudgedProgram("an operation is ended by itself and by another", fails: .requirement) {
      try await waitForOwnState(looks: false, isEndedByOther: true)
    },
    JudgedProgram("two tasks write dates by what Foundation keeps") { try await format() },
    JudgedProgram("operations one at a time count in a plain variable") { try count(atOnce: 1) },
    JudgedProgram("operations two at a time count in a plain variable", fails: .race) {
      try count(atOnce: 2)
    },
    JudgedProgram("an operation waits for another one of its queue, two at a time") {
      try waitInside(atOnce: 2)
    },
    JudgedProgram(
      "an operation waits for another one of its queue, one at a time",
      fails: .deadlock
    ) {
      try waitInside(atOnce: 1)
    },
    JudgedProgram("an operation reads what the one wrote that it depends on") {
      try readBehindWrite(depends: true)
    },
    JudgedProgram("an operation reads what another one writes", fails: .requirement) {
      try readBehindWrite(depends: false)
    },
    JudgedProgram("operations count themselves before they end") {
      try countEnds(inCompletionBlock: false)
    },
    JudgedProgram("completion blocks count operations that were waited for", fails: .requirement) {
      try countEnds(inCompletionBlock: true)
    },
    JudgedProgram("the end of a cancelled operation resumes who awaits it") {
      try await awaitOperation(resumesAtEnd: true)
    },
    JudgedProgram("the block of a cancelled operation would resume who awaits it", fails: .deadlock)
    {
      try await awaitOperation(resumesAtEnd: false)
    },
    JudgedProgram("a barrier block runs alone") { try writeBehind(aBarrier: true) },
    JudgedProgram("a block runs beside another one", fails: .requirement) {
      try writeBehind(aBarrier: false)
    },
    JudgedProgram("a suspended queue is resumed by another task") {
      try await waitForSuspended(resumes: true)
    },
    JudgedProgram("a suspended queue is resumed by nobody", fails: .deadlock) {
      try await waitForSuspended(resumes: false)
    },
    JudgedProgram("an operation ends when what it started has ended") {
      try download(endsBefore: false)
    },
    JudgedProgram("an operation ends before it has its result", fails: .requirement) {
      try download(endsBefore: true)
    },
    // Its schedules are too many for the time; that they are the same each time is what is asked.
    JudgedProgram(
      "operations of one queue end when what they started has ended",
      spins: true,
      isLong: true
    ) { try downloadAll() },
    JudgedProgram("an operation of the main queue resumes who awaits it") { try await useMain() },
    JudgedProgram("an urgent operation of a suspended queue runs first") {
      try addUrgent(behindAnother: true)
    },
    JudgedProgram("an urgent operation is added while another one may run", fails: .requirement) {
      try addUrgent(behindAnother: false)
    },
  ]
}
