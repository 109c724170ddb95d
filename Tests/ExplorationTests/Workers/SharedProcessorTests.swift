import Basics
import Synchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.inTurn, .watched) struct `The processor that an exploration shares` {
  /// Which processors the calling thread may use, as the kernel lists them.
  private static var allowed: String {
    KernelFile.field("Cpus_allowed_list", of: "/proc/thread-self/status") ?? ""
  }

  private final class Seen: Sendable {
    private let lists = Mutex<Set<String>>([])

    var all: Set<String> { lists.withLock { $0 } }

    func note() { lists.withLock { _ = $0.insert(allowed) } }
  }

  /// A thread that says, when asked, what it may use, and has what number.
  private final class Witness: Sendable {
    private let (asks, answers) = (ThreadSemaphore(), ThreadSemaphore())
    private let said = Mutex((number: Int32(0), allowed: ""))

    init() {
      OSThread { [self] in
        while true {
          asks.wait()
          let number = Int32(KernelFile.field("Pid", of: "/proc/thread-self/status") ?? "") ?? 0
          said.withLock { $0 = (number, allowed) }
          answers.post()
        }
      }
      .detach()
    }

    var now: (number: Int32, allowed: String) {
      asks.post()
      answers.wait()
      return said.withLock { $0 }
    }
  }

  @Test func `is the only one for its threads, and what they could use before is the home's again`()
    throws
  {
    let seen = Seen()
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
    #expect(seen.all.allSatisfy { Int($0) != nil }, "\(seen.all)")
    #expect(Self.allowed == before)
  }

  /// In a process of its own: other explorations may be on the same processor.
  @Test(.enabled(if: Processors.allowed > 1, "there is one processor"))
  func `is left for another one, and all may use what they could before in the end`() async {
    await #expect(processExitsWith: .success) {
      await onOwnThread("home") {
        let before = Self.allowed
        // This process may have been begun by a thread that may use one only: then there is nothing to ask.
        guard var processor = SharedProcessor() else { return }
        precondition(Self.allowed == "\(processor.number)")
        let (worker, begun) = (Witness(), Witness())
        precondition(worker.now.allowed == Self.allowed && begun.now.allowed == Self.allowed)
        let first = processor.number
        processor.move([worker.now.number])
        precondition(processor.number != first)
        precondition(Self.allowed == "\(processor.number)")
        precondition(worker.now.allowed == Self.allowed)
        // It may be what kept the processor busy.
        precondition(begun.now.allowed == before)
        let late = Witness()
        precondition(late.now.allowed == Self.allowed)
        processor.end()
        for list in [Self.allowed, worker.now.allowed, begun.now.allowed, late.now.allowed] {
          precondition(list == before)
        }
      }
    }
  }

  /// In a process of its own too.
  @Test(.enabled(if: Processors.allowed > 1, "there is one processor"))
  func `is kept by another exploration that is on it when one ends`() async {
    await #expect(processExitsWith: .success) {
      await onOwnThread("home") {
        let (isThere, goesOn) = (ThreadSemaphore(), ThreadSemaphore())
        let place = Atomic(-1)
        let other = OSThread {
          var processor = SharedProcessor()
          if let number = processor?.number { place.store(number, ordering: .releasing) }
          isThere.post()
          goesOn.wait()
          guard let number = processor?.number else { return }
          precondition(Self.allowed == "\(number)")
          processor?.end()
          precondition(Self.allowed != "\(number)")
        }
        isThere.wait()
        // As above.
        guard var processor = SharedProcessor() else { return }
        while processor.number != place.load(ordering: .acquiring) { processor.move([]) }
        processor.end()
        goesOn.post()
        other.join()
      }
    }
  }

  @Test(arguments: [(50, false), (40, false), (36, false), (30, true), (25, true), (0, true)])
  func `is left where its threads had less than two thirds of it`(
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
