import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `A workload` {
  private static let everything = Workload(
    count: 500,
    service: .lognormal(mean: 40_000_000, sigma: 0.5),
    kind: .download,
    arrivals: .poisson(perSecond: 200),
    cancellations: .share(percent: 20),
    failPercent: 10,
    priorities: .mixed,
    dependencies: .chain,
    seed: 7
  )

  // MARK: - One seed, one workload

  @Test func `is the same tasks for the same seed`() {
    #expect(Self.everything.tasks() == Self.everything.tasks())
  }

  @Test func `is other tasks for another seed`() {
    var other = Self.everything
    other.seed = 8
    for (one, two) in zip(Self.everything.tasks(), other.tasks()) {
      #expect(one.service != two.service)
    }
  }

  /// Numbers of the first machine it ran on: every other must draw the same, bit for bit.
  @Test func `draws the golden numbers`() {
    let tasks = Self.everything.tasks()
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ number: Int64) { hash = (hash ^ UInt64(bitPattern: number)) &* 0x100_0000_01b3 }
    for task in tasks {
      mix(Int64(task.number))
      mix(task.arrival)
      mix(task.service)
      mix(task.fails ? 1 : 0)
      mix(task.cancelAt ?? -1)
      mix(Int64(ServicePriority.allCases.firstIndex(of: task.priority) ?? -1))
      mix(Int64(task.after ?? -1))
      for part in task.parts { mix(part) }
    }
    #expect(tasks.prefix(3).map(\.service) == [92_823_890, 37_923_541, 36_405_195])
    #expect(tasks.prefix(3).map(\.arrival) == [5_612_833, 18_741_050, 25_246_711])
    #expect(
      tasks[0].parts == [5_613_715, 14_963_218, 19_109_688, 12_969_134, 24_420_221, 15_747_914]
    )
    #expect(hash == 9_199_166_684_115_503_107)
  }

  @Test(
    arguments: [
      (ServiceTime.fixed(20_000_000), [20_000_000, 20_000_000, 20_000_000]),
      (.exponential(mean: 20_000_000), [20_881_357, 21_639_223, 44_496_132]),
      (.uniform(10_000_000...70_000_000), [31_121_188, 30_335_811, 16_485_299]),
      (.lognormal(mean: 40_000_000, sigma: 0.5), [12_030_862, 15_427_572, 67_635_588]),
    ] as [(ServiceTime, [Int64])]
  )
  func `draws the golden service times of each distribution`(
    service: ServiceTime,
    expected: [Int64]
  ) {
    let tasks = Workload(count: 3, service: service, seed: 1).tasks()
    #expect(tasks.map(\.service) == expected)
  }

  // MARK: - What is drawn for one purpose leaves the others alone

  @Test func `keeps its service times whatever else is drawn`() {
    let plain = Workload(count: 200, service: .exponential(mean: 20_000_000), seed: 3)
    var rich = plain
    rich.arrivals = .poisson(perSecond: 50)
    rich.cancellations = .share(percent: 50)
    rich.failPercent = 50
    rich.priorities = .mixed
    rich.dependencies = .first
    rich.kind = .block
    #expect(plain.tasks().map(\.service) == rich.tasks().map(\.service))
  }

  @Test func `keeps its arrivals, failures and cancellations when the service times change`() {
    var shorter = Self.everything
    shorter.service = .fixed(40_000_000)
    for (one, two) in zip(Self.everything.tasks(), shorter.tasks()) {
      #expect(one.arrival == two.arrival)
      #expect(one.fails == two.fails)
      #expect(one.cancelAt == two.cancelAt)
      #expect(one.priority == two.priority)
    }
  }

  @Test func `cancels the tasks that a smaller share cancels, and more`() {
    func cancelled(_ percent: Double) -> Set<Int> {
      var workload = Self.everything
      workload.cancellations = .share(percent: percent)
      return Set(workload.tasks().filter { $0.cancelAt != nil }.map(\.number))
    }
    #expect(cancelled(0).isEmpty)
    #expect(cancelled(20).isStrictSubset(of: cancelled(40)))
    #expect(cancelled(100).count == 500)
  }

  @Test func `fails and cancels independently`() {
    var workload = Workload(count: 100_000, service: .fixed(1000), seed: 9)
    workload.cancellations = .share(percent: 20)
    workload.failPercent = 10
    let tasks = workload.tasks()
    func share(_ condition: (SimulatedTask) -> Bool) -> Double {
      Double(tasks.count(where: condition)) / Double(tasks.count)
    }
    #expect(abs(share { $0.cancelAt != nil } - 0.2) < 0.005)
    #expect(abs(share { $0.fails } - 0.1) < 0.005)
    #expect(abs(share { $0.fails && $0.cancelAt != nil } - 0.02) < 0.003)
  }

  @Test func `draws each priority a third of the time`() {
    var workload = Workload(count: 60_000, service: .fixed(1000), seed: 9)
    workload.priorities = .mixed
    let tasks = workload.tasks()
    for level in ServicePriority.allCases {
      let share = Double(tasks.count { $0.priority == level }) / Double(tasks.count)
      #expect(abs(share - 1.0 / 3) < 0.01)
    }
    workload.priorities = .all(.high)
    #expect(workload.tasks().allSatisfy { $0.priority == .high })
  }

  // MARK: - The shape of the tasks

  @Test func `cancels within twice the mean service time of the arrival`() {
    for task in Self.everything.tasks() {
      guard let cancelAt = task.cancelAt else { continue }
      #expect(cancelAt >= task.arrival)
      #expect(cancelAt <= task.arrival + 80_000_000)
    }
  }

  @Test func `cancels the chosen tasks at the chosen times, counted from its start`() {
    var workload = Workload(count: 4, service: .fixed(1000))
    workload.cancellations = .chosen([2: 50, 4: 70])
    #expect(workload.tasks().map(\.cancelAt) == [nil, 50, nil, 70])
    #expect(workload.tasks(startingAt: 1000).map(\.cancelAt) == [nil, 1050, nil, 1070])
  }

  @Test func `has no dependencies, a chain, or one task that all others wait for`() {
    var workload = Workload(count: 4, service: .fixed(1000))
    #expect(workload.tasks().map(\.after) == [nil, nil, nil, nil])
    workload.dependencies = .chain
    #expect(workload.tasks().map(\.after) == [nil, 1, 2, 3])
    #expect(workload.tasks(numberedFrom: 11).map(\.after) == [nil, 11, 12, 13])
    workload.dependencies = .first
    #expect(workload.tasks().map(\.after) == [nil, 1, 1, 1])
    #expect(workload.tasks(numberedFrom: 11).map(\.after) == [nil, 11, 11, 11])
  }

  @Test func `gives a download six parts that add up to its service time`() {
    for task in Self.everything.tasks() {
      #expect(task.parts.count == SimulatedTask.progressReports.count)
      #expect(task.parts.allSatisfy { $0 >= 0 })
      #expect(task.parts.reduce(0, +) == task.service)
    }
    for length: Int64 in 0...40 {
      let task = Workload(count: 1, service: .fixed(length), kind: .download).tasks()[0]
      #expect(task.parts.reduce(0, +) == length)
    }
  }

  @Test(arguments: [ServiceKind.suspend, .block, .spin])
  func `gives other kinds no parts`(kind: ServiceKind) {
    let tasks = Workload(count: 5, service: .fixed(1000), kind: kind).tasks()
    #expect(tasks.allSatisfy { $0.parts.isEmpty && $0.kind == kind })
  }

  @Test func `of nobody has no tasks`() {
    #expect(Workload(count: 0, service: .fixed(1000)).tasks().isEmpty)
  }

  // MARK: - In portions

  @Test func `numbers and starts its tasks where it is told, and they stay in order`() {
    let tasks = Self.everything.tasks(numberedFrom: 41, startingAt: 1_000_000)
    #expect(tasks.map(\.number) == Array(41...540))
    let arrivals = tasks.map(\.arrival)
    #expect(arrivals.allSatisfy { $0 >= 1_000_000 })
    #expect(arrivals == arrivals.sorted())
  }

  @Test func `shifts arrivals and cancellations by its start, and nothing else`() {
    let early = Self.everything.tasks()
    let late = Self.everything.tasks(startingAt: 5_000_000)
    for (one, two) in zip(early, late) {
      var moved = one
      moved.arrival += 5_000_000
      moved.cancelAt = one.cancelAt.map { $0 + 5_000_000 }
      #expect(moved == two)
    }
  }

  @Test func `gives a task of a given number the same service in every portion`() {
    var portion = Self.everything
    portion.count = 100
    let whole = Self.everything.tasks()
    let part = portion.tasks(numberedFrom: 201)
    for task in part {
      let same = whole[task.number - 1]
      #expect(task.service == same.service)
      #expect(task.parts == same.parts)
      #expect(task.fails == same.fails)
      #expect(task.priority == same.priority)
    }
  }
}
