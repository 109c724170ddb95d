// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Dispatch
import Exploration
import Foundation
import Synchronization

// Memory that two tasks use.

extension Judged {
  final class Box<Value>: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  struct Pair {
    var a = 1
    var b = 1
  }
  enum Shape {
    case none
    case circle(Int)
    case box(Int, Int)
  }
  protocol Named { var name: Int { get set } }
  // Safe or not: that is what is asked.
  final class Thing: Named, @unchecked Sendable { var name = 1 }
  final class Observed: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var changes = 0
    var value = 0 { didSet { changes += 1 } }
  }
  static func bump<T: Named>(_ thing: inout T) { thing.name += 1 }
  static func bumpAny(_ thing: any Named) {
    var thing = thing
    thing.name += 1
  }
  static func addGenerically<N: AdditiveArithmetic>(_ box: Box<N>, _ more: N) {
    box.value = box.value + more
  }

  /// A copy on write of its own.
  final class Buffer: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  struct Cow: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var buffer: Buffer
    init(_ number: Int) { buffer = Buffer(number) }
    mutating func set(_ number: Int) {
      if !isKnownUniquelyReferenced(&buffer) { buffer = Buffer(buffer.number) }
      buffer.number = number
    }
  }

  /// Reads it in a task of its own, and lets go of it.
  static func read(_ value: Cow) -> Task<Int, Never> { Task { value.buffer.number } }

  /// Writes while another one reads, or has let go of it.
  static func writeBesideReader(asksWhoHasIt: Bool) async throws {
    var own = Cow(1)
    let reader = read(own)
    if asksWhoHasIt { own.set(2) } else { own.buffer.number = 2 }
    let found = await reader.value
    if asksWhoHasIt { try require(found == 1, "read \(found)") }
  }

  static let races: [JudgedProgram] = [
    JudgedProgram("a copy on write is written in place by who finds that nobody else has it") {
      try await writeBesideReader(asksWhoHasIt: true)
    },
    JudgedProgram("a copy on write is written by who does not ask who has it", fails: .race) {
      try await writeBesideReader(asksWhoHasIt: false)
    },
    JudgedProgram(
      "a value of a protocol's type is replaced while another reads it",
      fails: .race
    ) {
      let box = Box<any Named>(Thing())
      try await both {
        box.value = Thing()
      } _: {
        try require(box.value.name == 1, "another")
      }
    },
    JudgedProgram(
      "two tasks add to one field through a key path",
      fails: .race
    ) {
      let box = Box(0)
      // Safe or not: that is what is asked.
      nonisolated(unsafe) let path: ReferenceWritableKeyPath<Box<Int>, Int> = \.value
      try await both {
        box[keyPath: path] += 1
      } _: {
        box[keyPath: path] += 1
      }
    },
    JudgedProgram(
      "a closure is replaced while another calls it",
      fails: .race
    ) {
      let box = Box<@Sendable () -> Int>({ 1 })
      try await both {
        box.value = { 2 }
      } _: {
        try require(box.value() > 0, "none")
      }
    },
    JudgedProgram(
      "a relaxed flag is read without a fence",
      fails: .race
    ) {
      let box = Box(0)
      let flag = Flag()
      let ready = Number()
      _ = flag
      try await both {
        box.value = 1
        atomicMemoryFence(ordering: .releasing)
        ready.value.store(1, ordering: .relaxed)
      } _: {
        if ready.value.load(ordering: .relaxed) == 1 { try require(box.value == 1, "none") }
      }
    },
    JudgedProgram(
      "a relaxed flag is read in front of a fence"
    ) {
      let box = Box(0)
      let ready = Number()
      try await both {
        box.value = 1
        atomicMemoryFence(ordering: .releasing)
        ready.value.store(1, ordering: .relaxed)
      } _: {
        if ready.value.load(ordering: .relaxed) == 1 {
          atomicMemoryFence(ordering: .acquiring)
          try require(box.value == 1, "none")
        }
      }
    },
    JudgedProgram(
      "an object is handed over by a stream"
    ) {
      let (stream, continuation) = AsyncStream.makeStream(of: Box<Int>.self)
      let consumer = Task { for await box in stream { box.value += 1 } }
      let box = Box(0)
      box.value = 1
      continuation.yield(box)
      continuation.finish()
      await consumer.value
      try require(box.value == 2, "lost")
    },
    JudgedProgram(
      "a value with a copy on write is written by each who has a copy"
    ) {
      let first = Cow(1)
      // Safe or not: that is what is asked.
      nonisolated(unsafe) var mine = first
      // Safe or not: that is what is asked.
      nonisolated(unsafe) var other = first
      _ = first
      try await both {
        mine.set(2)
      } _: {
        other.set(3)
      }
      try require(mine.buffer.number == 2 && other.buffer.number == 3, "mixed")
    },
    JudgedProgram(
      "copies of an array are written by each who has one"
    ) {
      let array = [1, 2, 3]
      let one = Task {
        var mine = array
        mine[0] = 9
        return mine
      }
      let two = Task {
        var mine = array
        mine[0] = 8
        return mine
      }
      let sums = (await one.value[0], await two.value[0])
      try require(sums == (9, 8), "mixed")
    },
    JudgedProgram(
      "what is released is passed on by another's exchange"
    ) {
      let box = Box(0)
      let stage = Number()
      let one = Task {
        box.value = 1
        stage.value.store(1, ordering: .releasing)
      }
      let two = Task {
        _ = stage.value.compareExchange(expected: 1, desired: 2, ordering: .relaxed)
      }
      if stage.value.load(ordering: .acquiring) == 2 { try require(box.value == 1, "lost") }
      await one.value
      await two.value
    },
    JudgedProgram(
      "memory that one has given back is made anew by another"
    ) {
      try await both {
        let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
        memory.initialize(repeating: 1, count: 4)
        memory.deallocate()
      } _: {
        let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
        memory.initialize(repeating: 2, count: 4)
        memory.deallocate()
      }
    },
  ]
}
