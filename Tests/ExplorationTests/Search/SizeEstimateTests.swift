import TestSupport
import Testing

@testable import Exploration

/// Trees of known size, gone through without a thread or a clock.
struct ModelTree: Sendable, CustomTestStringConvertible {
  enum Step: Hashable {
    case plain
    /// Behind it the turn is free.
    case yield
    case lock
    case unlock
  }

  var name: String
  var tasks: [[Step]]
  /// How many pre-emptions a schedule may have.
  var bound: Int?
  /// Whether each task may be cancelled once, which does nothing but use a step.
  var cancels = false
  /// How many schedules there are.
  var size: Int

  var testDescription: String { name }

  init(
    _ name: String,
    _ tasks: [[Step]],
    bound: Int? = nil,
    cancels: Bool = false,
    size: Int
  ) {
    self.name = name
    self.tasks = tasks
    self.bound = bound
    self.cancels = cancels
    self.size = size
  }

  private static func steps(_ count: Int) -> [Step] { Array(repeating: .plain, count: count) }
  private static let guarded: [Step] = [.lock, .plain, .unlock, .plain]

  /// Tasks that do about as much as each other, within a bound on pre-emptions and without: (a + b)! / (a! b!) and so
  /// on.
  static let even = [
    ModelTree("2 tasks of 20 steps", Array(repeating: steps(20), count: 2), bound: 2, size: 762),
    ModelTree("3 of 6", Array(repeating: steps(6), count: 3), bound: 2, size: 1_056),
    ModelTree("4 of 10", Array(repeating: steps(10), count: 4), bound: 1, size: 1_320),
    ModelTree("2 of 10", Array(repeating: steps(10), count: 2), bound: 3, size: 830),
    ModelTree("10 and 20", [steps(10), steps(20)], bound: 2, size: 372),
    ModelTree("guarded", Array(repeating: guarded, count: 3), bound: 2, size: 96),
    ModelTree(
      "yields",
      Array(repeating: [.plain, .yield, .plain, .yield], count: 3),
      bound: 1,
      size: 810
    ),
    ModelTree("2 of 5, free", Array(repeating: steps(5), count: 2), size: 252),
    ModelTree("3 of 3, free", Array(repeating: steps(3), count: 3), size: 1_680),
    ModelTree("guarded, free", Array(repeating: guarded, count: 3), size: 270),
    ModelTree("2 of 3, cancelled", Array(repeating: steps(3), count: 2), cancels: true, size: 860),
    ModelTree(
      "2, 2 and 1, cancelled",
      [steps(2), steps(2), steps(1)],
      bound: 1,
      cancels: true,
      size: 2_182
    ),
  ]

  /// One task does more than the others; where that is the first, the search begins where the tree is widest.
  static let uneven = [
    ModelTree("12, 3 and 2", [steps(12), steps(3), steps(2)], bound: 2, size: 622),
    ModelTree("2, 6 and 2", [steps(2), steps(6), steps(2)], size: 1_260),
    ModelTree("6, 2 and 2", [steps(6), steps(2), steps(2)], size: 1_260),
    ModelTree("8, 2 and 1", [steps(8), steps(2), steps(1)], size: 495),
    ModelTree("8, 2 and 2", [steps(8), steps(2), steps(2)], size: 2_970),
  ]

  /// Goes through it in order; `leaf` is called behind each schedule with how many there were and about how many are
  /// left, and false from it ends the search.
  func search(_ leaf: (_ count: Int, _ left: () -> Double) -> Bool) -> Int {
    var search = Search(tree: self)
    _ = search.visit(State(at: Array(repeating: 0, count: tasks.count)), leaf)
    return search.count
  }

  private struct State {
    var at: [Int]
    var holder: Int?
    var last: Int?
    var cancelled: Set<Int> = []
    var place = SizeEstimate.Class()
  }

  private struct Search {
    let tree: ModelTree
    var size: SizeEstimate
    var count = 0
    var path: [(depth: Int, place: SizeEstimate.Class, count: SizeEstimate.Ways)] = []

    init(tree: ModelTree) {
      self.tree = tree
      size = SizeEstimate(preemptions: tree.bound)
    }

