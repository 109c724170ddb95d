internal import Glibc
internal import Synchronization

/// The schedule in progress, in a file that outlives the program that explores.
///
/// The file is mapped into memory, so noting a choice is a store, and whatever ends the program leaves
/// what was noted. Another program that maps the file sees how far the exploration is, and can ask it
/// to end.
package final class ScheduleJournal: @unchecked Sendable {
  // Safe: the memory stays mapped for the life of the program, and all of it is reached by atomic
  // operations on whole words; who reads while another writes may see a choice more or less.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// The journal of this program's explorations; nil where nobody would read it.
  package static var ofThisProgram: ScheduleJournal? { current.withLock { $0 } }

  private static let current = Mutex<ScheduleJournal?>(nil)

  private enum Place {
    static let steps = 0
    static let schedules = 1
    static let isStopAsked = 2
    static let choices = 3
    static let pulse = 4
    static let isOver = 5
    /// What schedules are drawn, if the search in order was too large: six words, the first 0 if it was not.
    static let draws = 6
    static let name = draws + 6
    static let firstChoice = name + 32
  }

  /// More than an exploration lets a schedule have.
  ///
  /// A schedule that somebody gives to be replayed may have more: what comes behind is left out.
  static let mostChoices = 24_576
  private static let size = (Place.firstChoice + mostChoices) * 8

  /// Maps a file, made if there is none; nil if it cannot be.
  package init?(file: String) {
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(Self.size)) == 0,
      let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { return nil }
    // Zeros are atomics that hold 0.
    words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.size / 8)
  }

  /// Has every exploration of this program note its schedule here.
  ///
  /// - Parameter leaving: What stays as it is behind a schedule, for a program that ends after it has
  ///   answered, since ending it in order may be what stops that program.
  package func use(leaving: Leaving = .nothing) {
    self.leaving.store(leaving.rawValue, ordering: .relaxed)
    Self.current.withLock { $0 = self }
  }

  /// What is not brought to its end behind a schedule.
  package enum Leaving: UInt8, Sendable {
    /// All of it is: tasks are cancelled and run to their ends, then the code under study is let go.
    case nothing
    /// A schedule that is left in the middle stays there.
    case unfinished
    case everything
  }

  var leaves: Leaving { Leaving(rawValue: leaving.load(ordering: .relaxed)) ?? .nothing }

  private let leaving = Atomic(Leaving.nothing.rawValue)

  /// Forgets the schedule in progress.
  package func clear() { begin("") }

  // MARK: Noted by who explores

  func begin(_ scenario: String) {
    var name = [UInt64](repeating: 0, count: Place.firstChoice - Place.name)
    for (index, byte) in scenario.utf8.prefix(8 * name.count).enumerated() {
      name[index / 8] |= UInt64(byte) << (8 * (index % 8))
    }
    for (index, word) in name.enumerated() { set(Place.name + index, word) }
    set(Place.choices, 0)
    set(Place.draws, 0)
  }

  /// Notes what the exploration has gone over to.
  package func note(_ draws: Draws) {
    set(Place.draws + 1, UInt64(draws.inOrder))
    set(Place.draws + 2, draws.estimate.bitPattern)
    set(Place.draws + 3, UInt64(draws.room))
    set(Place.draws + 4, UInt64(draws.depth ?? 0))
    set(Place.draws + 5, draws.seed)
    // The last, which says that there are any.
    words[Place.draws].store(UInt64(draws.wanted), ordering: .releasing)
  }

  /// What the exploration has gone over to; nil if it has not.
  package var draws: Draws? {
    let wanted = words[Place.draws].load(ordering: .acquiring)
    guard wanted > 0 else { return nil }
    let depth = Int(get(Place.draws + 4))
    return Draws(
      depth: depth > 0 ? depth : nil,
      seed: get(Place.draws + 5),
      wanted: Int(wanted),
      inOrder: Int(get(Place.draws + 1)),
      estimate: Double(bitPattern: get(Place.draws + 2)),
      room: Int(get(Place.draws + 3))
    )
  }

  func beginSchedule() {
    set(Place.schedules, get(Place.schedules) &+ 1)
    set(Place.choices, 0)
    set(Place.isOver, 0)
  }

  /// Says that what happens from here on is not the schedule's: what it left is brought to its end.
  func endSchedule() { set(Place.isOver, 1) }

  func note(_ choice: Choice) {
    let count = Int(get(Place.choices))
    set(Place.steps, get(Place.steps) &+ 1)
    guard count < Self.mostChoices else { return }
    set(Place.firstChoice + count, choice.code)
    set(Place.choices, UInt64(count + 1))
  }

  /// Says that the program is alive, where no step tells it.
  func noteLife() { set(Place.pulse, get(Place.pulse) &+ 1) }

  package var isStopAsked: Bool { self.get(Place.isStopAsked) != 0 }

  // MARK: Read by who looks on

  /// How many steps were begun, over all schedules; stands still while a step does not end.
  package var steps: Int { Int(get(Place.steps)) }

  /// A number that changes with each step and with each part of what is told of a schedule.
  package var pulse: UInt64 { self.get(Place.steps) &+ get(Place.pulse) }

  /// How many schedules were begun.
  package var schedules: Int { Int(get(Place.schedules)) }

  /// Whether the schedule in progress was over, and what it left was being brought to its end.
  package var isOver: Bool { self.get(Place.isOver) != 0 }

  /// Asks the exploration to end.
  package func stop() { set(Place.isStopAsked, 1) }

  /// The schedule in progress; nil if none was begun.
  package var schedule: Schedule? {
    let bytes = (Place.name..<Place.firstChoice).flatMap { place in
      (0..<8).map { UInt8(truncatingIfNeeded: get(place) >> (8 * $0)) }
    }
    let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    guard !name.isEmpty else { return nil }
    let choices = (0..<Int(get(Place.choices))).compactMap {
      Choice(code: get(Place.firstChoice + $0))
    }
    return Schedule(scenario: name, choices: choices)
  }

  private func get(_ place: Int) -> UInt64 { words[place].load(ordering: .relaxed) }

  private func set(_ place: Int, _ value: UInt64) { words[place].store(value, ordering: .relaxed) }
}

extension Choice {
  fileprivate init?(code: UInt64) {
    guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: code >> 48)) else { return nil }
    let agent = Int32(truncatingIfNeeded: code >> 16)
    self.init(kind, Int(agent), ordinal: Int(code & 0xFFFF))
  }
}
