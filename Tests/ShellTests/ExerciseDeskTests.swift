import TestSupport
import Testing

@testable import Shell

/// What the desk makes of a learner's file before it is built.
@Suite(.watched) struct ExerciseDeskTests {
  @Test func `a learner's locks and limiters become those that an exploration can stop at`() {
    let code = """
      import Grading
      import Limiters
      internal import struct Synchronization.Mutex
      @preconcurrency import Synchronization
      // import Limiters
      let Limiters = "import Synchronization"
      import LimitersOfMyOwn

      """
    let explorable = """
      import Grading
      import ExplorableLimiters
      internal import struct ExplorableSynchronization.Mutex
      @preconcurrency import ExplorableSynchronization
      // import Limiters
      let Limiters = "import Synchronization"
      import LimitersOfMyOwn

      """
    #expect(ExerciseDesk.explorable(code) == explorable)
  }

  @Test func `a lock at which the grading cannot stop is named, where it would have to`() throws {
    let limiter = try #require(ExerciseHarness.all["limiter"])
    for name in ["pthread_mutex_t", "DispatchSemaphore", "NSRecursiveLock", "NSCondition"] {
      #expect(limiter.unseenLock(in: "let lock = \(name)()") == name)
    }
    // A queue that runs several at once is no lock, though its 'sync' looks like one.
    let concurrent = "DispatchQueue(label: \"gate\", attributes: .concurrent)"
    #expect(limiter.unseenLock(in: concurrent) == ".concurrent")
    #expect(limiter.unseenLock(in: "pthread_self()") == nil)
    let unused = """
      // no DispatchSemaphore here
      /* pthread_mutex_t
         NSCondition */
      let text = "NSRecursiveLock \\" NSCondition"
      let lock = NSLock(), gate = DispatchQueue(label: "gate"), mutex = Mutex(0)
      """
    #expect(limiter.unseenLock(in: unused) == nil)
    let batch = try #require(ExerciseHarness.all["batch"])
    #expect(batch.unseenLock(in: "let permits: DispatchSemaphore") == nil)
  }

  @Test func `who is to write a limiter or a pool may not take the package's`() throws {
    for name in ["limiter", "cancellable-limiter", "pool"] {
      let harness = try #require(ExerciseHarness.all[name])
      #expect(harness.borrowed(in: "let it: ConcurrencyLimiter") == "ConcurrencyLimiter")
      #expect(harness.borrowed(in: "await list.concurrentMap(limit: 3) {}") == "concurrentMap")
      #expect(
        harness.borrowed(in: "// as ConcurrencyLimiter does\nlet name = \"AsyncPool\"") == nil
      )
      #expect(harness.borrowed(in: "final class MyConcurrencyLimiter {}") == nil)
    }
    let design = try #require(ExerciseHarness.all["design"])
    #expect(design.borrowed(in: "let it: ConcurrencyLimiter") == nil)
  }

  @Test func `a file without the type that is graded is told by the name of the type`() throws {
    let pool = try #require(ExerciseHarness.all["pool"])
    for code in [
      "final class MyPool: LearnerPool {}", "public struct  MyPool{}", "actor MyPool {}",
    ] {
      #expect(pool.isDeclared(in: code), "\(code)")
    }
    for code in ["", "// class MyPool", "let text = \"class MyPool\"", "class MyPoolOfMany {}"] {
      #expect(!pool.isDeclared(in: code), "\(code)")
    }
  }

  @Test func `a package that was moved after its build is no fault of the answer`() throws {
    let said = """
      <unknown>:0: error: precompiled file '/b/.build/x/ModuleCache/SwiftShims.pcm' was compiled with module cache \
      path '/a/.build/x/ModuleCache', but the path is currently '/b/.build/x/ModuleCache'
      <unknown>:0: error: missing required module 'SwiftShims'
      """
    let failure = try #require(ExerciseDesk.moved("/b", said))
    #expect(failure.description.contains("'rm -r /b/.build'"), "\(failure)")
    #expect(ExerciseDesk.moved("/b", "Gate.swift:3:5: error: cannot find 'x' in scope") == nil)
  }

  @Test func `orders that allow reorderings are seen in code, not in what is said of it`() {
    #expect(Session.hasWeakOrders("count.add(1, ordering: .relaxed)"))
    #expect(Session.hasWeakOrders("let a = 1\nword.load(ordering: .acquiring)"))
    #expect(
      !Session.hasWeakOrders("count.add(1, ordering: .sequentiallyConsistent)  // not .relaxed")
    )
    #expect(!Session.hasWeakOrders("let isrelaxed = true"))
  }

  @Test func `who waits for a grading is told which part has taken how long`() {
    #expect(GradingProgress.text(.building, seconds: 7) == "building, 7 s; Ctrl-C ends it")
    #expect(
      GradingProgress.text(.building, seconds: 25)
        == "building, 25 s; the first time, or beside another build, it takes minutes; Ctrl-C ends it"
    )
    #expect(
      GradingProgress.text(.asking("storm", before: 3), seconds: 40)
        == "grading, 40 s: no. 4, storm; Ctrl-C ends it"
    )
    let long = GradingProgress.text(
      .asking("6 downloads for a task that was cancelled before", before: 11),
      seconds: 400
    )
    #expect(
      long == "grading, 400 s: no. 12, 6 downloads for a task that was ca …; Ctrl-C ends it"
    )
    #expect(long.count < 80)
  }
}
