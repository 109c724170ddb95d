import Dispatch
import Foundation
import TestSupport
import Testing

@Suite(.watched) struct `A test program that hangs` {
  private static func errors(_ result: ExitTest.Result?) throws -> String {
    String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
  }

  @Test func `is ended with the names of its tests when they block every thread of the pool`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .exitCode(1),
      observing: [\.standardErrorContent]
    ) {
      let watchdog = Watchdog(limit: .milliseconds(500))
      await watchdog.watch("a test that ended") {}
      await withTaskGroup { group in
        for number in 1...64 {
          group.addTask {
            await watchdog.watch("test \(number)") { hang() }
          }
        }
      }
    }
    let errors = try Self.errors(result)
    #expect(errors.contains("✘ No test has begun or ended for 0.5 seconds. Running:\n  test "))
    #expect(errors.contains("The cooperative pool runs no new task"))
    #expect(!errors.contains("a test that ended"))
  }

  @Test func `is ended when a test waits for what does not come, and its children with it`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .exitCode(1),
      observing: [\.standardErrorContent]
    ) {
      let watchdog = Watchdog(limit: .milliseconds(500))
      await watchdog.watch("waiting for a program") {
        _ = try? await BuiltProgram(path: "/bin/sleep").run(["3600"], deadline: .seconds(3600))
      }
    }
    let errors = try Self.errors(result)
    #expect(errors.contains("Running:\n  waiting for a program\n"))
    #expect(errors.contains("The cooperative pool runs new tasks"))
    #expect(errors.contains("/bin/sleep 3600"))
  }

  @Test func `is not said to hang while tests begin and end, nor while none runs`() {
    var tests = TestsUnderWay()
    var verdicts: [Bool] = []
    for _ in 1...100 { verdicts.append(tests.look()) }
    let long = tests.begin("long")
    for _ in 1...100 {
      let short = tests.begin("short")
      for _ in 1...10 { verdicts.append(tests.look()) }
      tests.end(short)
      for _ in 1...10 { verdicts.append(tests.look()) }
    }
    #expect(!verdicts.contains(true))
    #expect(tests.running == ["long"])
    let hangs = tests.look()
    #expect(hangs)
    tests.end(long)
    let hangsAfterwards = tests.look()
    #expect(!hangsAfterwards)
  }

  @Test(arguments: ["an argument"])
  func `is told where a test stands, its name and its arguments`(argument: String) throws {
    let name = Watched.name(of: try #require(Test.current), Test.Case.current)
    #expect(name.hasPrefix("HouseTests/WatchdogTests.swift:"))
    #expect(
      name.hasSuffix(" is told where a test stands, its name and its arguments (\(argument))")
    )
  }
}

/// Holds the calling thread for ever.
private func hang() { DispatchSemaphore(value: 0).wait() }
