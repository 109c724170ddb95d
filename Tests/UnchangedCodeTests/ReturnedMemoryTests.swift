import Exploration
import Foundation
import TestSupport
import Testing

/// Memory that code gives back by itself, and who uses it still.
///
/// Nothing here reads what it should not outside an exploration, which keeps the memory meanwhile.
@Suite(.inTurn, .watched) struct `Memory that is given back` {
  /// A pointer that tasks share, and nobody guards.
  private struct Cell: @unchecked Sendable {
    // Safe only where a test says so: that is what is tested.
    let at: UnsafeMutablePointer<Int>

    init() {
      at = .allocate(capacity: 4)
      at.initialize(repeating: 1, count: 4)
    }
  }

  private func isUsedAfterwards(
    _ place: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> String {
    let failure = try failure(place, body)
    guard case .race = failure.kind else { throw failure }
    return failure.description
  }

  @Test func `who reads what a task before has given back is told both places`() throws {
    let text = try isUsedAfterwards("read later") {
      let cell = Cell()
      await Task { cell.at.deallocate() }.value
      // In an order, and wrong all the same.
      let value = await Task { cell.at.pointee }.value
      try require(value != 2, "\(value)")
    }
    #expect(text.contains("memory is used that was given back: task"), "\(text)")
    #expect(text.contains("gives back at ReturnedMemoryTests.swift"), "\(text)")
    #expect(text.contains("reads at ReturnedMemoryTests.swift"), "\(text)")
    #expect(text.contains(/what matters: step \d+ comes before step \d+/), "\(text)")
  }

  @Test func `who writes to what the same task has given back is told`() throws {
    let text = try isUsedAfterwards("written later") {
      let cell = Cell()
      cell.at.deallocate()
      cell.at.pointee = 2
    }
    #expect(text.contains("memory is used that was given back"), "\(text)")
  }

  @Test func `one of several orders in which memory is used too late is found`() throws {
    let text = try isUsedAfterwards("one order") {
      let cell = Cell()
      let lock = NSLock()
      let user = Task { lock.withLock { cell.at[3] } }
      let owner = Task { lock.withLock { cell.at.deallocate() } }
      let value = await user.value
      try require(value != 2, "\(value)")
      await owner.value
    }
    #expect(text.contains("memory is used that was given back"), "\(text)")
  }

  @Test func `memory that is given back while another reads it is a race`() throws {
    let text = try isUsedAfterwards("meanwhile") {
      let cell = Cell()
      let owner = Task { cell.at.deallocate() }
      let value = cell.at.pointee
      await owner.value
      try require(value == 1, "\(value)")
    }
    #expect(text.contains("gives back at ReturnedMemoryTests.swift"), "\(text)")
  }

  @Test func `memory that is given back twice is told`() throws {
    let bodies: [@Sendable () -> Void] = [
      {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        memory.deallocate()
        memory.deallocate()
      },
      {
        let memory = UnsafeMutableBufferPointer<Int>.allocate(capacity: 8)
        memory.deallocate()
        UnsafeBufferPointer(memory).deallocate()
      },
      {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        memory.deallocate()
        free(memory.baseAddress)
      },
      {
        let memory = malloc(64)
        free(memory)
        free(memory)
      },
    ]
    for (number, body) in bodies.enumerated() {
      let text = try isUsedAfterwards("twice \(number)") { body() }
      #expect(text.contains("memory is given back twice"), "\(text)")
    }
  }

  @Test func `memory that a deinit gives back is nobody's any more`() throws {
    final class Owner: Sendable {
      let cell = Cell()
      deinit { cell.at.deallocate() }
    }
    let text = try isUsedAfterwards("deinit") {
      var owner: Owner? = Owner()
      let cell = owner!.cell
      cell.at.pointee += 1
      owner = nil
      cell.at.pointee += 1
    }
    #expect(text.contains("memory is used that was given back"), "\(text)")
  }

  @Test func `an object's memory is soon another's, as it is on threads`() throws {
    final class Object: Sendable {}
    try explore("objects", preemptions: 0) {
      var addresses: Set<UnsafeMutableRawPointer> = []
      for _ in 1...100 {
        let object = Object()
        addresses.insert(Unmanaged.passUnretained(object).toOpaque())
      }
      try require(addresses.count < 100, "no address came twice")
    }
  }

  @Test func `memory that is given back in turn, often, large and small, is nobody's fault`() throws
  {
    let verdict = try explore("in turn", preemptions: 0, schedules: 3, instead: nil) {
      let lock = NSLock()
      let use: @Sendable () -> Void = {
        for round in 1...1_500 {
          lock.withLock {
            let cell = Cell()
            cell.at[3] += round
            cell.at.deallocate()
          }
        }
        for size in [1, 1 << 12, 1 << 20, 1 << 25] {
          let memory = malloc(size)!
          memory.storeBytes(of: 1, as: UInt8.self)
          free(memory)
          let large = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
          large.storeBytes(of: 1, as: UInt8.self)
          large.deallocate()
        }
      }
      let tasks = [Task { use() }, Task { use() }]
      for task in tasks { await task.value }
    }
    #expect(verdict.schedules > 0)
  }
}

/// Schedules that touch much memory.
@Suite(.inTurn, .watched) struct `Much memory in unchanged code` {
  private static func write(_ count: Int) throws -> ExplorationVerdict {
    try explore("\(count) words") {
      // Safe: only the task uses it, and it has ended before the memory is given back.
      nonisolated(unsafe) let memory = UnsafeMutablePointer<Int>.allocate(capacity: count)
      let writer = Task { for index in 0..<count { memory[index] = index } }
      await writer.value
      memory.deallocate()
    }
  }

  @Test func `a schedule that touches thirty thousand words comes to its end`() throws {
    let verdict = try Self.write(30_000)
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    #expect(!verdict.notCovered.contains { $0.contains("half million") }, "\(verdict)")
  }

  @Test func `one that touches more than half a million is looked at in part, and says so`() throws
  {
    let verdict = try Self.write(700_000)
    #expect(verdict.notCovered.contains { $0.contains("half million") }, "\(verdict)")
  }
}
