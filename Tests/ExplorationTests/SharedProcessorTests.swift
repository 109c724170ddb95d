import Basics
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Exploration

// One after the other: what one gives back to all would be another's.
@Suite(.watched, .serialized) struct `The processor that an exploration shares` {
  /// How many processors threads might use as they noted it.
  private final class Counts: Sendable {
    private let counts = Mutex<[Int]>([])

    var all: [Int] { counts.withLock { $0 } }

    func note() { counts.withLock { $0.append(allowed) } }
  }

  /// How many processors the calling thread may use.
  private static var allowed: Int {
    let mask = KernelFile.field("Cpus_allowed", of: "/proc/thread-self/status") ?? ""
    return mask.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
  }

  @Test func `is the only one for its threads, and all may use what they could behind it`() throws {
    let seen = Counts()
    let before = Self.allowed
    try explore("shared") {
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask {
            await Task.yield()
            seen.note()
          }
        }
      }
    }
    #expect(Set(seen.all) == [1])
    #expect(Self.allowed == before)
  }

  @Test(.enabled(if: Processors.allowed > 1, "there is one processor"))
  func `is given back to threads that the code under study has begun too`() async {
    let counts = await onOwnThread("home") {
      guard var processor = SharedProcessor() else { return [Int]() }
      let (goOn, here) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let counts = Counts()
      counts.note()
      let begun = OSThread {
        counts.note()
        here.signal()
        goOn.wait()
        counts.note()
      }
      here.wait()
      // At its end too, unless another exploration of this program is on that processor.
      processor.giveBackToAll()
      processor.end()
      goOn.signal()
      begun.join()
      return counts.all
    }
    #expect(counts == [1, 1, Processors.allowed])
  }

  @Test(.enabled(if: Processors.allowed > 1, "there is one processor"))
  func `is left for another one, and in the end for the first again`() async {
    let numbers = await onOwnThread("home") {
      guard var processor = SharedProcessor() else { return [Int]() }
      defer { processor.end() }
      return (0...Processors.allowed).map { _ in
        defer { processor.move([]) }
        return processor.number
      }
    }
    #expect(numbers.first == numbers.last)
    #expect(Set(numbers).count == Processors.allowed)
  }

  @Test(arguments: [(50, false), (40, false), (36, false), (30, true), (25, true), (0, true)])
  func `is left where its threads had too little of it, which is two thirds of a time`(
    _ milliseconds: Int,
    _ isLeft: Bool
  ) {
    let isTooLittle = SharedProcessor.isTooLittle(
      .milliseconds(milliseconds),
      of: .milliseconds(50)
    )
    #expect(isTooLittle == isLeft)
  }
}
