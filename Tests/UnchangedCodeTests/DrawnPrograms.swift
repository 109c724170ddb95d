import Exploration
import Synchronization

/// Programs that are drawn at random: two or three tasks, each of which does a few things that others may notice.
struct DrawnProgram: Sendable {
  enum Deed: Sendable {
    case load(Int)
    case store(Int)
    case add(Int)
    case compare(Int)
    case take(Int)
    /// Takes the one lock in the other.
    case nest(Int)
    case yield
    case visit(Int)
    case visitTwice(Int)
    case wait(Int)
    case open(Int)
    case cancel(Int)
    case ask
    case sleep
    case group
    case main
    case start(Int)
    case child(Int)
  }

  let tasks: [[Deed]]

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
        return switch draw(21) {
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
        case 14: .cancel(draw(count))
        case 15: .ask
        case 16: .sleep
        case 17: .group
        case 18: .main
        case 19: .start(one)
        default: .child(one)
        }
      }
    }
  }
}

/// Where a drawn program plays.
private final class Scene: Sendable {
  private let numbers = Numbers()
  private let one = Mutex("")
  private let other = Mutex("")
  private let notes = [Notes(), Notes()]
  private let gates = [Gate(), Gate()]
  private let seen = [Words(), Words(), Words()]
  let tasks = Mutex<[Task<Void, Never>]>([])

  private func append(_ number: Int, to lock: Int) {
    if lock == 0 {
      self.one.withLock { $0 += "\(number)" }
    } else {
      self.other.withLock { $0 += "\(number)" }
    }
  }

  func act(_ deed: DrawnProgram.Deed, _ number: Int) async {
    let seen = seen[number]
    switch deed {
    case .load(let one): seen.add(numbers.change(one == 1) { $0.load(ordering: .relaxed) })
    case .store(let one): numbers.change(one == 1) { $0.store(number + 1, ordering: .relaxed) }
    case .add(let one):
      seen.add(numbers.change(one == 1) { $0.add(1, ordering: .relaxed).newValue })
    case .compare(let one):
      let result = numbers.change(one == 1) {
        $0.compareExchange(expected: 0, desired: number + 1, ordering: .relaxed)
      }
      seen.add(result.exchanged)
    case .take(let one): append(number, to: one)
    case .nest(let one):
      if one == 0 {
        self.one.withLock { _ in append(number, to: 1) }
      } else {
        self.other.withLock { _ in append(number, to: 0) }
      }
    case .yield: await Task.yield()
    case .visit(let one): await notes[one].add(number)
    case .visitTwice(let one):
      seen.add(await notes[one].count())
      await notes[one].add(number)
    case .wait(let one):
      await gates[one].wait()
      seen.add("w")
    case .open(let one): gates[one].open()
    case .cancel(let other): tasks.withLock { $0.count > other ? $0[other] : nil }?.cancel()
    case .ask: seen.add(Task.isCancelled)
    case .sleep: seen.add((try? await Task.sleep(for: .milliseconds(1))) != nil)
    case .group: seen.add(await results())
    case .main: await MainActor.run { append(number, to: 0) }
    case .start(let one): Task { [notes] in await notes[one].add(number + 5) }
    case .child(let one):
      async let child: Void = append(number + 5, to: one)
      if one == 0 { await child }
    }
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

  var text: String {
    get async {
      let texts = await [notes[0].text, notes[1].text]
      let guarded = [self.one.withLock { $0 }, self.other.withLock { $0 }, numbers.text]
      return (seen.map(\.text) + guarded + texts).joined(separator: "/")
    }
  }
}

extension SmallProgram {
  init(drawnBy seed: UInt64) {
    let program = DrawnProgram(drawnBy: seed)
    self.init(name: "program \(seed)") {
      let scene = Scene()
      let tasks = program.tasks.enumerated().map { number, deeds in
        Task { for deed in deeds { await scene.act(deed, number) } }
      }
      scene.tasks.withLock { $0 = tasks }
      for task in tasks { await task.value }
      return await scene.text
    }
  }
}
