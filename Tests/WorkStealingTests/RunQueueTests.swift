import Basics
import Synchronization
import TestSupport
import Testing

@testable import WorkStealing

@Suite(.watched) struct `A worker's queue` {
  @Test func `gives every job once, oldest first, in every short sequence of operations`() {
    // Put in, take, steal: every sequence of nine, with two places at first, so that it grows.
    for pattern in 0..<19_683 {
      let queue = RunQueue(capacity: 2)
      let thief = RunQueue()
      var model: [UInt] = []
      var (rest, next) = (pattern, 1 as UInt)
      for _ in 0..<9 {
        switch rest % 3 {
        case 0:
          queue.push(next)
          model.append(next)
          next += 1
        case 1:
          let oldest = model.isEmpty ? nil : model.removeFirst()
          #expect(queue.pop() == oldest)
        default:
          let half = Array(model.prefix((model.count + 1) / 2))
          model.removeFirst(half.count)
          #expect(queue.steal(into: thief) == half.first)
          var others: [UInt] = []
          while let job = thief.pop() { others.append(job) }
          #expect(others == Array(half.dropFirst()))
        }
        #expect(queue.isEmpty == model.isEmpty)
        rest /= 3
      }
    }
  }

  @Test func `grows without losing order`() {
    let queue = RunQueue(capacity: 4)
    for job in 1...1_000 as ClosedRange<UInt> { queue.push(job) }
    for job in 1...1_000 as ClosedRange<UInt> { #expect(queue.pop() == job) }
    #expect(queue.pop() == nil)
  }

  @Test func `gives a thief as many as its array always has room for`() {
    let (queue, thief) = (RunQueue(), RunQueue())
    for job in 1...1_000 as ClosedRange<UInt> { queue.push(job) }
    #expect(queue.steal(into: thief) == 1)
    for job in 2...128 as ClosedRange<UInt> { #expect(thief.pop() == job) }
    #expect(thief.isEmpty)
    #expect(queue.pop() == 129)
  }

  @Test(arguments: [1, 3])
  func `gives every job to exactly one of its owner and its thieves`(thieves: Int) async {
    let count = 200_000
    let times = Counts(count)
    let queue = RunQueue(capacity: 2)
    let isDone = Flag()
    let owner = OSThread("owner") {
      var random = SplitMix64(seed: 7)
      var next: UInt = 1
      while next <= count {
        for _ in 0...random.next(below: 40) where next <= count {
          queue.push(next)
          next += 1
        }
        for _ in 0...random.next(below: 20) {
          if let job = queue.pop() { times.note(job) }
        }
      }
      while let job = queue.pop() { times.note(job) }
      isDone.set()
    }
    await withDiscardingTaskGroup { group in
      for _ in 0..<thieves {
        group.addTask {
          await onOwnThread("thief") {
            let own = RunQueue()
            while !isDone.isSet || !queue.isEmpty {
              if let job = queue.steal(into: own) { times.note(job) }
              while let job = own.pop() { times.note(job) }
            }
          }
        }
      }
    }
    owner.join()
    #expect(times.allAreOne)
  }
}

/// Something that one thread says and another waits for.
final class Flag: Sendable {
  private let word = Atomic<Bool>(false)

  func set() { word.store(true, ordering: .releasing) }
  var isSet: Bool { word.load(ordering: .acquiring) }
}

/// How often each of many jobs ran.
final class Counts: Sendable {
  private let counts: [Count]

  private final class Count: Sendable { let value = Atomic<Int>(0) }

  init(_ jobs: Int) { counts = (0..<jobs).map { _ in Count() } }

  /// Notes a run of `job`, counted from 1.
  func note(_ job: UInt) { counts[Int(job) - 1].value.add(1, ordering: .relaxed) }

  var allAreOne: Bool { counts.allSatisfy { $0.value.load(ordering: .relaxed) == 1 } }
}
