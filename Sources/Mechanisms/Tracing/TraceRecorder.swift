// Keeps every event of a run, at a cost that does not disturb what it records.
//
// Recording happens on the path under measurement. So each thread writes a log of its own, found
// through a thread-specific value: no lock, nothing shared, one store that publishes the event. What
// is left of an event's cost is mostly the reading of the clock.
//
// - A log is a list of chunks. A chunk is never moved or copied once begun, so no append pays for the
//   events before it, and readers may look at what is published while the owner writes on.
// - The price: a thread may be interrupted between its stamp and its append. Events are therefore
//   brought into the order of time when they are read, and one that was being appended while a live
//   view read the log turns up in the view's next reading. After the run, nothing is missing.
// - A serial source (virtual time) gets one log for all threads, under a lock: the order of its events
//   within one instant is the order of recording, no matter which threads took turns.

import Glibc
import Synchronization

/// Records the events of a run from any thread, in time order when read; never drops one.
package final class TraceRecorder: Tracer {
  private let source: any TraceSource
  /// Where each thread finds its own log; nil for a serial source, and if the process has no
  /// thread-specific keys left: then all threads take turns at the shared log.
  private let key: pthread_key_t?
  private let shared = ThreadLog()
  private let sharedTurn = Mutex(())
  /// Every log, the shared one first; it keeps alive what the threads' values point to.
  private let logs: Mutex<[ThreadLog]>

  package init(source: any TraceSource) {
    self.source = source
    self.logs = Mutex([shared])
    var key = pthread_key_t()
    let hasKey = !source.isSerial && pthread_key_create(&key, nil) == 0
    self.key = hasKey ? key : nil
  }

  deinit {
    if let key { pthread_key_delete(key) }
  }

  package func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    let event = StoredEvent(source.stamp(), kind, task)
    guard let key, let own = pthread_getspecific(key) else { return recordElsewhere(event) }
    // The value was set by `recordElsewhere` on this thread, and `logs` keeps the object alive. Going
    // round reference counting matters: it would cost as much as all the rest.
    Unmanaged<ThreadLog>.fromOpaque(own)._withUnsafeGuaranteedRef { $0.append(event) }
  }

  /// Records on a thread's first event, or where threads share one log.
  @inline(never)
  private func recordElsewhere(_ event: StoredEvent) {
    guard let key else { return sharedTurn.withLock { _ in shared.append(event) } }
    let own = ThreadLog()
    logs.withLock { $0.append(own) }
    guard pthread_setspecific(key, Unmanaged.passUnretained(own).toOpaque()) == 0 else {
      return sharedTurn.withLock { _ in shared.append(event) }
    }
    own.append(event)
  }

  /// Where a reader of the log has got to, and the names it has given to the workers so far.
  package struct Cursor: Sendable {
    /// How many events of each log have been read.
    fileprivate var read: [Int] = []
    fileprivate var workers: [UInt64: WorkerID] = [:]

    package init() {}
  }

  /// The events recorded since the last reading with this cursor, in the order of time.
  ///
  /// Costs time in proportion to the new events, so a view may ask twenty times a second. Workers
  /// are numbered from 1 in the order in which this cursor's readings first name them.
  package func events(since cursor: inout Cursor) -> [TraceEvent] {
    let logs = logs.withLock { $0 }
    while cursor.read.count < logs.count { cursor.read.append(0) }
    var fresh: [StoredEvent] = []
    for (index, log) in logs.enumerated() {
      cursor.read[index] = log.read(from: cursor.read[index], into: &fresh)
    }
    Self.sortByTime(&fresh)
    return fresh.map { $0.event(workers: &cursor.workers) }
  }

  /// Every event of the run in the order of time, the workers numbered in the order of appearance.
  ///
  /// Call it once every task has ended.
  ///
  /// - Complexity: O(n) for a serial source, O(n log n) for n events otherwise.
  package func finish() -> [TraceEvent] {
    var cursor = Cursor()
    return events(since: &cursor)
  }

  /// How many events have been recorded so far.
  package var count: Int { logs.withLock { $0 }.reduce(0) { $0 + $1.count } }

  /// Sorts by time, and by position where times are equal: a thread's own order is never changed.
  private static func sortByTime(_ events: inout [StoredEvent]) {
    if zip(events, events.dropFirst()).allSatisfy({ $0.time <= $1.time }) { return }
    events = events.indices.sorted { (events[$0].time, $0) < (events[$1].time, $1) }
      .map { events[$0] }
  }
}

