import TestSupport
import Testing

@testable import Shell

/// `platform=`: OperationQueue and GCD as a model, and every view says so.
@Suite(.watched) struct PlatformTests {
  @Test func `a run on a modelled platform says in every view that it is a model`() async {
    let lab = Lab()
    let text = await lab.run("run 100 operation-queue limit=8 platform=linux workers=2")
    #expect(text.contains("operation-queue@linux-model, limit 8"), "\(text)")
    #expect(text.contains("virtual time, a model of 2 processors"))
    #expect(text.contains("makespan 3.2 s"))
    #expect(text.contains("the pool gave 5 threads, so at most 5 ran although the limit is 8"))
    for view in ["timeline", "timeline workers", "stats", "events", "why t50", "runs"] {
      let text = await lab.run(view)
      #expect(text.contains("operation-queue@linux-model"), "\(view): \(text)")
    }
    #expect(await lab.run("set describe on; timeline").contains("operation-queue@linux-model"))
  }

  @Test func `two platforms stand side by side, by name or by key`() async {
    let lab = Lab()
    let both = await lab.run(
      "compare 20 gcd-semaphore@apple-model gcd-semaphore@linux-model limit=4 workers=2"
    )
    #expect(both.contains("gcd-semaphore@apple-model") && both.contains("500 ms"), "\(both)")
    #expect(both.contains("gcd-semaphore@linux-model") && both.contains("1 s"), "\(both)")
    let all = await lab.run("compare 20 platform=apple")
    #expect(all.contains("gcd-gate@apple-model") && all.contains("limiter"))
    #expect(!all.contains("main-actor-queue") && !all.contains("wall clock"), "\(all)")
  }

  @Test func `more tasks join a modelled run, and time passes when it is let`() async {
    let lab = Lab()
    _ = await lab.run("spawn 6 gcd-gate limit=2 platform=apple work=100ms")
    #expect(await lab.run("spawn 2").contains("t07 to t08 spawned"))
    let text = await lab.run("advance 150ms; wait")
    #expect(text.contains("makespan 400 ms"), "\(text)")
  }

  @Test func `what has no model is not modelled`() async {
    let lab = Lab()
    #expect(await lab.outcome(of: "run 5 limiter platform=apple") == .failed)
    #expect(await lab.outcome(of: "run 5 gcd-gate platform=apple clock=real") == .failed)
    #expect(await lab.outcome(of: "run 5 gcd-gate platform=apple kind=fetch") == .failed)
    #expect(await lab.outcome(of: "explore gcd-gate@apple-model") == .failed)
    #expect(await lab.outcome(of: "compare 5 main-actor-queue platform=apple") == .failed)
  }
}
