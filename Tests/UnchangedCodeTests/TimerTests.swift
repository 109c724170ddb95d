import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Timers of Dispatch, as code has them that was written before tasks.
@Suite(.inTurn, .watched) struct `Timers of Dispatch in unchanged code` {
  /// Saves a while after the last change, as editors do.
  private final class Autosave: @unchecked Sendable {
    private let queue = DispatchQueue(label: "autosave")
    private let keepsTimer: Bool
    private let cancelsBefore: Bool
    private var timer: (any DispatchSourceTimer)?
    private(set) var saved: [Int] = []
    private var text = 0

    init(keepsTimer: Bool = true, cancelsBefore: Bool = true) {
      self.keepsTimer = keepsTimer
      self.cancelsBefore = cancelsBefore
    }

    func change(to text: Int) {
      queue.sync {
        self.text = text
        if cancelsBefore { timer?.cancel() }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.save() }
        timer.schedule(deadline: .now() + 1)
        timer.resume()
        if keepsTimer { self.timer = timer } else { retained.append(timer) }
      }
    }

    private var retained: [any DispatchSourceTimer] = []

    private func save() { saved.append(text) }

    var all: [Int] { queue.sync { saved } }

    func close() {
      queue.sync {
        timer?.cancel()
        timer = nil
      }
    }
  }

  @Test func `one that is set anew fires once, some time after`() throws {
    let verdict = try explore("autosave") {
      let autosave = Autosave()
      autosave.change(to: 1)
      autosave.change(to: 2)
      try await Task.sleep(for: .seconds(5))
      // What was set first may fire before the second change, and never behind it.
      try require([[2], [1, 2]].contains(autosave.all), "saved \(autosave.all)")
      autosave.close()
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `one that nobody cancels fires beside the next`() throws {
    let failure = try failure("two timers") {
      let autosave = Autosave(keepsTimer: false, cancelsBefore: false)
      autosave.change(to: 1)
      autosave.change(to: 2)
      try await Task.sleep(for: .seconds(5))
      try require([[2], [1, 2]].contains(autosave.all), "saved \(autosave.all)")
    }
    #expect(failure.description.contains("saved [2, 2]"), "\(failure)")
  }

  @Test func `a cancellation may come too late`() throws {
    let failure = try failure("too late") {
      let queue = DispatchQueue(label: "timeout")
      let fired = Atomic(false)
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.setEventHandler { fired.store(true, ordering: .sequentiallyConsistent) }
      timer.schedule(deadline: .now() + 1)
      timer.activate()
      let answering = Task { timer.cancel() }
      await answering.value
      try require(!fired.load(ordering: .sequentiallyConsistent), "answered, and timed out too")
    }
    #expect(failure.description.contains("answered, and timed out too"), "\(failure)")
    #expect(failure.description.contains("sets, begins or ends timer"), "\(failure)")
  }

  @Test func `one that repeats fires until it is cancelled, and its end is told on its queue`()
    throws
  {
    let verdict = try explore("ticks", preemptions: 0) {
      let queue = DispatchQueue(label: "clock")
      let ticks = Mutex(0)
      await withCheckedContinuation { ended in
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .seconds(1))
        timer.setEventHandler {
          if ticks.withLock({
            $0 += 1
            return $0 == 3
          }) {
            timer.cancel()
          }
        }
        timer.setCancelHandler { ended.resume() }
        timer.resume()
      }
      try require(ticks.withLock { $0 } == 3, "\(ticks.withLock { $0 }) ticks")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `one that goes on for ever keeps no schedule from its end`() throws {
    let verdict = try explore("a clock") {
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "clock"))
      timer.schedule(deadline: .now() + 1, repeating: .seconds(1))
      timer.setEventHandler {}
      timer.resume()
      withExtendedLifetime(timer) {}
      await Task.yield()
    }
    #expect(verdict.givenUp == 0, "\(verdict)")
  }

  @Test func `one that nobody keeps does not fire, and a suspended one fires when it goes on`()
    throws
  {
    let verdict = try explore("kept") {
      let fired = Mutex<[String]>([])
      let queue = DispatchQueue(label: "timers")
      func start(_ name: String, isSuspended: Bool = false) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { fired.withLock { $0.append(name) } }
        timer.resume()
        if isSuspended { timer.suspend() }
        timer.schedule(deadline: .now() + 1)
        return timer
      }
      _ = start("lost")
      let suspended = start("suspended", isSuspended: true)
      try await Task.sleep(for: .seconds(5))
      Self.finish(queue)
      try require(fired.withLock { $0 } == [], "fired: \(fired.withLock { $0 })")
      suspended.resume()
      try await Task.sleep(for: .seconds(5))
      Self.finish(queue)
      try require(fired.withLock { $0 } == ["suspended"], "fired: \(fired.withLock { $0 })")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  /// What has fired may wait for its turn yet.
  private static func finish(_ queue: DispatchQueue) { queue.sync {} }

  @Test func `a handler races with who does not go by its queue`() throws {
    final class Meter: @unchecked Sendable { var ticks = 0 }
    let failure = try failure("races") {
      let meter = Meter()
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "clock"))
      timer.setEventHandler { meter.ticks += 1 }
      timer.schedule(deadline: .now() + 1)
      timer.resume()
      try await Task.sleep(for: .seconds(2))
      try require(meter.ticks < 9, "ticks")
      timer.cancel()
    }
    guard case .race = failure.kind else { throw failure }
  }
}
