import Experiments
import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Shell

/// `barrier` and `notify`, on what has them.
@Suite(.watched) struct BarrierTests {
  static let able = ["operation-queue", "gcd-semaphore", "gcd-gate"]

  @Test(arguments: able)
  func `a barrier begins when all before it have ended, and those behind it wait for its end`(
    _ mechanism: String
  )
    async throws
  {
    let lab = Lab()
    await lab.run("spawn 6 \(mechanism) limit=3 work=3ms")
    let told = await lab.run("barrier work=2ms")
    #expect(told.hasPrefix("t07 is a barrier"), "\(told)")
    await lab.run("spawn 5; wait")
    #expect(lab.output.takeComplaints().isEmpty)
    let run = try #require(await lab.session.runs.last)
    #expect(run.plan.count == 12 && run.plan[6].isBarrier && run.plan[6].service == 2_000_000)
    let lives = TaskLife.all(in: run.events, tasks: 12)
    let barrier = lives[6]
    let (begun, ended) = (try #require(barrier.admitted), try #require(barrier.ended))
    #expect(lives[..<6].allSatisfy { ($0.ended ?? .max) <= begun })
    #expect(lives[7...].allSatisfy { ($0.admitted ?? .min) >= ended })
    #expect(lives.allSatisfy { $0.end == .finished })
  }

  @Test(arguments: able)
  func `a barrier that is cancelled while it waits never runs, and holds nobody up`(
    _ mechanism: String
  )
    async throws
  {
    let lab = Lab()
    // Three of them keep the barrier waiting far longer than it takes to read the next command, also where the threads
    // of all tests want a processor.
    await lab.run(
      "spawn 3 \(mechanism) limit=1 work=1s; barrier work=60m; cancel t4; spawn 2 work=1ms; wait"
    )
    let run = try #require(await lab.session.runs.last)
    let lives = TaskLife.all(in: run.events, tasks: 6)
    #expect(lives[3].admitted == nil && lives[3].end == .cancelledWhileWaiting)
    #expect(lives.enumerated().allSatisfy { $0 == 3 || $1.end == .finished })
  }

  @Test(arguments: able)
  func `the mechanism says when all it was given has ended, and it is told once`(
    _ mechanism: String
  ) async throws {
    let lab = Lab()
    let said = await lab.run("spawn 4 \(mechanism) limit=2 work=2ms; notify; wait")
    #expect(said.contains("the mechanism will say when all 4 have ended\n"))
    let signal = mechanism == "operation-queue" ? "the barrier block ran" : "group.notify came"
    let run = try #require(await lab.session.runs.last)
    let last = run.events.last { $0.kind.isEnd }?.time ?? 0
    let told = try #require(
      said.firstMatch(of: /: (?:the barrier block ran|group.notify came) at ([0-9.]+ ?[num]?s)/)
    )
    let toldAt = try #require(ValueSyntax.duration(told.output.1.filter { $0 != " " }))
    // It is told with three digits.
    #expect(Double(toldAt) >= Double(last) * 0.99, "\(said)")
    let times: Int = said.components(separatedBy: "\n\(mechanism): \(signal) at ").count - 1
    #expect(times == 1, "\(said)")
  }
}
