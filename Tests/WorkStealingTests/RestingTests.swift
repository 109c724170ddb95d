import TestSupport
import Testing

@testable import WorkStealing

@Suite(.watched) struct `The sleeping protocol` {
  struct Size: CustomStringConvertible {
    var workers: Int
    var jobs: Int
    var description: String { "\(workers) workers, \(jobs) jobs" }
  }

  static let sizes = [
    Size(workers: 1, jobs: 1), Size(workers: 1, jobs: 3), Size(workers: 2, jobs: 1),
    Size(workers: 2, jobs: 2), Size(workers: 3, jobs: 1),
  ]

  @Test(
    arguments: sizes
      + [Size(workers: 2, jobs: 3), Size(workers: 3, jobs: 2)].fewUnlessSearching { $0.workers < 3 }
  )
  func `loses no wake-up, in any order of steps`(size: Size) {
    let search = RestingModel(workers: size.workers, jobs: size.jobs, ends: false).search()
    #expect(search.ends.count > 0)
    for end in search.ends {
      #expect(end.visible == 0 && end.done == size.jobs)
      #expect(end.resting.searching == 0 && end.resting.sleepers.count == size.workers)
    }
  }

  @Test(arguments: sizes)
  func `ends with every job done or refused and every worker gone, in any order of steps`(
    size: Size
  ) {
    let search = RestingModel(workers: size.workers, jobs: size.jobs, ends: true).search()
    #expect(search.ends.count > 0)
    // What a job makes ready must find the crew open.
    #expect(search.endedTooEarly == 0)
    for end in search.ends {
      #expect(end.visible == 0 && end.done + end.refused == size.jobs)
      #expect(end.workers.allSatisfy { $0 == .gone })
    }
  }

  @Test func `ends under a job when the last to lie down does not look who has risen`() {
    let search = RestingModel(workers: 2, jobs: 1, ends: true).search(.endsRegardless)
    #expect(search.endedTooEarly > 0)
  }

  @Test(arguments: sizes)
  func `keeps its promises while the watch comes and goes`(size: Size) {
    for ends in [false, true] {
      let search = RestingModel(workers: size.workers, jobs: size.jobs, ends: ends)
        .search(watchEnds: true)
      for end in search.ends {
        #expect(end.visible == 0 && end.done + end.refused == size.jobs)
        // Once nobody works, nobody has the watch: an idle crew uses no processor time.
        #expect(end.resting.watcher == nil)
      }
      #expect(search.ends.count > 0)
    }
  }

  @Test func `wakes one worker at a time for any number of jobs`() {
    let search = RestingModel(workers: 3, jobs: 2, ends: false).search()
    #expect(search.mostWoken == 1)
  }

  @Test(arguments: [RestingMistake.noLastLook, .looksTooEarly])
  func `loses a wake-up without a last look in its place`(mistake: RestingMistake) {
    let search = RestingModel(workers: 2, jobs: 2, ends: false).search(mistake)
    #expect(search.ends.contains { $0.visible > 0 && $0.resting.sleepers.count == 2 })
  }

  @Test func `leaves work to one worker when the last searcher does not look for more`() {
    // Two jobs at once, and the second one leaves the waking to the searcher that finds the first.
    func isLonely(_ state: RestingModel) -> Bool {
      state.visible > 0 && state.workers.contains(.running) && state.workers.contains(.parked)
        && !state.tokens.contains(true) && state.bringers.allSatisfy { $0 == .done }
        && state.resting.searching == 0
    }
    func lonely(_ mistake: RestingMistake?) -> Bool {
      var seen: Set<RestingModel> = []
      var stack = [RestingModel(workers: 2, jobs: 2, ends: false)]
      while let state = stack.popLast() {
        if isLonely(state) { return true }
        for next in state.successors(mistake, watchEnds: false) where seen.insert(next).inserted {
          stack.append(next)
        }
      }
      return false
    }
    #expect(lonely(.leavesTheRest))
    #expect(!lonely(nil))
  }

  @Test func `gives the watch to one sleeper at most, and only while somebody is up`() {
    var resting = Resting(workers: 3)
    for _ in 0..<3 { resting.beginSearch() }
    let rests = (0..<3).map { resting.lieDown($0) }
    #expect(rests == [.onWatch, .untilWoken, .untilWoken])
    let rose = resting.rise(0)
    let again = resting.lieDown(0)
    #expect(rose && again == .untilWoken && resting.watcher == nil)
  }

  @Test func `wakes the one that lay down last`() {
    var resting = Resting(workers: 3)
    for worker in 0..<3 {
      resting.beginSearch()
      _ = resting.lieDown(worker)
    }
    let (first, whileOneSearches) = (resting.wakeOne(), resting.wakeOne())
    #expect(first == 2 && whileOneSearches == nil)
    let chosenRises = resting.rise(2)
    #expect(!chosenRises)
    let wasLast = resting.endSearch()
    let second = resting.wakeOne()
    #expect(wasLast && second == 1)
  }
}
