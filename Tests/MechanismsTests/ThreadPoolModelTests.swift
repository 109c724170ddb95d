import Basics
import TestSupport
import Testing

@testable import Mechanisms

/// When a modelled platform gives a job a thread.
@Suite(.watched) struct ThreadPoolModelTests {
  /// Jobs that all block as soon as they have a thread; returns how many have one.
  private func blocking(_ jobs: Int, _ pool: inout ThreadPoolModel) -> Int {
    var starts: [ThreadPoolModel.Start] = []
    for job in 1...jobs { starts += pool.submit(job) }
    var begun = 0
    while begun < starts.count {
      begun += 1
      starts += pool.block()
    }
    return begun
  }

  @Test func `Apple's replaces each thread that blocks, up to 64`() {
    var pool = ThreadPoolModel(.apple, processors: 2)
    #expect(blocking(50, &pool) == 50)
    var full = ThreadPoolModel(.apple, processors: 2)
    #expect(blocking(100, &full) == 64)
    #expect(!full.needsTick)
  }

  @Test func `Linux's has a thread for each processor, and one more each second, up to 255`() {
    var pool = ThreadPoolModel(.linux, processors: 2)
    #expect(blocking(1_000, &pool) == 2)
    for second in 1...253 {
      #expect(pool.needsTick)
      #expect(pool.tick().count == 1)
      #expect(pool.block() == [])
      #expect(pool.threads == 2 + second)
    }
    #expect(!pool.needsTick)
    #expect(pool.tick() == [])
  }

  @Test func `while one thread runs, Linux's grows to twice the processors and no further`() {
    var pool = ThreadPoolModel(.linux, processors: 3)
    for job in 1...20 { _ = pool.submit(job) }
    // Two of the three are blocked, and so is each that comes.
    #expect(pool.block() == [] && pool.block() == [])
    for _ in 1...3 {
      #expect(pool.tick().count == 1)
      #expect(pool.block() == [])
    }
    #expect(pool.tick() == [])
    #expect(pool.threads == 6)
    // Now that none runs it seems to stand still.
    #expect(pool.block() == [])
    #expect(pool.tick().count == 1)
  }

  @Test(arguments: Platform.allCases)
  func `no more threads compute than there are processors`(platform: Platform) {
    var pool = ThreadPoolModel(platform, processors: 3)
    var running: [Int] = []
    for job in 1...20 { running += pool.submit(job).map(\.thread) }
    #expect(running == [1, 2, 3])
    // However often somebody looks: they run.
    #expect(pool.tick() == [])
    var begun = running.count
    while let thread = running.popLast() {
      let starts = pool.end(thread)
      begun += starts.count
      running += starts.map(\.thread)
      #expect(running.count <= 3)
    }
    #expect(begun == 20)
    #expect(pool.threads == 3)
  }

  @Test(arguments: Platform.allCases)
  func `jobs begin in the order in which they came, each once, on a thread of its own`(
    platform: Platform
  ) {
    for seed in 1...50 {
      var pool = ThreadPoolModel(platform, processors: 1 + seed % 3)
      var random = SplitMix64(seed: UInt64(seed))
      var starts: [ThreadPoolModel.Start] = []
      var held: [Int: Bool] = [:]
      var next = 1
      func take(_ new: [ThreadPoolModel.Start]) {
        for start in new {
          #expect(held[start.thread] == nil, "two jobs on thread \(start.thread)")
          held[start.thread] = false
        }
        starts += new
      }
      for _ in 0..<300 {
        switch random.next(below: 4) {
        case 0:
          take(pool.submit(next))
          next += 1
        case 1:
          if let thread = held.keys.sorted().first(where: { held[$0] == false }) {
            held[thread] = true
            take(pool.block())
          }
        case 2:
          if let thread = held.keys.min() {
            if held.removeValue(forKey: thread) == true { pool.unblock() }
            take(pool.end(thread))
          }
        default: take(pool.tick())
        }
      }
      #expect(starts.map(\.job) == Array(1..<(starts.count + 1)))
    }
  }
}
