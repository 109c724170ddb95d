import ExplorableSynchronization
import TestSupport
import Testing

@testable import Grading

/// Doors, lines and accounts that are wrong when one is cancelled at a certain moment, or when very many have come.
@Suite(.watched, .serialized) struct `Who comes to a door, a line or an account` {
  /// What a door does of a task that is cancelled.
  fileprivate protocol DoorFlaw: SendableMetatype {
    /// Whether who is cancelled goes to the end of the line, in two steps.
    static var movesBack: Bool { get }
    /// Whether a task that was cancelled opens nothing.
    static var heedsCancellation: Bool { get }
  }

  private final class FlawedDoor<F: DoorFlaw>: LearnerDoor {
    private typealias Waiter = CheckedContinuation<Void, Never>
    private let state = Mutex((isOpen: false, next: 0, line: [(Int, Waiter)]()))

    init() {}

    func wait() async {
      let number = state.withLock { state in
        state.next += 1
        return state.next
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          let isOpen = state.withLock { state in
            if !state.isOpen { state.line.append((number, waiter)) }
            return state.isOpen
          }
          if isOpen { waiter.resume() }
        }
      } onCancel: {
        guard F.movesBack else { return }
        let own = state.withLock { state in
          state.line.firstIndex { $0.0 == number }.map { state.line.remove(at: $0) }
        }
        if let own { state.withLock { $0.line.append(own) } }
      }
    }