/// The events of one thread: appended by one thread at a time, read by any.
///
/// `@unchecked Sendable`: `slots` and `used` are touched by appends only, which come one at a time
/// (from the thread that owns the log, or under the shared log's lock). Readers see a slot only after
/// the releasing store of `published` that follows its initialisation, and no slot changes afterwards.
private final class ThreadLog: @unchecked Sendable {
  /// The slots of the last chunk.
  private var slots: UnsafeMutablePointer<StoredEvent>?
  /// How many of them are filled.
  private var used = 0
  private let published = Atomic<Int>(0)
  /// Every chunk in order.
  ///
  /// Listed before its first event is published, so that a reader who reads
  /// `published` first finds all the chunks that number needs.
  private let chunks = Mutex<[Chunk]>([])

  func append(_ event: StoredEvent) {
    var place = slots
    if place == nil || used == Chunk.length { place = startChunk() }
    place.unsafelyUnwrapped.advanced(by: used).initialize(to: event)
    used &+= 1
    published.store(published.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  @inline(never)
  private func startChunk() -> UnsafeMutablePointer<StoredEvent> {
    let chunk = Chunk()
    chunks.withLock { $0.append(chunk) }
    slots = chunk.slots
    used = 0
    return chunk.slots
  }

  var count: Int { published.load(ordering: .acquiring) }

  /// Appends the events from position `start` on to `events`.
  ///
  /// - Returns: the position to go on from.
  func read(from start: Int, into events: inout [StoredEvent]) -> Int {
    let end = count
    guard start < end else { return start }
    let chunks = chunks.withLock { $0 }
    var position = start
    while position < end {
      let (index, offset) = position.quotientAndRemainder(dividingBy: Chunk.length)
      let length = min(Chunk.length - offset, end - position)
      events.append(contentsOf: chunks[index].filled(offset..<offset + length))
      position += length
    }
    return end
  }
}

/// Memory for the next events of a log.
///
/// `@unchecked Sendable`: `slots` never changes, and what it points to is kept apart by `ThreadLog`.
private final class Chunk: @unchecked Sendable {
  /// 128 KB of events: rare enough to begin, small enough to waste.
  static let length = 4_096

  let slots = UnsafeMutablePointer<StoredEvent>.allocate(capacity: length)

  deinit { slots.deallocate() }

  func filled(_ range: Range<Int>) -> UnsafeBufferPointer<StoredEvent> {
    UnsafeBufferPointer(start: slots.advanced(by: range.lowerBound), count: range.count)
  }
}

/// An event as the recorder keeps it: 32 bytes.
private struct StoredEvent {
  var time: Int64
  var worker: UInt64
  var task: Int32
  /// -1 where unknown.
  var cause: Int32
  var kind: TraceEvent.Kind
  /// A route's raw value; a number that is none where there is no route to tell.
  var route: UInt8

  @inline(__always)
  init(_ stamp: TraceStamp, _ kind: TraceEvent.Kind, _ task: TaskID) {
    self.time = stamp.time
    self.worker = stamp.worker
    self.task = task.number
    self.cause = stamp.cause?.number ?? -1
    self.kind = kind
    self.route = stamp.route?.rawValue ?? .max
  }

  func event(workers: inout [UInt64: WorkerID]) -> TraceEvent {
    var name: WorkerID?
    // What happens to the run happens on no worker of its tasks.
    if worker != 0, task > 0 {
      if let known = workers[worker] {
        name = known
      } else {
        let new = WorkerID(workers.count + 1)
        workers[worker] = new
        name = new
      }
    }
    return TraceEvent(
      time: time,
      task: TaskID(Int(task)),
      kind: kind,
      worker: name,
      cause: cause < 0 || task == 0 ? nil : TaskID(Int(cause)),
      route: TraceEvent.Route(rawValue: route)
    )
  }
}

/// The size of a stored event in memory, in bytes; a test holds it to 32.
package let storedEventStride = MemoryLayout<StoredEvent>.stride
