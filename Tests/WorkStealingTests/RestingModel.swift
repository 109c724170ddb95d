@testable import WorkStealing

// The sleeping protocol, with every interleaving of its steps.
//
// Each step touches what is shared once: it takes or looks at the work, or makes one decision under the
// lock. Workers and those who bring work are values with a place in their program, the whole is one value,
// and a search visits each state that any order of steps can reach.

/// A mistake to make on purpose: the search must find what it does.
enum RestingMistake {
  /// Lies down without a last look.
  case noLastLook
  /// Looks for the last time before it says that it sleeps.
  case looksTooEarly
  /// The last searcher that found work does not look whether there is more.
  case leavesTheRest
  /// The last to lie down ends the crew although another has risen since.
  case endsRegardless
}

struct RestingModel: Hashable {
  enum Place: Hashable {
    case looking, earlyLook, lyingDown, lastLook, rising, parked, found, lookingForMore, wakingMore
    case unparking(Int)
    case wakingAll([Int])
    case running, ending, gone
  }

  enum Bringer: Hashable {
    case bringing, lookingAround, waking
    case unparking(Int)
    case done

    var rank: Int {
      switch self {
      case .bringing: 0
      case .lookingAround: 1
      case .waking: 2
      case .unparking(let worker): 3 + worker
      case .done: .max
      }
    }
  }
  enum Ender: Hashable {
    case beginning, waking
    case unparking(Int)
    case done
  }

  var resting: Resting
  var workers: [Place]
  var bringers: [Bringer]
  var ender: Ender
  var tokens: [Bool]
  /// Jobs that anybody may take.
  var visible = 0
  var done = 0
  var refused = 0
  var isClosed = false

  /// A crew that searches, jobs about to come, and, if it `ends`, an end at any moment.
  init(workers count: Int, jobs: Int, ends: Bool) {
    resting = Resting(workers: count)
    for _ in 0..<count { resting.beginSearch() }
    workers = Array(repeating: .looking, count: count)
    bringers = Array(repeating: .bringing, count: jobs)
    ender = ends ? .beginning : .done
    tokens = Array(repeating: false, count: count)
  }

  /// Every state that one step leads to.
  func successors(_ mistake: RestingMistake?, watchEnds: Bool) -> [RestingModel] {
    var all: [RestingModel] = []
    for worker in workers.indices {
      if workers[worker] != .gone, workers[worker] != .parked || tokens[worker] {
        var next = self
        next.step(worker, mistake)
        all.append(next)
      }
      if watchEnds, workers[worker] == .parked, resting.watcher == worker {
        var next = self
        next.workers[worker] = next.resting.rise(worker) ? .looking : .parked
        all.append(next)
      }
    }
    for bringer in bringers.indices where bringers[bringer] != .done {
      var next = self
      next.stepBringer(bringer)
      all.append(next)
    }
    if ender != .done {
      var next = self
      next.stepEnder()
      all.append(next)
    }
    return all
  }

  private mutating func step(_ worker: Int, _ mistake: RestingMistake?) {
    switch workers[worker] {
    case .looking:
      if visible > 0 {
        visible -= 1
        workers[worker] = .found
      } else {
        workers[worker] = mistake == .looksTooEarly ? .earlyLook : .lyingDown
      }
    case .earlyLook: workers[worker] = visible > 0 ? .looking : .lyingDown
    case .lyingDown:
      switch resting.lieDown(worker) {
      case .never: workers[worker] = .gone
      case .lastOfAll: workers[worker] = .ending
      case .untilWoken, .onWatch:
        let looks = mistake != .noLastLook && mistake != .looksTooEarly
        workers[worker] = looks ? .lastLook : .parked
      }
    case .lastLook: workers[worker] = visible > 0 ? .rising : .parked
    case .rising: workers[worker] = resting.rise(worker) ? .looking : .parked
    case .parked:
      tokens[worker] = false
      workers[worker] = resting.hasEnded ? .lyingDown : .looking
    case .found:
      workers[worker] =
        resting.endSearch() && mistake != .leavesTheRest ? .lookingForMore : .running
    case .lookingForMore: workers[worker] = visible > 0 ? .wakingMore : .running
    case .wakingMore: workers[worker] = resting.wakeOne().map { .unparking($0) } ?? .running
    case .unparking(let chosen):
      tokens[chosen] = true
      workers[worker] = .running
    case .running:
      done += 1
      resting.beginSearch()
      workers[worker] = .looking
    case .ending:
      if visible == 0, resting.allSleep || mistake == .endsRegardless {
        isClosed = true
        workers[worker] = .wakingAll(resting.end())
      } else {
        workers[worker] = .lastLook
      }
    case .wakingAll(let sleepers):
      for sleeper in sleepers where sleeper != worker { tokens[sleeper] = true }
      workers[worker] = .gone
    case .gone: break
    }
  }

  private mutating func stepBringer(_ bringer: Int) {
    switch bringers[bringer] {
    case .bringing where isClosed:
      refused += 1
      bringers[bringer] = .done
    case .bringing:
      visible += 1
      bringers[bringer] = .lookingAround
    case .lookingAround:
      bringers[bringer] = resting.summary == Resting.nobodyToWake ? .done : .waking
    case .waking: bringers[bringer] = resting.wakeOne().map { .unparking($0) } ?? .done
    case .unparking(let chosen):
      tokens[chosen] = true
      bringers[bringer] = .done
    case .done: break
    }
    // Which of them is where makes no difference.
    bringers.sort { $0.rank < $1.rank }
  }

  private mutating func stepEnder() {
    switch ender {
    case .beginning:
      resting.beginEnding()
      ender = .waking
    case .waking: ender = resting.wakeOne().map { .unparking($0) } ?? .done
    case .unparking(let chosen):
      tokens[chosen] = true
      ender = .done
    case .done: break
    }
  }

  /// What a search over all states found.
  struct Search {
    var states = 0
    /// States in which nothing can go on.
    var ends: [RestingModel] = []
    /// The most workers that were woken for new work and had not found any yet, at one time.
    var mostWoken = 0
    /// States in which the crew has ended and somebody has a job.
    var endedTooEarly = 0
  }

  func search(_ mistake: RestingMistake? = nil, watchEnds: Bool = false) -> Search {
    var search = Search()
    var seen: Set<RestingModel> = [self]
    var stack = [self]
    while let state = stack.popLast() {
      search.states += 1
      search.mostWoken = max(search.mostWoken, state.tokens.count { $0 })
      if state.isClosed, state.workers.contains(.running) || state.workers.contains(.found) {
        search.endedTooEarly += 1
      }
      let next = state.successors(mistake, watchEnds: watchEnds)
      if next.isEmpty { search.ends.append(state) }
      for state in next where seen.insert(state).inserted { stack.append(state) }
    }
    return search
  }
}
