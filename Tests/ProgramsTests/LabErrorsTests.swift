import TestSupport
import Testing

/// What the built `lab` says when something is wrong, and the status it leaves with.
struct LabErrorsTests {
  @Test
  func `a misspelt mechanism is told with a near match, and the script stops with status 3`()
    async throws
  {
    let result = try await LabRunTests.run("-c", "run 5 limitr limit=3\nmechanisms")
    #expect(result.status == .exited(3))
    #expect(result.standardOutput == "")
    #expect(
      result.standardError
        == "-c:1: no mechanism 'limitr'. Did you mean 'limiter'? 'mechanisms' lists all ten.\n"
    )
  }

  @Test
  func `keep-going carries on after a failing command and still says that one failed`()
    async throws
  {
    let result = try await LabRunTests.run(
      "--keep-going",
      "-c",
      "runn 5\nrun 2 limiter work=1ms limit=1"
    )
    #expect(result.status == .exited(3))
    #expect(result.standardOutput.contains("makespan 2 ms"))
    #expect(
      result.standardError
        == "-c:1: no command 'runn'. Did you mean 'run'? 'help' lists all.\n"
    )
  }

  @Test
  func `wrong usage of the program itself is status 2`() async throws {
    for arguments in [["--widht", "3"], ["--width", "3"], ["--seed", "many"], ["nowhere.lab"]] {
      let result = try await LabRunTests.lab.get().run(arguments)
      #expect(result.status == .exited(2), "\(arguments)")
      #expect(result.standardOutput == "")
      #expect(result.standardError.contains(arguments[0]), "\(result.standardError)")
    }
  }

  @Test
  func `help and version are no errors`() async throws {
    let help = try await LabRunTests.run("--help")
    #expect(help.status == .exited(0))
    #expect(help.standardOutput.contains("USAGE: lab"))
    let version = try await LabRunTests.run("--version")
    #expect(version.status == .exited(0))
    #expect(version.standardOutput == "lab 1.0.0\n")
  }

  @Test
  func `virtual time is refused with the reason where a mechanism owns its threads`() async throws {
    let result = try await LabRunTests.run("-c", "run 5 operation-queue clock=virtual")
    #expect(result.status == .exited(3))
    #expect(
      result.standardError == """
        -c:1: OperationQueue owns its threads, so it runs on the wall clock only. Leave clock= \
        out, or use limiter, pool, fifo-queue, actor-queue, task-group, none.

        """
    )
  }
}