    mutating func visit(_ state: State, _ leaf: (Int, () -> Double) -> Bool) -> Bool {
      let ways = tree.ways(from: state)
      let depth = path.count
      guard !ways.isEmpty else {
        count += 1
        size.noteEnd(at: depth, state.place, counts: true)
        return leaf(count) { size.leaves(below: path) }
      }
      func counts(_ ways: ArraySlice<(way: SizeEstimate.Way, next: State)>) -> SizeEstimate.Ways {
        SizeEstimate.Ways(
          plain: Double(ways.count { $0.way == .plain }),
          preempting: Double(ways.count { $0.way == .preempting }),
          events: Double(ways.count { $0.way == .event })
        )
      }
      size.note(counts(ways[...]), at: depth, state.place)
      for (index, (_, next)) in ways.enumerated() {
        path.append((depth, state.place, counts(ways[(index + 1)...])))
        defer { path.removeLast() }
        if !visit(next, leaf) { return false }
      }
      return true
    }
  }

  private func ways(from state: State) -> [(way: SizeEstimate.Way, next: State)] {
    var ready = tasks.indices.filter { task in
      state.at[task] < tasks[task].count
        && !(tasks[task][state.at[task]] == .lock && state.holder != nil)
    }
    let canGoOn =
      state.last.map { last in
        ready.contains(last) && state.at[last] > 0 && tasks[last][state.at[last] - 1] != .yield
      } ?? false
    if canGoOn, let last = state.last { ready = [last] + ready.filter { $0 != last } }
    var ways: [(SizeEstimate.Way, State)] = []
    for task in ready {
      let preempts = canGoOn && task != state.last
      if preempts, state.place.preemptions == bound { continue }
      var next = state
      let way: SizeEstimate.Way = preempts ? .preempting : .plain
      switch tasks[task][state.at[task]] {
      case .lock: next.holder = task
      case .unlock: next.holder = nil
      case .plain, .yield: break
      }
      next.at[task] += 1
      next.last = task
      next.place = state.place.behind(way)
      ways.append((way, next))
    }
    guard cancels, !ready.isEmpty else { return ways }
    for task in tasks.indices where state.at[task] < tasks[task].count {
      guard !state.cancelled.contains(task) else { continue }
      var next = state
      next.cancelled.insert(task)
      next.place = state.place.behind(.event)
      ways.append((.event, next))
    }
    return ways
  }
}

@Suite(.watched) struct `The estimate of a search's size` {
  /// A tree gone through to its end: about how many schedules were left after each fortieth of them.
  private struct Course: Sendable {
    var left: [(count: Int, left: Double)] = []
    var size: Int

    init(of tree: ModelTree) {
      var left: [(Int, Double)] = []
      size = tree.search { count, estimate in
        // Where a fortieth begins.
        if count * 40 / tree.size > (count - 1) * 40 / tree.size {
          left.append((count, estimate()))
        }
        return true
      }
      self.left = left
    }

    /// How many times too high the estimate was, from a twentieth of the search on.
    var factors: [(part: Double, factor: Double)] {
      left.dropFirst().map { count, left in
        (Double(count) / Double(size), (Double(count) + left) / Double(size))
      }
    }
  }

  /// Each tree is gone through once for all tests.
  private static let courses = Dictionary(
    uniqueKeysWithValues: (ModelTree.even + ModelTree.uneven).map { ($0.name, Course(of: $0)) }
  )

  @Test(arguments: ModelTree.even + ModelTree.uneven)
  func `is exact when the search is at its end`(tree: ModelTree) throws {
    let course = try #require(Self.courses[tree.name])
    #expect(course.size == tree.size)
    let last = try #require(course.left.last)
    #expect((last.count, last.left) == (tree.size, 0))
  }

