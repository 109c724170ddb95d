import Experiments
import Mechanisms
import TestSupport
import Testing

/// The account that is overdrawn, and the server that stands still.
@Suite(.watched) struct DemonstrationTests {
  @Test func `an account that looks, awaits and takes is overdrawn, step by step`() async {
    let entries = await Overdraft().run()
    #expect(
      entries.map { "\($0.withdrawal) \($0.text): \($0.balance)" } == [
        "1 looks: 100 is enough: 100",
        "1 awaits the bank: 100",
        "2 looks: 100 is enough: 100",
        "2 awaits the bank: 100",
        "1 takes 60: 40",
        "2 takes 60: -20",
      ]
    )
  }

  @Test func `either remedy refuses the second withdrawal, before or after the bank`() async {
    var account = Overdraft()
    account.remedy = .reserve
    let reserved = await account.run()
    #expect(
      reserved.contains { $0.withdrawal == 2 && $0.text == "looks: 40 is too little, refused" }
    )
    account.remedy = .recheck
    let rechecked = await account.run()
    #expect(rechecked.last?.text == "looks again: 40 is too little, refused")
    for entries in [reserved, rechecked] {
      #expect(entries.allSatisfy { $0.balance >= 0 })
      #expect(entries.last?.balance == 40)
      #expect(entries.count { $0.text == "takes 60" } == 1)
    }
  }

  @Test func `a run says when a task in service could have gone on, but had no worker`()
    async throws
  {
    var scene = PriorityInversion()
    scene.medium = 2
    let run = await scene.run()
    let low = try #require(run.timeline.tasks.first)
    let millisecond: Int64 = 1_000_000
    // Its file is read in parts of 10 ms. The first part is there at 10 ms; the two medium tasks have the
    // worker from 5 ms to 25 ms. From then on nobody is in its way.
    #expect(
      low.spans.map { [$0.start / millisecond, $0.end / millisecond] }
        == [[0, 10], [10, 25], [25, 75]]
    )
    #expect(low.spans.map(\.phase) == [.running, .ready, .running])
    #expect(run.readyWithoutWorker(low.life) == 15 * millisecond)
    // Of the medium tasks the second has no worker until the first is done.
    let ready = run.timeline.tasks.dropFirst().map { lane in
      lane.spans.filter { $0.phase == .ready }
        .map { [$0.start / millisecond, $0.end / millisecond] }
    }
    #expect(ready == [[], [[5, 15]], []])
    #expect(run.readyWithoutWorker(run.timeline.tasks[2].life) == nil)
  }

  @Test func `an open loop sees a stall in each request that is due meanwhile, a closed one once`()
    async
  {
    let open = await Stall(.open).run()
    // Request i is due after 10 ms times i, and waits until 2 s, and 5 ms for each before it.
    let expected = (0..<Stall.requests).map { index in
      max(0, Stall.length + Int64(index) * (Stall.service - Stall.interval))
    }
    #expect(open.lives.dropFirst().map(\.waiting) == expected)
    let closed = await Stall(.closed).run()
    let waits = closed.lives.dropFirst().compactMap(\.waiting)
    #expect(waits.count == Stall.requests)
    #expect(waits.first == Stall.length)
    #expect(waits.dropFirst().allSatisfy { $0 == 0 })
  }
}
