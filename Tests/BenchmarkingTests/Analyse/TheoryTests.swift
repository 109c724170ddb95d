import Basics
import Benchmarking
import Mechanisms
import TestSupport
import Testing

@Suite(.watched) struct `Queueing theory` {
  /// Waits in service times, from the tables of M/M/1 and M/M/4.
  @Test(arguments: [
    (1, 0.5, 1.0), (1, 0.8, 4.0), (1, 0.9, 9.0), (1, 0.95, 19.0),
    (4, 0.5, 0.08695652173913042), (4, 0.8, 0.7455405897342559), (4, 0.9, 1.969383160738407),
    (4, 0.95, 4.4570949758883645),
  ])
  func `Erlang C gives the textbook's mean waits`(
    servers: Int,
    utilisation: Double,
    wait: Double
  ) throws {
    let queue = ErlangQueue(servers: servers, utilisation: utilisation)
    #expect(isClose(try #require(queue.meanWait()), wait, within: 1e-12))
  }

  @Test func `Erlang B is the recursion's value`() {
    #expect(
      isClose(ErlangQueue(servers: 4, utilisation: 0.9).blockingProbability, 0.27068506714524415)
    )
  }

  @Test func `fixed service waits half as long as exponential`() throws {
    let queue = ErlangQueue(servers: 4, utilisation: 0.8)
    let exponential = try #require(queue.meanWait())
    #expect(isClose(try #require(queue.meanWait(squaredVariation: 0)), exponential / 2))
  }

  @Test(arguments: [1.0, 1.3])
  func `a queue asked for all of its servers' time or more has no mean wait`(utilisation: Double) {
    let queue = ErlangQueue(servers: 8, utilisation: utilisation)
    #expect(queue.meanWait() == nil)
    #expect(queue.waitingProbability == 1)
  }

  @Test func `the tail of one server is exponential`() throws {
    let queue = ErlangQueue(servers: 1, utilisation: 0.5)
    // P(W > t) = ρe^(−(1−ρ)t) is 1 % at t = 2 ln 50.
    #expect(isClose(try #require(queue.waitQuantile(0.99)), 7.824046010856292))
    #expect(queue.waitQuantile(0.4) == 0)
  }
}

@Suite(.watched) struct `The first-come-first-served recursion` {
  @Test func `one server makes each task wait for those before it`() {
    let waits = FCFSRecursion.waits(
      arrivals: [0, 1, 2, 100],
      services: [10, 10, 10, 10],
      servers: 1
    )
    #expect(waits == [0, 9, 18, 0])
  }

  @Test func `a free server takes the next task at once`() {
    let waits = FCFSRecursion.waits(
      arrivals: [0, 0, 0, 0, 5],
      services: [10, 4, 6, 1, 1],
      servers: 2
    )
    #expect(waits == [0, 0, 4, 10, 5])
  }

  @Test func `as many servers as tasks make nobody wait`() {
    let waits = FCFSRecursion.waits(arrivals: [0, 0, 0], services: [9, 9, 9], servers: 64)
    #expect(waits == [0, 0, 0])
  }

  @Test func `no tasks wait for nothing`() {
    #expect(FCFSRecursion.waits(arrivals: [], services: [], servers: 3).isEmpty)
  }

  /// The heap against the plainest statement of the rule: every time, look at all servers.
  @Test(arguments: 1...20)
  func `it agrees with looking at every server`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let servers = Int.random(in: 1...5, using: &generator)
    var arrivals: [Int64] = []
    var time: Int64 = 0
    for _ in 0..<200 {
      time += Int64.random(in: 0...10, using: &generator)
      arrivals.append(time)
    }
    let services = arrivals.map { _ in Int64.random(in: 0...40, using: &generator) }
    var free = [Int64](repeating: 0, count: servers)
    let expected = zip(arrivals, services).map { arrival, service -> Int64 in
      let next = free.indices.min { free[$0] < free[$1] } ?? 0
      let start = max(arrival, free[next])
      free[next] = start + service
      return start - arrival
    }
    #expect(
      FCFSRecursion.waits(arrivals: arrivals, services: services, servers: servers) == expected
    )
  }

  @Test(arguments: [1, 4])
  func `a long random run comes close to Erlang C`(servers: Int) throws {
    let rate = 0.8 * Double(servers)
    let workload = Workload(
      count: 100_000,
      service: .exponential(mean: 1_000_000),
      arrivals: .poisson(perSecond: rate * 1_000),
      seed: 5
    )
    let tasks = workload.tasks()
    let waits = FCFSRecursion.waits(
      arrivals: tasks.map(\.arrival),
      services: tasks.map(\.service),
      servers: servers
    )
    let measured = Double(waits.reduce(0, +)) / Double(waits.count) / 1_000_000
    let theory = try #require(ErlangQueue(servers: servers, utilisation: 0.8).meanWait())
    #expect(isClose(measured, theory, within: 0.05))
  }
}

@Suite(.watched) struct `Little's law` {
  @Test func `counters that agree have no error and others have theirs`() throws {
    let exact = LittlesLaw(meanPresent: 6, arrivalRate: 0.002, meanResponse: 3_000)
    #expect(exact.errorPercent == 0)
    let off = LittlesLaw(meanPresent: 6.3, arrivalRate: 0.002, meanResponse: 3_000)
    #expect(isClose(try #require(off.errorPercent), 5, within: 1e-6))
    #expect(LittlesLaw(meanPresent: 0, arrivalRate: 0, meanResponse: 0).errorPercent == nil)
  }
}
