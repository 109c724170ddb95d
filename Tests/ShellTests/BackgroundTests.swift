import TestSupport
import Testing

@testable import Shell

/// Runs in the background, in virtual time: every moment is known.
@Suite(.watched) struct BackgroundTests {
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
    await lab.run("wait")
    #expect(await lab.outcome(of: "expect makespan = 200ms") == .done)
  }

  @Test
  func `views show the run as far as it has come`() async {
    let lab = Lab()
    await lab.run("run 2; spawn 3 limiter limit=1 arrivals=every:1s; advance 50ms")
    #expect(await lab.run("why t02") == "t02 has not arrived yet\n")
    #expect(await lab.run("events").split(separator: "\n").count == 2)
    #expect(await lab.run("idle; stats").contains("3 finished"))
    #expect(await lab.outcome(of: "wait; expect finished = 3") == .done)
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
    await lab.run("spawn 3 main-actor-queue work=1m")
    let waiting = Task { await lab.run("wait") }
    // Whenever it comes, before the waiting or during it, it ends it.
    while await lab.session.background != nil {
      lab.session.interrupt()
      await Task.yield()
    }
    #expect(await waiting.value.contains("interrupted"))
    #expect(await lab.outcome(of: "expect finished = 0") == .done)
  }
}
