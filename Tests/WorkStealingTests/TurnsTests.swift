import TestSupport
import Testing

@testable import WorkStealing

@Suite(.watched) struct `The choice of what runs next` {
  @Test func `takes from the slot, but never more often in a row than the budget allows`() {
    // Every sequence of a full and an empty slot, twelve turns long.
    for pattern in 0..<(1 << 12) {
      var turns = Turns()
      var inARow = 0
      for turn in 0..<12 {
        let isFilled = pattern >> turn & 1 == 1
        switch turns.choose(slotFilled: isFilled) {
        case .slot:
          inARow += 1
          #expect(isFilled && inARow <= Turns.budget)
        case .slotToBack:
          #expect(isFilled && inARow == Turns.budget)
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
    let looks = (1...(10 * Turns.lookInterval)).filter { _ in turns.looksOutside() }
    #expect(looks == (1...10).map { $0 * Turns.lookInterval })
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

  @Test func `give the lowest first in every fourth look of a worker that has other work`() {
    var bands = Self.bands()
    let order = (0..<5).map { _ in bands.takeOnLook() }
    #expect(order == [3, 5, 2, 1, 4])
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
    let rest = bands.takeOrdinary(atMost: .max)
    #expect(rest.elementsEqual(expected..<next))
  }
}