  @Test(arguments: ModelTree.even)
  func `is at most four times too high or too low where tasks do about as much as each other`(
    tree: ModelTree
  ) throws {
    for (part, factor) in try #require(Self.courses[tree.name]).factors {
      #expect((0.25...4).contains(factor), "\(factor) times what it is, after \(part)")
    }
  }

  @Test(arguments: ModelTree.uneven)
  func `is at most 6 / part times too high where they do not, and four times too low`(
    tree: ModelTree
  ) throws {
    for (part, factor) in try #require(Self.courses[tree.name]).factors {
      #expect((0.25...6 / part).contains(factor), "\(factor) times what it is, after \(part)")
    }
  }

  @Test(arguments: ModelTree.even + ModelTree.uneven)
  func `never cuts a search that fits, be it to the last schedule`(tree: ModelTree) throws {
    let course = try #require(Self.courses[tree.name])
    for schedules in [tree.size, tree.size * 3 / 2, tree.size * 2, tree.size * 10] {
      var room = SearchRoom(schedules: schedules)
      for (count, left) in course.left {
        let use = SearchRoom.Use(schedules: count, steps: 0, time: .zero)
        guard let part = room.partToAskAt(use) else { continue }
        #expect(
          !SearchRoom.isTooSmall(
            for: left,
            after: count,
            part: part,
            isBounded: tree.bound != nil
          ),
          "after \(count), with room for \(schedules)"
        )
      }
    }
  }

  /// When a search of the tree with so much room is said to be too large; nil if it never is.
  private static func end(of tree: ModelTree, room schedules: Int) -> Int? {
    var room = SearchRoom(schedules: schedules)
    var end: Int?
    _ = tree.search { count, left in
      let use = SearchRoom.Use(schedules: count, steps: 0, time: .zero)
      if let part = room.partToAskAt(use),
        SearchRoom.isTooSmall(
          for: left(),
          after: count,
          part: part,
          isBounded: tree.bound != nil
        )
      {
        end = count
      }
      return end == nil && count < schedules
    }
    return end
  }

  @Test func `tells of a search that is far too large at the first question`() {
    let step = [ModelTree.Step.plain]
    for bound in [2, nil] as [Int?] {
      let tasks = Array(repeating: Array(repeating: step[0], count: 12), count: 5)
      let huge = ModelTree("5 of 12", tasks, bound: bound, size: .max)
      #expect(Self.end(of: huge, room: 4_000) == 200)
      // A hundred schedules have to be there for an estimate.
      #expect(Self.end(of: huge, room: 1_000) == 100)
      #expect(Self.end(of: huge, room: 90) == nil)
    }
  }

  @Test(arguments: [(true, 0.05, 20.0), (true, 0.5, 12), (false, 0.05, 120), (false, 0.5, 12)])
  func `has to be so many times too high for what is left to be too much`(
    isBounded: Bool,
    part: Double,
    times: Double
  ) {
    // After a thousand schedules so many more fit.
    let fitting = 1_000 * (1 - part) / part
    for (factor, isTooSmall) in [(0.99, false), (1.01, true)] {
      #expect(
        SearchRoom.isTooSmall(
          for: factor * times * fitting,
          after: 1_000,
          part: part,
          isBounded: isBounded
        ) == isTooSmall
      )
    }
  }

  @Test func `counts what a limit by steps or by time has room for`() {
    var bySteps = SearchRoom(schedules: 1_000_000, steps: 10_000)
    let early = SearchRoom.Use(schedules: 200, steps: 400, time: .seconds(3))
    let later = SearchRoom.Use(schedules: 500, steps: 1_000, time: .seconds(6))
    #expect(bySteps.partToAskAt(early) == nil)
    #expect(bySteps.partToAskAt(later) == 0.1)
    #expect((bySteps.all(later), bySteps.left(later)) == (5_000, 4_500))
    var byTime = SearchRoom(schedules: 1_000_000, time: .seconds(60))
    #expect(byTime.partToAskAt(early) == 0.05)
    #expect(byTime.partToAskAt(early) == nil)
    #expect(byTime.partToAskAt(later) == 0.1)
    #expect(byTime.all(later) == 5_000)
    #expect(SearchRoom(schedules: 3_000, time: .seconds(60)).all(later) == 3_000)
  }

  @Test(
    arguments: [
      (0, "0"), (7, "7"), (99, "99"), (101, "100"), (8_449, "8,400"), (84_512, "85,000"),
      (999_999, "1,000,000"), (1_000_000, "1 million"), (2_140_000, "2.1 million"),
      (12_600_000, "13 million"), (3.04e9, "3 billion"), (7.77e14, "780 trillion"),
      (4e23, "10^23"), (.infinity, "more than 10^308"),
    ] as [(Double, String)]
  )
  func `is told by two digits`(number: Double, text: String) {
    #expect(Draws.about(number) == text)
  }

  @Test func `a chance is told no higher than it is`() {
    #expect(Draws.chance(1 / 39_999) == "1 in 40,000")
    #expect(Draws.chance(1 / 40_000) == "1 in 40,000")
    #expect(Draws.chance(1 / 40_100) == "1 in 41,000")
    #expect(Draws.chance(1 / 112) == "1 in 120")
    #expect(Draws.chance(1 / 120.4) == "1 in 130")
    #expect(Draws.chance(0.2299) == "22 %")
    #expect(Draws.chance(0.9999) == "99 %")
  }
}
