import Foundation
import Shell
import TestSupport
import Testing

/// What the built `lab` says when something is wrong, and the status it leaves with.
@Suite(.watched) struct LabErrorsTests {
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
  func `of several -c an error names which one, and the line in it`() async throws {
    let result = try await LabRunTests.run(
      "--keep-going",
      "-c",
      "run 3",
      "-c",
      "show\nrunn",
      "-c",
      "x"
    )
    #expect(result.status == .exited(3))
    #expect(
      result.standardError == """
        -c 2:2: no command 'runn'. Did you mean 'run'? 'help' lists all.
        -c 3:1: no command 'x'. 'help' lists all.

        """
    )
  }

  @Test
  func `of several commands on a line an error names which one`() async throws {
    let result = try await LabRunTests.run("--keep-going", "-c", "show; runn; show", "-c", "x; y")
    #expect(
      result.standardError == """
        -c 1:1, command 2: no command 'runn'. Did you mean 'run'? 'help' lists all.
        -c 2:1, command 1: no command 'x'. 'help' lists all.
        -c 2:1, command 2: no command 'y'. 'help' lists all.

        """
    )
  }

  @Test
  func `a command given to the program without -c is told how to be given`() async throws {
    let result = try await LabRunTests.run("run", "12", "limiter")
    #expect(result.status == .exited(2))
    #expect(
      result.standardError
        == "lab: there is no file 'run', and a command comes behind -c. Write: lab -c 'run 12 limiter'\n"
    )
  }

  @Test(arguments: ["specimen-trap", "specimen-endless-loop", "specimen-checked-twice"])
  func `what ends its program is not run but refused, and the script goes on`(_ id: String)
    async throws
  {
    let commands = ["run 3 \(id) limit=1", "spawn 3 \(id)", "compare 3 \(id) limiter", "show"]
    let result = try await LabRunTests.run(
      "--keep-going",
      "-c",
      commands.joined(separator: "\n")
    )
    #expect(result.status == .exited(3))
    let refusals = result.standardError.split(separator: "\n")
    #expect(refusals.count == 3)
    #expect(refusals.allSatisfy { $0.hasSuffix("Write: explore \(id).") }, "\(refusals)")
    #expect(result.standardOutput.contains("mechanism"))
  }

  @Test func `no specimen that is listed ends the program that runs it`() async throws {
    let runs = try await LabRunTests.run("-c", "mechanisms --specimens", "--json").standardOutput
    let ids = runs.matches(of: /"id":"(specimen-[a-z-]+)"/).map { String($0.output.1) }
    #expect(ids.count >= 13)
    let lines = ids.flatMap { id in
      ["run 6 \(id) limit=2 work=1ms cancel=50%", "run 6 \(id) limit=2 work=1ms fail=50%"]
    }
    let result = try await LabRunTests.run(
      "--keep-going",
      "-c",
      (lines + ["show"]).joined(separator: "\n")
    )
    #expect(result.status == .exited(0) || result.status == .exited(1), "\(result.standardError)")
    #expect(result.standardOutput.contains("memory"))
  }

  @Test
  func `keep-going carries on within a line too`() async throws {
    let result = try await LabRunTests.run("--keep-going", "-c", "runn 5; run 2 limiter work=1ms")
    #expect(result.status == .exited(3))
    #expect(result.standardOutput.contains("makespan 1 ms"))
  }

  @Test
  func `what cannot be read is refused before anything runs`() async throws {
    let result = try await LabRunTests.run("-c", "run 3", "nowhere.lab")
    #expect(result.status == .exited(2))
    #expect(result.standardOutput == "")
    #expect(
      result.standardError == "lab: cannot read nowhere.lab: no such file or directory\n"
    )
    let folder = try await LabRunTests.run("/")
    #expect(folder.status == .exited(2))
    #expect(folder.standardError == "lab: cannot read /: it is a folder\n")
    let binary = FileManager.default.temporaryDirectory.appending(path: "binary-\(UUID()).lab")
    try Data([0x72, 0xFF, 0xFE, 0x0A]).write(to: binary)
    defer { try? FileManager.default.removeItem(at: binary) }
    let other = try await LabRunTests.run(binary.path)
    #expect(other.status == .exited(2))
    #expect(other.standardError == "lab: cannot read \(binary.path): it is not UTF-8 text\n")
    let sourced = try await LabRunTests.run("-c", "source \(binary.path)")
    #expect(
      sourced.standardError == "-c:1: '\(binary.path)' cannot be read: it is not UTF-8 text.\n"
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
    let words = help.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("Without this option, at most 200 rows are drawn"))
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
        out, take the model of it with platform=linux, or use limiter, pool, fifo-queue, actor-queue, task-group, none.

        """
    )
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `shells can complete the options`(_ shell: String) async throws {
    let script = try await LabRunTests.run("--generate-completion-script", shell)
    #expect(script.status == .exited(0))
    for option in ["keep-going", "no-color", "describe"] {
      #expect(script.standardOutput.contains(option))
    }
    #expect(script.standardError == "")
  }

  @Test
  func `the completion script for bash works in bash`() async throws {
    let terminal = try LabTerminal(
      command: """
        source <($LAB --generate-completion-script bash)
        COMP_WORDS=(lab --keep) COMP_CWORD=1 COMP_LINE='lab --keep' COMP_POINT=10 COMP_TYPE=9
        _lab lab --keep lab; echo "offers ${COMPREPLY[*]}"
        """
    )
    try await terminal.screen.waitForText("offers --keep-going")
  }

  @Test
  func `the manual page has every option, command, key and topic, and is no request by mistake`()
    async throws
  {
    let page = try await LabRunTests.run("--manual")
    #expect(page.status == .exited(0))
    let text = page.standardOutput.replacing("\\-", with: "-")
    #expect(text.hasPrefix(".TH LAB 1 "))
    for command in CommandTable.commands {
      #expect(text.contains("\n.B \(command.synopsis)\n"), "\(command.name)")
      for key in command.keys { #expect(text.contains("\n.B \(key.name)=\n")) }
      for example in command.examples { #expect(text.contains("  \(example)\n")) }
    }
    for option in ["-c <COMMANDS>", "--json", "--seed <N>", "--keep-going", "-i, --interactive"] {
      #expect(text.contains("\n.B \(option)\n"), "\(option)")
    }
    let requests = Set(
      text.split(separator: "\n").filter { $0.hasPrefix(".") }.map { line in
        String(line.prefix { $0 != " " })
      }
    )
    #expect(
      requests.isSubset(of: [".TH", ".SH", ".SS", ".TP", ".B", ".PP", ".RS", ".RE", ".EX", ".EE"])
    )
    #expect(!text.contains("\n'"), "a line that begins so is a request")
  }
}
