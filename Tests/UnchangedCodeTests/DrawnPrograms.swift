import Dispatch
import Exploration
import Synchronization

/// A program of two or three tasks, each of which does a few things that others may notice.
struct DrawnProgram: Sendable {
  enum Deed: Hashable, Sendable {
    case load(Int)
    case store(Int)
    case add(Int)
    case compare(Int)
    case take(Int)
    /// Takes the lock only if it is free.
    case tryToTake(Int)
    /// Takes the one lock in the other.
    case nest(Int)
    case yield
    case visit(Int)
    case visitTwice(Int)
    case wait(Int)
    case open(Int)
    /// Another one, counted from the task itself.
    case cancel(Int)
    case ask
    case sleep(Int)
    /// How much time has passed.
    case time
    case group
    case main
    case start(Int)
    case child(Int)
    case draw
    /// Lets go of the object that all have.
    case drop
    /// Looks at the object without having it.
    case look
    case raise(Int)
    case rank
    /// Puts a number in the place of another.
    case swap(Int)
    /// Gives a number to a stream.
    case give
    /// Gives work to a queue.
    case send
  }

  let tasks: [[Deed]]

  init(_ tasks: [[Deed]]) { self.tasks = tasks }

  func has(_ deed: Deed) -> Bool { tasks.contains { $0.contains(deed) } }

  init(drawnBy seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func draw(_ count: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(count))
    }
    let count = 2 + draw(2)
    tasks = (0..<count).map { _ in
      (0...draw(count == 2 ? 3 : 2)).map { _ in
        let one = draw(2)
        return switch draw(27) {
        case 0: .load(one)
        case 1, 2: .store(one)
        case 3: .add(one)
        case 4: .compare(one)
        case 5, 6: .take(one)
        case 7: .nest(one)
        case 8, 9: .yield
        case 10: .visit(one)
        case 11: .visitTwice(one)
        case 12: .wait(one)
        case 13: .open(one)
        case 14: .cancel(1 + draw(count - 1))
        case 15: .ask
        case 16: .sleep(1 + one)
        case 17: .group
        case 18: .main
        case 19: .start(one)
        case 20: .tryToTake(one)
        case 21: .time
        case 22: .draw
        case 23: .drop
        case 24: .look
        case 25: .raise(1 + draw(count - 1))
        default: .child(one)
        }
      }
    }
  }

  /// All programs of so many tasks, each of so many deeds of these; of those that differ in the order of their tasks
  /// only, one.
  static func all(tasks: Int, deeds: Int, of alphabet: [Deed]) -> [DrawnProgram] {
    var parts: [[Int]] = [[]]
    for _ in 0..<deeds { parts = parts.flatMap { part in alphabet.indices.map { part + [$0] } } }
    var choices: [[Int]] = [[]]
    for _ in 0..<tasks {
      choices = choices.flatMap { choice in
        parts.indices.filter { $0 >= choice.last ?? 0 }.map { choice + [$0] }
      }
    }
    return choices.map { choice in
      DrawnProgram(choice.map { parts[$0].map { alphabet[$0] } })
    }
  }

  var name: String {
    tasks.map { deeds in deeds.map { "\($0)" }.joined(separator: ", ") }.joined(separator: " | ")
  }
}

/// Where a drawn program plays.
private final class Scene: Sendable {
  private let numbers = Numbers()
  private let one = Mutex("")
  private let other = Mutex("")
  private let notes = [Notes(), Notes()]
  private let gates = [Gate(), Gate()]
  private let begin = ContinuousClock.now
  private let things: Things
  private let tasks = Mutex<[Task<String, Never>]>([])
  private let given = AsyncStream.makeStream(of: Int.self)
  private let queue = DispatchQueue(label: "sent")
  private let sent = Mutex("")

  init(tasks: Int) { things = Things(tasks) }

  private func append(_ number: Int, to lock: Int) {
    if lock == 0 {
      self.one.withLock { $0 += "\(number)" }
    } else {
      self.other.withLock { $0 += "\(number)" }
    }
  }

  private func task(_ number: Int) -> Task<String, Never>? {
    tasks.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
  }

