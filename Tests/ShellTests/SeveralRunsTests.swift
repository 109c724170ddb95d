import Basics
import Rendering
import TestSupport
import Testing

@testable import Shell

/// Several runs in the background at once, by name.
@Suite(.watched) struct SeveralRunsTests {
  private static let two =
    "spawn 6 pool limit=2 work=100ms name=a; spawn 6 limiter limit=3 work=100ms name=b"

  /// A session in which both go on.
  private static func lab(json: Bool = false) async -> Lab {
    let lab = Lab(json: json)
    await lab.run(two)
    return lab
  }

  @Test
  func `a command with a name is for that run, one without for the latest, and says so`() async {
    let lab = await Self.lab()
    #expect(
      await lab.run("advance 150ms a; status a") == """
        100 ms  t01  finished on w1
        100 ms  t02  finished on w1
        100 ms  t03  admitted on w1, made possible by t01
        100 ms  t04  admitted on w1, made possible by t02
        at 150 ms
          running  2  t03-t04
          waiting  2  t05-t06
          ended    2  t01-t02
        at 150 ms
          running  2  t03-t04
          waiting  2  t05-t06
          ended    2  t01-t02

        """
    )
    #expect(
      await lab.run("status") == """
        b, the latest of 2 in the background:
        at 0 s
          running  3  t01-t03
          waiting  3  t04-t06

        """
    )
    let all = await lab.run("status all")
    #expect(all.hasPrefix("a, pool\nat 150 ms\n"), "\(all)")
    #expect(all.contains("\nb, limiter\nat 0 s\n"), "\(all)")
    #expect(await lab.run("timeline").hasPrefix("b, the latest of 2 in the background:\n"))
    await lab.run("wait a")
    #expect(await lab.run("status").hasPrefix("at 0 s\n"), "the one that is left needs no name")
    await lab.session.leave()
  }

  @Test
  func `limits, cancellations and waits are of the run that is named, in any order`() async {
    let lab = await Self.lab()
    #expect(await lab.outcome(of: "limit 6 b; cancel t3 t5-t6 a; cancel t1 of b") == .done)
    let first = await lab.run("wait a")
    #expect(first.contains("makespan 200 ms") && first.contains("3 cancelled"), "\(first)")
    #expect(await lab.outcome(of: "wait b; expect cancelled = 1; expect makespan = 100ms") == .done)
    #expect(await lab.outcome(of: "stats of a; stats of b; diff a b") == .done)
    #expect(await lab.outcome(of: "status") == .failed)
  }

  @Test func `all runs are waited for in the order in which they began`() async {
    let lab = await Self.lab()
    _ = lab.output.takeText()
    let text = await lab.run("advance 50ms all; wait all")
    let heads = text.split(separator: "\n").filter { $0 == "a, pool" || $0 == "b, limiter" }
    #expect(heads == ["a, pool", "b, limiter", "a, pool", "b, limiter"])
    #expect(text.contains("makespan 300 ms") && text.contains("makespan 200 ms"), "\(text)")
    #expect(await lab.run("runs").contains("  1  a"))
  }

  @Test func `tasks join the run that is named, and else the latest`() async {
    let lab = await Self.lab()
    #expect(await lab.run("spawn 2 name=a").contains("t07 to t08 spawned"))
    #expect(await lab.run("spawn 1").hasPrefix("b, the latest of 2 in the background:\n"))
    #expect(await lab.outcome(of: "spawn 1 pool name=b") == .failed, "b is no pool")
    await lab.run("wait all")
    #expect(await lab.outcome(of: "expect tasks = 7") == .done)
  }

  @Test func `a run without a name is called by its mechanism`() async {
    let lab = Lab()
    await lab.run("spawn 3 fifo-queue work=10ms; spawn 3 limiter work=10ms name=b")
    #expect(await lab.run("idle fifo-queue").contains("ended  3"))
    #expect(await lab.run("timeline of fifo-queue").contains("30"))
    #expect(await lab.run("wait fifo-queue").contains("makespan 30 ms"))
    await lab.session.leave()
  }

  @Test(arguments: [
    (
      "wait c",
      "no run 'c' goes on in the background. There: a and b."
    ),
    (
      "limit 3 aa",
      "no run 'aa' goes on in the background. Did you mean 'a'? There: a and b."
    ),
    ("status a of b", "a run is named twice. Keep 'b'."),
    ("cancel t9 a", "there is no task 9: this run has 6 tasks."),
    ("cancel t1 t9 of all", "there is no task 9: this run has 6 tasks."),
    ("spawn 2 name=all", "'all' means every run in the background. Choose another name."),
  ])
  func `what is wrong changes no run`(_ line: String, _ message: String) async {
    let lab = await Self.lab()
    #expect(await lab.outcome(of: line) == .failed)
    #expect(lab.output.takeComplaints() == ["test:1: " + message])
    #expect(await lab.outcome(of: "wait all; expect finished = 6") == .done)
  }

  @Test func `runs on both clocks go on beside each other`() async {
    let lab = Lab()
    await lab.run("spawn 4 gcd-gate limit=2 work=1ms name=real; spawn 4 limiter work=1h name=long")
    #expect(await lab.session.prompt.text.hasSuffix("virtual (3▸ 1·) +1> "))
    #expect(await lab.session.prompt.isLive)
    while await lab.session.backgrounds.named("real")?.board.isOver == false {
      await Moment.pass()
    }
    let prompt = await lab.session.prompt
    #expect(prompt.news == "real: all 4 tasks have ended. 'wait real' shows the result.")
    #expect(prompt.news == nil)
    #expect(await lab.outcome(of: "advance 30m all") == .done, "the wall clock passes by itself")
    #expect(await lab.outcome(of: "idle real") == .failed)
    #expect(await lab.outcome(of: "wait all; expect makespan = 2h") == .done)
  }

  @Test func `leaving cancels what has not ended in any run`() async {
    let lab = await Self.lab()
    await lab.run("advance 150ms all")
    await lab.session.leave()
    #expect(lab.output.takeText() == "7 tasks of 2 runs had not ended and were cancelled.\n")
  }

  @Test func `an interrupt ends every run that is waited for`() async {
    let lab = Lab()
    await lab.run("spawn 2 main-actor-queue work=60m name=a; spawn 2 gcd-gate work=60m name=b")
    let waiting = Task { await lab.run("wait all") }
    while await lab.session.background != nil {
      lab.session.interrupt()
      await Moment.pass()
    }
    #expect(await waiting.value.contains("interrupted"))
    #expect(await lab.outcome(of: "expect finished = 0") == .done)
  }

  @Test func `in JSON Lines each run tells its name, and which is meant goes to standard error`()
    async
  {
    let lab = await Self.lab(json: true)
    let lines = await lab.run("status all").split(separator: "\n")
    #expect(lines.map { $0.contains(#""run":"a""#) } == [true, false])
    #expect(lines.map { $0.contains(#""run":"b""#) } == [false, true])
    _ = lab.output.takeComplaints()
    #expect(await lab.run("status").split(separator: "\n").count == 1)
    #expect(lab.output.takeComplaints() == ["note: b, the latest of 2 in the background"])
    await lab.session.leave()
  }

  @Test func `the names of the runs in the background complete a line`() async {
    let lab = await Self.lab()
    func words(_ line: String) -> [String] {
      lab.session.completions(of: line, cursor: line.count).candidates.map(\.text)
    }
    #expect(words("wait ") == ["a", "b", "all", "run="])
    #expect(words("cancel t1 ").prefix(4) == ["a", "b", "all", "t01"])
    #expect(words("limit 5 b") == ["b"])
    await lab.session.leave()
  }
}
