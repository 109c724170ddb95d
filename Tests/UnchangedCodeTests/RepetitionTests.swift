import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// The same choices, the same run; and where not, what was not the same.
@Suite(.inTurn, .watched) struct `Runs of unchanged code, repeated` {
  private final class Cell: Sendable {
    private let count = Mutex(0)
    private let lock = NSLock()

    func add(isByMutex: Bool) {
      if isByMutex { count.withLock { $0 += 1 } } else { lock.withLock {} }
    }
  }

  /// Has the memory of a cell that is gone not be used again in every second run.
  private final class Occupant: @unchecked Sendable {
    private var runs = 0
    private var cells: [Cell] = []

    func begin() { runs += 1 }

    func occupy() { if runs % 2 == 0 { cells.append(Cell()) } }
  }

  @Test(arguments: [true, false])
  func `a lock in memory that another had is another lock, whatever the allocator does`(
    isByMutex: Bool
  ) throws {
    let occupant = Occupant()
    let verdict = try explore("memory used again", races: false) {
      occupant.begin()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask {
            for _ in 1...2 {
              Cell().add(isByMutex: isByMutex)
              occupant.occupy()
            }
          }
        }
      }
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  private final class Visits: Sendable {
    let count = Atomic(0)
    let lock = NSLock()

    func add() {
      if count.wrappingAdd(1, ordering: .relaxed).oldValue % 2 == 0 { lock.withLock {} }
    }
  }

  private static let lineOfAdd: Int = #line - 4

  @Test func `what differs between two runs is told, with its step, its line and its values`()
    throws
  {
    let visits = Visits()
    let failure = try failure("visits") {
      async let one: Void = visits.add()
      async let two: Void = Task.yield()
      _ = await (one, two)
    }
    guard case .diverged = failure.kind else { throw failure }
    let line = "RepetitionTests.swift:\(Self.lineOfAdd)"
    let text = "\(failure)"
    #expect(
      text.contains(", which task 2 takes at \(line) (changes atomic 1 (count)), finds ")
        && text.contains(#/finds \d+ there in one run and \d+ in another; behind step/#),
      "\(text)"
    )
    #expect(
      text.contains("the runs part: in the one task ") && text.contains("task 2 takes lock 2"),
      "\(text)"
    )
  }

  @Test
  func `a schedule that passes once and fails when it is run again is told with what differs`()
    throws
  {
    let visits = Visits()
    let failure = try failure("once") {
      async let yielding: Void = Task.yield()
      try require(visits.count.wrappingAdd(1, ordering: .relaxed).oldValue == 0, "used before")
      await yielding
    }
    guard case .diverged = failure.kind else { throw failure }
    #expect(
      "\(failure)".contains("RepetitionTests.swift:\(#line - 4) (changes atomic"),
      "\(failure)"
    )
    #expect("\(failure)".contains("finds 0 there in one run and"), "\(failure)")
  }

  /// Takes a lock as it is made, at its first use.
  private final class Registry: Sendable {
    private let names = Mutex<[String]>([])
    init() { names.withLock { $0.append("first") } }
    func add() { names.withLock { $0.append("one more") } }
  }

  private enum OfRight { static let registry = Registry() }
  private enum OfWrong { static let registry = Registry() }

  @Test func `a static that is made at its first use accuses nobody, and the verdict names it`()
    throws
  {
    let verdict = try explore("static") {
      async let one: Void = OfRight.registry.add()
      async let two: Void = OfRight.registry.add()
      _ = await (one, two)
    }
    #expect(verdict.coverage == .exhaustive)
    #expect(
      verdict.notCovered.contains {
        $0.hasPrefix("runs in which something that outlives the closure")
      },
      "\(verdict)"
    )
  }

  @Test func `a static that is made at its first use hides no failure`() throws {
    let failure = try failure("wrong static") {
      let registry = OfWrong.registry
      let count = Atomic(0)
      let add: @Sendable () -> Void = {
        registry.add()
        let before = count.load(ordering: .relaxed)
        registry.add()
        count.store(before + 1, ordering: .relaxed)
      }
      async let one: Void = add()
      async let two: Void = add()
      _ = await (one, two)
      try require(count.load(ordering: .relaxed) == 2, "one is lost")
    }
    guard case .requirement = failure.kind else { throw failure }
    #expect("\(failure)".contains("before that, the same choices led to different runs"))
  }
}