    func open() {
      if F.heedsCancellation, Task.isCancelled { return }
      let woken = state.withLock { state in
        state.isOpen = true
        defer { state.line = [] }
        return state.line
      }
      for (_, waiter) in woken { waiter.resume() }
    }
  }

  private enum NoFlaw: DoorFlaw {}

  private enum MovesBack: DoorFlaw {
    static let movesBack = true
  }

  private enum OpensUnlessCancelled: DoorFlaw {
    static let heedsCancellation = true
  }

  @Test func `doors that lose a cancelled waiter or heed a cancelled opener are refused`() async {
    await expect(
      Grader.door(FlawedDoor<MovesBack>.self),
      "cancelled_as_it_opens",
      refusedSaying: "nothing can run any more"
    )
    await expect(
      Grader.door(FlawedDoor<OpensUnlessCancelled>.self),
      "opened_by_cancelled",
      refusedSaying: "nothing can run any more"
    )
    for name in ["cancelled_as_it_opens", "opened_by_cancelled"] {
      await expect(Grader.door(FlawedDoor<NoFlaw>.self), name)
    }
  }

  /// Takes the money if the task is not cancelled, and answers by a second look.
  private actor LooksTwice: LearnerAccount {
    private var balance: Int
    private var underWay = 0
    private let bank: Bank

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance - underWay >= amount else { return false }
      underWay += amount
      await bank.approve()
      underWay -= amount
      if !Task.isCancelled { balance -= amount }
      return !Task.isCancelled
    }
  }

  /// Looks once.
  private actor LooksOnce: LearnerAccount {
    private var balance: Int
    private let bank: Bank

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance >= amount else { return false }
      balance -= amount
      await bank.approve()
      let isPaid = !Task.isCancelled
      if !isPaid { balance += amount }
      return isPaid
    }
  }

  @Test func `an account that looks twice whether it is cancelled is refused`() async {
    await expect(
      Grader.account(LooksTwice.self),
      "cancelled_anytime",
      refusedSaying: "Look once whether the task is cancelled"
    )
    await expect(Grader.account(LooksOnce.self), "cancelled_anytime")
  }

  /// Counts in 8 bits how often it was opened.
  private final class CountsOpenings: LearnerDoor {
    private let state = Mutex((openings: UInt8(0), line: [CheckedContinuation<Void, Never>]()))

    init() {}

    func wait() async {
      await withCheckedContinuation { waiter in
        let isOpen = state.withLock { state in
          if state.openings == 0 { state.line.append(waiter) }
          return state.openings != 0
        }
        if isOpen { waiter.resume() }
      }
    }

    func open() {
      let woken = state.withLock { state in
        state.openings &+= 1
        defer { state.line = [] }
        return state.line
      }
      for waiter in woken { waiter.resume() }
    }
  }

  @Test(.long)
  func `a door that counts in few bits is refused, and one that does not count passes`() async {
    await expect(
      Grader.door(CountsOpenings.self),
      "opened_often",
      refusedSaying: "opened 256 times waits for ever"
    )
    await expect(Grader.door(FlawedDoor<NoFlaw>.self), "opened_often")
  }

  /// What is wrong with an account when there is much of something.
  fileprivate protocol AccountFlaw: SendableMetatype {
    static func blocks(_ refusals: Int) -> Bool
    /// What it knows of an amount.
    static func known(_ amount: Int) -> Int
    /// Under how many numbers it keeps what is at the bank.
    static var numbers: Int { get }
  }

  private actor Reserving<F: AccountFlaw>: LearnerAccount {
    private var balance: Int
    private var refusals = 0
    private var next = 0
    private var reserved: [Int: Int] = [:]
    private var total = 0
    private let bank: Bank

    init(balance: Int, bank: Bank) {
      self.balance = F.known(balance)
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      let known = F.known(amount)
      guard balance - total >= known, !F.blocks(refusals) else {
        refusals += 1
        return false
      }
      let number = next
      next = (next + 1) % F.numbers
      total += known - (reserved[number] ?? 0)
      reserved[number] = known
      await bank.approve()
      total -= reserved.removeValue(forKey: number) ?? 0
      balance -= known
      return true
    }
  }

  private enum Sound: AccountFlaw {}

  private enum BlocksAfterFifty: AccountFlaw {
    static func blocks(_ refusals: Int) -> Bool { refusals >= 50 }
  }

  private enum RoundsAsDoubleDoes: AccountFlaw {
    static func known(_ amount: Int) -> Int { Int(exactly: Double(amount)) ?? .max }
  }

  private enum TwoHundredAtTheBank: AccountFlaw {
    static let numbers = 200
  }

  @Test(.long)
  func `accounts that are wrong where there is much of something are refused`() async {
    await expect(
      Grader.account(Reserving<BlocksAfterFifty>.self),
      "many_refused",
      refusedSaying: "a refusal changes nothing"
    )
    await expect(
      Grader.account(Reserving<RoundsAsDoubleDoes>.self),
      "large",
      refusedSaying: "Keep amounts as 'Int'"
    )
    await expect(
      Grader.account(Reserving<TwoHundredAtTheBank>.self),
      "many_at_once",
      refusedSaying: "more than there is"
    )
    for name in ["many_refused", "large", "many_at_once"] {
      await expect(Grader.account(Reserving<Sound>.self), name)
    }
  }

  /// Gives out so many numbers, and then begins anew.
  fileprivate protocol Numbers: SendableMetatype {
    static var count: Int { get }
  }

  private enum SixteenBits: Numbers {
    static let count = 1 << 16
  }

  private enum Enough: Numbers {
    static let count = Int.max
  }

  private final class Numbering<N: Numbers>: LearnerPool {
    private let state: Mutex<(free: [Int], next: Int, line: [Int: Waiting.Waiter])>
    private let waiting: Waiting

    init(size: Int, waiting: Waiting) {
      state = Mutex((Array(1...size), 0, [:]))
      self.waiting = waiting
    }

    func take() async -> Int {
      await waiting.suspend { waiter in
        let element: Int? = state.withLock { state in
          if let element = state.free.popLast() { return element }
          state.line[state.next] = waiter
          state.next = (state.next + 1) % N.count
          return nil
        }
        if let element { waiter.resume(with: element) }
      }
    }

    func giveBack(_ element: Int) {
      let next: Waiting.Waiter? = state.withLock { state in
        guard let first = state.line.keys.min() else {
          state.free.append(element)
          return nil
        }
        return state.line.removeValue(forKey: first)
      }
      next?.resume(with: element)
    }
  }

  @Test(.long) func `a line whose numbers begin anew is refused`() async {
    await expect(
      Grader.pool(Numbering<SixteenBits>.self),
      "many",
      refusedSaying: "so that no number comes twice"
    )
    await expect(Grader.pool(Numbering<Enough>.self), "many")
  }
}

extension `Who comes to a door, a line or an account`.DoorFlaw {
  static var movesBack: Bool { false }
  static var heedsCancellation: Bool { false }
}

extension `Who comes to a door, a line or an account`.AccountFlaw {
  static func blocks(_ refusals: Int) -> Bool { false }
  static func known(_ amount: Int) -> Int { amount }
  static var numbers: Int { .max }
}