  /// Does it; returns what was seen.
  private func act(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .load(let one): return "\(numbers.change(one == 1) { $0.load(ordering: .relaxed) })"
    case .store(let one): numbers.change(one == 1) { $0.store(number + 1, ordering: .relaxed) }
    case .add(let one):
      return "\(numbers.change(one == 1) { $0.wrappingAdd(1, ordering: .relaxed).newValue })"
    case .compare(let one):
      let result = numbers.change(one == 1) {
        $0.compareExchange(expected: 0, desired: number + 1, ordering: .relaxed)
      }
      return "\(result.exchanged)"
    case .take(let one): append(number, to: one)
    case .tryToTake(let one):
      let isDone: ()? =
        one == 1
        ? other.withLockIfAvailable { $0 += "t" } : self.one.withLockIfAvailable { $0 += "t" }
      return isDone == nil ? "-" : "+"
    case .nest(let one):
      if one == 0 {
        self.one.withLock { _ in append(number, to: 1) }
      } else {
        self.other.withLock { _ in append(number, to: 0) }
      }
    case .yield: await Task.yield()
    case .visit(let one): await notes[one].add(number)
    case .visitTwice(let one):
      let count = await notes[one].count()
      await notes[one].add(number)
      return "\(count)"
    case .wait(let one): await gates[one].wait()
    case .open(let one): gates[one].open()
    case .cancel(let other):
      // Before all have begun there may be none yet.
      guard let task = task(number + other) else { return "-" }
      task.cancel()
    case .ask: return "\(Task.isCancelled)"
    case .sleep(let time):
      let isWhole = (try? await Task.sleep(for: .milliseconds(time))) != nil
      return isWhole ? "s" : "c"
    case .time: return "\((ContinuousClock.now - begin) / .milliseconds(1))"
    case .group: return await results()
    case .main: await MainActor.run { append(number, to: 0) }
    case .start(let one): Task { [notes] in await notes[one].add(number + 5) }
    case .child(let one):
      async let child: Void = append(number + 5, to: one)
      if one == 0 { await child }
    case .draw: return "\(Int.random(in: 0..<1_000))"
    case .drop: things.drop(number)
    case .look: return things.isThere ? "o" : "d"
    case .raise(let other):
      guard let task = task(number + other) else { return "-" }
      task.escalatePriority(to: .high)
    case .rank: return "\(Task.currentPriority.rawValue)"
    case .swap(let one):
      return "\(numbers.change(one == 1) { $0.exchange(number + 1, ordering: .relaxed) })"
    case .give: given.continuation.yield(number)
    case .send: queue.async { self.sent.withLock { $0 += "\(number)" } }
    }
    return ""
  }

  private func results() async -> String {
    await withTaskGroup(of: Int.self) { group in
      for number in 1...2 {
        group.addTask { [numbers] in
          numbers.change(number == 2) { $0.load(ordering: .relaxed) } + number * 10
        }
      }
      var text = ""
      for await number in group { text += "\(number) " }
      return text
    }
  }

  /// Plays the program; returns what it came to.
  func play(_ program: DrawnProgram) async -> String {
    let tasks = program.tasks.enumerated().map { number, deeds in
      Task {
        await TaskName.$current.withValue(number + 1) {
          var seen = ""
          for deed in deeds { seen += await self.act(deed, number) }
          return seen
        }
      }
    }
    self.tasks.withLock { $0 = tasks }
    var texts: [String] = []
    for task in tasks { texts.append(await task.value) }
    texts += [one.withLock { $0 }, other.withLock { $0 }, numbers.text]
    texts += await [notes[0].text, notes[1].text]
    if program.has(.give) {
      given.continuation.finish()
      var text = ""
      for await number in given.stream { text += "\(number)" }
      texts.append(text)
    }
    if program.has(.send) {
      queue.sync {}
      texts.append(sent.withLock { $0 })
    }
    return (texts + [things.text]).joined(separator: "/")
  }
}

/// By what the code knows in whose task it runs.
private enum TaskName {
  @TaskLocal static var current = 0
}

/// An object that each task has, and that all can look at.
private final class Things: @unchecked Sendable {
  // Safe: each task lets go of its own, the weak reference is only read, and who let go last is written in the one
  // `deinit` of the object and read when all tasks have ended.
  private let own: [Own]
  private weak var any: Thing?
  private let last = Last()

  private final class Last {
    var task = 0
  }

  private final class Own {
    var thing: Thing?
    init(_ thing: Thing) { self.thing = thing }
  }

  private final class Thing {
    private let last: Last
    init(_ last: Last) { self.last = last }
    deinit { last.task = TaskName.current }
  }

  init(_ count: Int) {
    let thing = Thing(last)
    any = thing
    own = (0..<count).map { _ in Own(thing) }
  }

  func drop(_ number: Int) { own[number].thing = nil }

  var isThere: Bool { any != nil }

  var text: String { "\(last.task)" }
}

extension SmallProgram {
  init(_ program: DrawnProgram) {
    self.init(name: program.name) {
      await Scene(tasks: program.tasks.count).play(program)
    }
  }
}
