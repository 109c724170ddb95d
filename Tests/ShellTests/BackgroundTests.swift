import Basics
import Experiments
import Foundation
import Rendering
import TestSupport
import Testing

@testable import Shell

/// Runs in the background, in virtual time: every moment is known.
@Suite(.watched) struct BackgroundTests {
  @Test func `what has not ended yet in a run under way is no violation`() async {
    let lab = Lab()
    await lab.run("spawn 9 limiter limit=3 work=100ms; advance 50ms")
    let text = await lab.run("stats")
    #expect(text.contains("9 not ended yet"), "\(text)")
    #expect(!text.contains("✗"), "\(text)")
    #expect(await lab.outcome(of: "expect violations = 0") == .failed)
    #expect(lab.output.takeComplaints().last?.contains("violations is 0 so far") == true)
    let why = await lab.run("why t05").replacing("\n", with: " ")
    #expect(why.contains("has waited 50 ms so far, since 0 s"), "\(why)")
    #expect(why.contains("and has not been admitted"), "\(why)")
  }

  @Test
  func `time passes only when it is let, and the status says where every task stands`() async {
    let lab = Lab()
    #expect(
      await lab.run("spawn 6 limiter limit=2 work=100ms") == """
        6 tasks of 100 ms · limiter, limit 2 · virtual time, seed 1
        t01 to t06 spawned. Time stands still: 'advance 50ms' or 'idle' lets it pass.

        """
    )
    for _ in 0..<2 {
      #expect(
        await lab.run("status") == """
          at 0 s
            running  2  t01-t02
            waiting  4  t03-t06

          """
      )
    }
    let text = await lab.run("advance 150ms")
    #expect(text.contains("t03"))
    #expect(
      await lab.run("status") == """
        at 150 ms
          running  2  t03-t04
          waiting  2  t05-t06
          ended    2  t01-t02

        """
    )
    #expect(await lab.run("wait").contains("makespan 300 ms"))
    #expect(await lab.outcome(of: "status") == .failed)
    #expect(await lab.outcome(of: "expect makespan = 300ms") == .done)
  }

  @Test
  func `more tasks join the run, from where it is`() async {
    let lab = Lab()
    await lab.run("spawn 2 limiter limit=1 work=100ms; advance 50ms")
    #expect(await lab.run("spawn 1 limiter limit=1 work=10ms").contains("t03 spawned."))
    await lab.run("wait")
    #expect(await lab.outcome(of: "expect makespan = 210ms; expect waiting(t03) = 150ms") == .done)
  }

  @Test
  func `waiting and running tasks can be cancelled, one or all`() async {
    let lab = Lab()
    await lab.run("spawn 4 limiter limit=1 work=100ms; advance 50ms; cancel t01 t03; wait")
    #expect(await lab.outcome(of: "expect cancelled = 2; expect makespan = 250ms") == .done)
    await lab.run("spawn 4 limiter limit=1 work=100ms; advance 50ms; cancel all; wait")
    #expect(await lab.outcome(of: "expect cancelled = 4; expect makespan = 50ms") == .done)
  }

  @Test
  func `what is not said of tasks that join comes from the run they join`() async {
    let lab = Lab()
    await lab.run("use limiter limit=7; spawn 2 pool limit=1 work=100ms")
    #expect(await lab.outcome(of: "spawn 2 work=10ms") == .done)
    #expect(await lab.outcome(of: "spawn 2 limit=3") == .failed)
    #expect(await lab.outcome(of: "spawn 2 limiter") == .failed)
    await lab.run("wait")
    #expect(await lab.outcome(of: "expect tasks = 4; expect makespan = 220ms") == .done)
  }

  @Test
  func `tasks that join are of the kind, the urgency and the dependencies of the run`() async {
    let lab = Lab()
    await lab.run("spawn 2 actor-queue kind=spin work=10ms; set kind=suspend")
    #expect(await lab.outcome(of: "spawn 3 kind=suspend") == .failed)
    #expect(await lab.outcome(of: "spawn 3 work=10ms; wait") == .done)
    #expect(await lab.outcome(of: "expect makespan = 50ms; expect peak_running = 1") == .done)
    await lab.run("spawn 2 operation-queue depends=chain priority=high work=1ms")
    #expect(await lab.outcome(of: "spawn 2 depends=chain priority=high; wait") == .done)
    #expect(await lab.outcome(of: "expect finished = 4") == .done)
  }

  @Test
  func `tasks that join are cancelled by the numbers they get`() async {
    let lab = Lab()
    await lab.run("spawn 6 limiter limit=1 work=100ms")
    #expect(await lab.outcome(of: "spawn 4 cancel=t07@10ms") == .done)
    await lab.run("wait")
    #expect(await lab.outcome(of: "expect cancelled = 1; expect ended(t07) = 10ms") == .done)
    // A new run counts from 1, whatever is in the background.
    await lab.run("spawn 6 limiter limit=1")
    #expect(await lab.outcome(of: "run 4 limiter cancel=t03@10ms") == .done)
    await lab.session.leave()
  }

  @Test
  func `tasks are cancelled by the ranges that status prints`() async {
    let lab = Lab()
    await lab.run("spawn 12 limiter limit=1 work=10ms; cancel t03-t11; wait")
    #expect(await lab.outcome(of: "expect cancelled = 9; expect finished = 3") == .done)
    await lab.run("spawn 3 limiter limit=1")
    for wrong in ["t03-t01", "t01-t04", "t01-", "t1-t2-t3", "-"] {
      #expect(await lab.outcome(of: "cancel \(wrong)") == .failed, "\(wrong)")
    }
    #expect(await lab.run("status").contains("running  1  t01\n"))
    await lab.session.leave()
  }

  @Test
  func `on the wall clock the status stands still once every task has ended`() async {
    let lab = Lab()
    await lab.run("spawn 2 limiter clock=real work=1ms")
    while await lab.session.background?.board.isOver == false { await Moment.pass() }
    let status = await lab.run("status")
    let end = await lab.session.background?.board.lastTime ?? 0
    while await (lab.session.background?.run.now ?? 0) < end + 50_000_000 { await Moment.pass() }
    #expect(await lab.run("status") == status)
    #expect(await lab.outcome(of: "wait; expect finished = 2") == .done)
  }

  /// What a wait prints that is interrupted.
  private static func interruptedWait(_ lab: Lab) async -> String {
    let waiting = Task { await lab.run("wait") }
    while await lab.session.background != nil {
      lab.session.interrupt()
      await Moment.pass()
    }
    return await waiting.value
  }

  @Test
  func `of a run that was stopped nothing is claimed that it never showed`() async {
    let lab = Lab()
    await lab.run("spawn 3 main-actor-queue work=60m")
    #expect(!(await Self.interruptedWait(lab).contains("order")))
    #expect(!(await lab.run("stats").contains("order")))
  }

  @Test
  func `tasks that an interrupt kept from arriving are no violation`() async {
    let lab = Lab()
    await lab.run("spawn 3 limiter clock=real arrivals=every:60m work=60m")
    #expect(!(await Self.interruptedWait(lab).contains("never-arrived")))
    #expect(await lab.outcome(of: "expect violations = 0") == .done)
  }

  @Test
  func `the limit can be raised while tasks wait`() async {
    let lab = Lab()
    await lab.run("spawn 6 limiter limit=1 work=100ms")
    #expect(
      await lab.run("limit 3") == """
        at 0 s
          running  3  t01-t03
          waiting  3  t04-t06

        """
    )
    #expect(await lab.session.prompt.text.hasPrefix("limiter·3 "))
    #expect(await lab.outcome(of: "wait") == .done)
    let text = lab.output.takeText()
    #expect(text.contains("peak 3 of 3\nlimit 1, then 3 from 0 s · order kept"), "\(text)")
    #expect(await lab.outcome(of: "expect makespan = 200ms; expect violations = 0") == .done)
  }

  @Test
  func `a limit changed in mid-run is in every view`() async throws {
    let lab = Lab()
    await lab.run("spawn 6 limiter limit=1 work=100ms; advance 50ms; limit 3")
    let text = await lab.run("wait")
    #expect(text.contains("\nlimit   1111") && text.contains("1333"), "\(text)")
    #expect(text.contains("limit 1, then 3 from 50 ms · order kept"), "\(text)")
    #expect(!text.contains("✗"), "\(text)")
    #expect(await lab.run("events").contains("\n 50 ms       limit 3\n"))
    #expect(await lab.run("why t02").replacing("\n", with: " ").contains("limit had become 3"))
    #expect(await lab.run("stats").contains("permits used 92.3 %"))
    let scratch = try ScratchFolder()
    let parts = [
      "jsonl": #"{"t":50000000,"event":"limit","limit":3}"#, "csv": ",limit_when_admitted\n",
      "json": #""ph":"C","name":"limit""#, "svg": #"<path class="limit""#,
      "html": #""limit":[0,1,50000000,3]"#,
    ]
    for (ending, part) in parts {
      await lab.run("export \(scratch.path)/run.\(ending)")
      let file = try String(contentsOfFile: "\(scratch.path)/run.\(ending)", encoding: .utf8)
      #expect(file.contains(part), "\(ending)")
    }
  }

  @Test
  func `views show the run as far as it has come`() async {
    let lab = Lab()
    await lab.run("run 2; spawn 3 limiter limit=1 arrivals=every:1s; advance 50ms")
    let heading = "at 50 ms the run goes on: 1 in service, 2 to come\n"
    #expect(await lab.run("why t02") == heading + "t02 has not arrived yet\n")
    #expect(await lab.run("events").split(separator: "\n").count == 2 + 2)
    #expect(await lab.run("idle; stats").contains("3 finished"))
    #expect(await lab.outcome(of: "wait; expect finished = 3") == .done)
  }

  @Test
  func `a limit that was changed before any time passed is in every view`() async {
    let lab = Lab()
    await lab.run("spawn 3 limiter limit=1 work=200ms; limit 4; advance 20ms")
    let text = await lab.run("timeline")
    #expect(text.contains("\nlimit   4444444444"), "\(text)")
    #expect(await lab.run("stats").contains("limit 1, then 4 from 0 s"))
    #expect(await lab.run("export - format=chrome").contains(#""name":"limit""#))
    #expect(await lab.run("export - format=html").contains(#""limit":[0,1,0,4]"#))
    await lab.session.leave()
  }

  @Test
  func `what is open at a thread goes on to now`() async {
    let lab = Lab(json: true)
    await lab.run("spawn 3 limiter limit=2 kind=block work=100ms; advance 50ms")
    let held = await lab.run("timeline workers").components(
      separatedBy: #""from":0,"to":50000000}"#
    )
    #expect(held.count == 3, "\(held)")
    await lab.session.leave()
  }

  @Test
  func `a run whose tasks have all ended is judged, save for what only its end tells`() async {
    let lab = Lab()
    await lab.run("spawn 3 limiter limit=1 work=100ms; idle")
    #expect(!(await lab.run("stats").contains("so far")))
    #expect(await lab.outcome(of: "expect makespan = 300ms; expect finished = 3") == .done)
    #expect(await lab.outcome(of: "expect permits_left = 0") == .failed)
    #expect(
      lab.output.takeComplaints().last == """
        test:1: 'permits_left = 0' is not decided yet, as permits_left is nothing (it is told when the run has \
        ended) so far: the run in the background is open. 'wait' ends it.
        """
    )
    #expect(await lab.outcome(of: "wait; expect permits_left = 0") == .done)
  }

  @Test
  func `a deadlock is told, and the shell goes on`() async throws {
    let lab = Lab()
    let specimen = try #require(
      Lab.specimens.first { $0.contains("nested") || $0.contains("lost-wake-up") }
    )
    let text = await lab.run("spawn 4 \(specimen) limit=1 work=10ms cancel=t02@5ms; idle")
    _ = await lab.run("cancel all; wait")
    #expect(!text.isEmpty)
    #expect(await lab.outcome(of: "run 3 limiter") == .done)
  }

  @Test
  func `leaving cancels what has not ended and says so`() async {
    let lab = Lab()
    await lab.run("spawn 3 limiter limit=1; advance 150ms")
    await lab.session.leave()
    #expect(lab.output.takeText() == "2 tasks had not ended and were cancelled.\n")
    await lab.run("spawn 1 limiter")
    await lab.session.leave()
    #expect(lab.output.takeText() == "1 task had not ended and was cancelled.\n")
    await lab.session.leave()
    #expect(lab.output.takeText() == "")
  }

  @Test
  func `an interrupt ends what takes long, and what came too early is not lost`() async {
    let lab = Lab()
    await lab.run("spawn 3 main-actor-queue work=60m")
    let waiting = Task { await lab.run("wait") }
    // Whenever it comes, before the waiting or during it, it ends it.
    while await lab.session.background != nil {
      lab.session.interrupt()
      await Moment.pass()
    }
    #expect(await waiting.value.contains("interrupted"))
    #expect(await lab.outcome(of: "expect finished = 0") == .done)
  }
}
