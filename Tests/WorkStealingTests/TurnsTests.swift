import TestSupport
import Testing

@testable import WorkStealing

@Suite(.watched) struct `The choice of what runs next` {
  @Test func `takes from the slot, but never more than three times in a row`() {
    // Every sequence of a full and an empty slot, twelve turns long.
    for pattern in 0..<(1 << 12) {
      var turns = Turns()
      var inARow = 0
      for turn in 0..<12 {
        let isFilled = pattern >> turn & 1 == 1
        switch turns.choose(slotFilled: isFilled) {
        case .slot:
          inARow += 1
          #expect(isFilled && inARow <= 3)
        case .slotToBack:
          #expect(isFilled && inARow == 3)
          inARow = 0
        case .queue:
          #expect(!isFilled)
          inARow = 0
        }
      }
    }
  }

  @Test func `looks outside once in 61 turns, from the first 61 on`() {
    var turns = Turns()
    let looks = (1...610).filter { _ in turns.looksOutside() }
    #expect(looks == (1...10).map { $0 * 61 })
  }
}

@Suite(.watched) struct `The bands of priority` {
  private static func bands() -> Bands {
    var bands = Bands()
    bands.append(1, .background)
    bands.append(2, .ordinary)
    bands.append(3, .high)
    bands.append(4, .ordinary)
    bands.append(5, .high)
    return bands
  }

  @Test func `are emptied from the highest, each in order of arrival`() {
    var bands = Self.bands()
    let order = (0..<5).map { _ in bands.take() }
    #expect(order == [3, 5, 2, 4, 1])
    #expect(bands.count == 0)
  }

  @Test func `give each band the first place once in four looks of a worker that has other work`() {
    var bands = Self.bands()
    let order = (0..<5).map { _ in bands.takeOnLook() }
    #expect(order == [3, 2, 5, 1, 4])
  }

  @Test func `each have a turn in four looks of a worker that has other work`() {
    var bands = Bands()
    for job in 0..<100 as Range<UInt> {
      bands.append(job * 3, .high)
      bands.append(job * 3 + 1, .ordinary)
      bands.append(job * 3 + 2, .background)
    }
    let taken = (0..<40).map { _ in bands.takeOnLook().map { $0 % 3 } }
    for cycle in stride(from: 0, to: 40, by: Bands.cycle) {
      #expect(Set(taken[cycle..<(cycle + Bands.cycle)]) == [0, 1, 2])
    }
  }

  @Test func `let no share of the ordinary jobs overtake one that is high`() {
    let injection = Injection()
    for job in 1...5 as ClosedRange<UInt> { _ = injection.append(job, .ordinary) }
    for job in 6...8 as ClosedRange<UInt> { _ = injection.append(job, .high) }
    _ = injection.append(9, .background)
    var order: [UInt] = []
    while let (job, others) = injection.takeShare(of: 1) { order += [job] + others }
    #expect(order == [6, 7, 8, 1, 2, 3, 4, 5])
    #expect(injection.takeLast() == 9)
  }

  @Test func `are shared by the number of ordinary jobs`() {
    let injection = Injection()
    for job in 1...5 as ClosedRange<UInt> { _ = injection.append(job, .ordinary) }
    for job in 6...20 as ClosedRange<UInt> { _ = injection.append(job, .background) }
    let share = injection.takeShare(of: 2)
    #expect(share?.job == 1 && share?.others == [2, 3])
  }

  @Test func `are shared in parts that leave some to the others, however many jobs there are`() {
    let injection = Injection()
    for job in 0...1_000 as ClosedRange<UInt> { _ = injection.append(job, .ordinary) }
    let share = injection.takeShare(of: 2)
    #expect(share?.job == 0 && share?.others == Array(1...64))
  }

  @Test func `keep no memory of jobs that were taken, though they never run empty, nor of many`() {
    var bands = Bands()
    bands.append(0, .ordinary)
    for job in 1...10_000 as ClosedRange<UInt> {
      bands.append(job, .ordinary)
      _ = bands.take()
    }
    #expect(bands.count == 1)
    #expect(bands.places <= 1_024)
    for job in 1...10_000 as ClosedRange<UInt> { bands.append(job, .ordinary) }
    while bands.take() != nil {}
    #expect(bands.places <= 1_024)
  }

  @Test func `are told from priorities as Swift names them`() {
    let high: [TaskPriority] = [.high, .userInitiated]
    let ordinary: [TaskPriority] = [.medium, .low, .utility]
    #expect(high.allSatisfy { Bands.Band(priority: $0.rawValue) == .high })
    #expect(ordinary.allSatisfy { Bands.Band(priority: $0.rawValue) == .ordinary })
    #expect(Bands.Band(priority: TaskPriority.background.rawValue) == .background)
    #expect(Bands.Band(priority: 0) == .ordinary)
  }

  @Test func `keep order and count while they grow and shrink`() {
    var bands = Bands()
    var (next, expected) = (1 as UInt, 1 as UInt)
    for round in 0..<200 {
      for _ in 0..<(round % 37) {
        bands.append(next, .ordinary)
        next += 1
      }
      for _ in 0..<(round % 29) where bands.count > 0 {
        let job = bands.take()
        #expect(job == expected)
        expected += 1
      }
      #expect(bands.count == Int(next - expected))
    }
    let rest = bands.takeShare(of: 1, atMost: .max)
    #expect(rest.elementsEqual(expected..<next))
  }
}
