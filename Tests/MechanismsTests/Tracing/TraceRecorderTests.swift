import Basics
import Foundation
import Mechanisms
import Synchronization
import TestSupport
import Testing

@Suite(.watched)
struct TraceRecorderTests {
  /// A source that says what it is told, one event at a time.
  final class Script: TraceSource {
    private let next: Mutex<TraceStamp>
    let isSerial: Bool

    init(isSerial: Bool = true) {
      self.next = Mutex(TraceStamp(time: 0, worker: 0))
      self.isSerial = isSerial
    }

    func say(_ time: Int64, worker: UInt64 = 0, cause: TaskID? = nil) {
      next.withLock { $0 = TraceStamp(time: time, worker: worker, cause: cause) }
    }

    func stamp() -> TraceStamp { next.withLock { $0 } }
  }

  /// Runs `body` with 0, 1, … on as many threads, all of which are alive until the last has ended.
  static func onThreads(
    _ count: Int,
    _ body: @escaping @Sendable (Int) -> Void
  ) async {
    await onOwnThread {
      let done = DispatchSemaphore(value: 0)
      let leave = DispatchSemaphore(value: 0)
      for number in 0..<count {
        Thread.detachNewThread {
          body(number)
          done.signal()
          leave.wait()
        }
      }
      for _ in 0..<count { done.wait() }
      for _ in 0..<count { leave.signal() }
    }
  }

  @Test
  func `a stored event takes at most 32 bytes`() {
    #expect(storedEventStride <= 32)
  }

  @Test
  func `events of one instant stay in the order in which they were recorded`() {
    let script = Script()
    let recorder = TraceRecorder(source: script)
    script.say(7)
    for number in 1...10_000 { recorder.record(.arrived, of: TaskID(number)) }
    #expect(recorder.finish().map(\.task) == (1...10_000).map { TaskID($0) })
  }

  @Test
  func `a serial source keeps its order when threads take turns within one instant`() async {
    let recorder = TraceRecorder(source: Script())
    for number in 1...20 {
      await Self.onThreads(1) { _ in recorder.record(.arrived, of: TaskID(number)) }
    }
    #expect(recorder.finish().map(\.task) == (1...20).map { TaskID($0) })
  }

  @Test
  func `workers are numbered in the order of their first event, not of their keys`() {
    let script = Script()
    let recorder = TraceRecorder(source: script)
    for (time, key) in [(1, 900), (2, 30), (3, 900), (4, 7)] as [(Int64, UInt64)] {
      script.say(time, worker: key)
      recorder.record(.arrived, of: TaskID(1))
    }
    #expect(recorder.finish().map { $0.worker?.label } == ["w1", "w2", "w1", "w3"])
  }

  @Test
  func `what the source does not know is not made up, and causes are kept`() {
    let script = Script()
    let recorder = TraceRecorder(source: script)
    script.say(1)
    recorder.record(.arrived, of: TaskID(1))
    script.say(2, worker: 5, cause: .run)
    recorder.record(.progress(40), of: TaskID(1))
    script.say(3, worker: 5, cause: TaskID(9))
    recorder.record(.cancelled(.running), of: TaskID(1))
    #expect(
      recorder.finish() == [
        TraceEvent(time: 1, task: TaskID(1), kind: .arrived),
        TraceEvent(
          time: 2,
          task: TaskID(1),
          kind: .progress(40),
          worker: WorkerID(1),
          cause: .run
        ),
        TraceEvent(
          time: 3,
          task: TaskID(1),
          kind: .cancelled(.running),
          worker: WorkerID(1),
          cause: TaskID(9)
        ),
      ]
    )
  }

  @Test
  func `eight threads lose nothing, and each one's events stay in its order`() async {
    let recorder = TraceRecorder(source: WallTraceSource())
    let each = 10_000
    await Self.onThreads(8) { thread in
      for number in 0..<each { recorder.record(.arrived, of: TaskID(thread * each + number + 1)) }
    }
    let events = recorder.finish()
    #expect(recorder.count == 8 * each)
    #expect(Set(events.map(\.task)).count == 8 * each)
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(Set(events.map(\.worker)).count == 8)
    for thread in 0..<8 {
      let own = events.map { Int($0.task.number) - 1 }.filter { $0 / each == thread }
      #expect(own == own.sorted())
    }
  }

  @Test
  func `a cursor reads every event once, across the ends of chunks`() {
    let script = Script()
    let recorder = TraceRecorder(source: script)
    var cursor = TraceRecorder.Cursor()
    var read: [TaskID] = []
    var recorded = 0
    for batch in [1, 0, 4_095, 1, 4_096, 9_000, 3] {
      for _ in 0..<batch {
        recorded += 1
        recorder.record(.arrived, of: TaskID(recorded))
      }
      let fresh = recorder.events(since: &cursor)
      #expect(fresh.count == batch)
      read += fresh.map(\.task)
    }
    #expect(read == (1...recorded).map { TaskID($0) })
  }

  @Test
  func `a reader beside four writers sees whole events only, and in the end all of them`() async {
    let recorder = TraceRecorder(source: WallTraceSource())
    let each = 20_000
    let seen = Mutex<[Int32: Int]>([:])
    await Self.onThreads(5) { thread in
      if thread < 4 {
        for number in 1...each { recorder.record(.progress(UInt8(thread)), of: TaskID(number)) }
        return
      }
      var cursor = TraceRecorder.Cursor()
      var total = 0
      while total < 4 * each {
        let fresh = recorder.events(since: &cursor)
        total += fresh.count
        seen.withLock { seen in
          for event in fresh { seen[event.task.number, default: 0] += 1 }
        }
      }
    }
    #expect(
      seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: (1...each).map { (Int32($0), 4) })
    )
  }
}
