import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Work of Dispatch that is performed where it stands, that comes later, or is cancelled; and the wait for operations.
@Suite(.inTurn, .watched) struct `Work items and operations in unchanged code` {
  /// What has come, in which order.
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])

    var all: [String] { entries.withLock { $0 } }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  @Test func `an item that is performed is over for who waits for it`() throws {
    let verdict = try explore("performs, then waits") {
      let log = Log()
      let item = DispatchWorkItem { log.add("item") }
      item.perform()
      item.wait()
      try require(log.all == ["item"], "\(log.all)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `an item that is performed is over for each who is to be told`() throws {
    let verdict = try explore("notifies, then performs") {
      let queue = DispatchQueue(label: "told")
      let log = Log()
      let told = DispatchSemaphore(value: 0)
      let item = DispatchWorkItem { log.add("item") }
      for number in 1...2 {
        item.notify(queue: queue) {
          log.add("told \(number)")
          told.signal()
        }
      }
      item.perform()
      for _ in 1...2 { told.wait() }
      try require(log.all.first == "item" && log.all.count == 3, "\(log.all)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  private struct Performed: @unchecked Sendable {
    // Safe: it is what Dispatch says, which may be performed and waited for on any thread.
    let item: DispatchWorkItem
  }

  private final class Plain: @unchecked Sendable {
    // Safe where the item's end is: that is what is asked.
    var value = 0
  }

  @Test func `who waits for an item stands behind what it did on another thread`() throws {
    let verdict = try explore("performs elsewhere") {
      let plain = Plain()
      let performed = Performed(item: DispatchWorkItem { plain.value = 1 })
      let perform: @Sendable () -> Void = { performed.item.perform() }
      let wait: @Sendable () -> Void = { performed.item.wait() }
      async let performing: Void = perform()
      wait()
      try require(plain.value == 1, "\(plain.value)")
      await performing
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `the item of a queue is over when it has run there, performed or not`() throws {
    let verdict = try explore("runs on a queue") {
      let queue = DispatchQueue(label: "items")
      let plain = Plain()
      let item = DispatchWorkItem { plain.value = 1 }
      queue.async(execute: item)
      item.wait()
      try require(plain.value == 1, "\(plain.value)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `work that comes later may come before who gave it cancels it`() throws {
    let failure = try failure("cancels too late") {
      let queue = DispatchQueue(label: "later")
      let log = Log()
      let item = DispatchWorkItem { log.add("item") }
      queue.asyncAfter(deadline: .now() + .milliseconds(1), execute: item)
      item.cancel()
      queue.sync {}
      try require(log.all.isEmpty, "\(log.all)")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `the second part of a work side by side may come first, though it takes no lock`()
    throws
  {
    let failure = try failure("parts in order") {
      // Written by one at a time, and seen by no exploration.
      var pipes: [Int32] = [0, 0]
      pipe(&pipes)
      let (from, to) = (pipes[0], pipes[1])
      DispatchQueue.concurrentPerform(iterations: 2) { part in
        var byte = UInt8(part)
        write(to, &byte, 1)
      }
      var bytes: [UInt8] = [0, 0]
      read(from, &bytes, 2)
      close(from)
      close(to)
      try require(bytes == [0, 1], "\(bytes)")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `who waits for all operations of a queue asks again only when another has gone on`()
    throws
  {
    let verdict = try explore("waits for all") {
      let queue = OperationQueue()
      let log = Log()
      for number in 1...2 { queue.addOperation { log.add("\(number)") } }
      let wait: @Sendable () -> Void = { queue.waitUntilAllOperationsAreFinished() }
      wait()
      try require(log.all.count == 2, "\(log.all)")
    }
    // No schedule is as long as one may get.
    #expect(verdict.givenUp == 0 && verdict.drawn == 0, "\(verdict)")
    #expect(verdict.steps < 40 * verdict.schedules, "\(verdict)")
  }
}
