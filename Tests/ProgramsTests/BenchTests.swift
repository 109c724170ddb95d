import Benchmarking
import Foundation
import TestSupport
import Testing

/// The built `bench`, as a person or a script runs it.
///
/// Measures with `--unoptimised`, so that the tests do not have to build for release; what the figures
/// are does not matter here, only that they come out as promised.
@Suite(.watched) struct `The bench program` {
  private let bench: BuiltProgram

  init() throws { bench = try BuiltProgram("bench") }

  private func measure(_ arguments: [String], out: String) async throws -> BuiltProgram.Result {
    try await bench.run(
      [
        "--ci", "--unoptimised", "--forks", "1", "--filter", "uncontended.* (limiter|pool)$",
        "--out", out,
      ] + arguments,
      deadline: .seconds(600)
    )
  }

  @Test func `the list names what filters are matched against`() async throws {
    let result = try await bench.run(["--list", "--mechanism", "limiter", "pool"])
    #expect(result.status == .exited(0))
    #expect(result.standardOutput.contains("\n  uncontended limit=1 tasks=1 limiter\n"))
    #expect(!result.standardOutput.contains("gcd-gate"))
    #expect(result.standardError.isEmpty)
  }

  @Test func `a dry run says how long it would take and measures nothing`() async throws {
    let result = try await bench.run(["--dry-run", "--quick", "--out", "/no/such/place"])
    #expect(result.status == .exited(0))
    #expect(result.standardOutput.contains("Nothing was measured."))
    #expect(result.standardOutput.contains("about"))
  }

  @Test(arguments: ["--list", "--dry-run"])
  func `what is only planned is JSON too where JSON was asked for`(_ option: String) async throws {
    let result = try await bench.run([
      "--json", option, "--quick", "--mechanism", "limiter", "pool",
    ])
    #expect(result.status == .exited(0))
    let lines = try result.standardOutput.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    if option == "--list" {
      #expect(lines.allSatisfy { $0["schema"] as? String == "bench-list/1" })
      #expect(lines.contains { $0["name"] as? String == "uncontended limit=1 tasks=1 limiter" })
      #expect(lines.contains { $0["mechanism"] as? String == "pool" && $0["limit"] as? Int == 1 })
    } else {
      #expect(lines.allSatisfy { $0["schema"] as? String == "bench-plan/1" })
      let trials = lines.dropLast().compactMap { $0["trials"] as? Int }
      #expect(lines.last?["trials"] as? Int == trials.reduce(0, +))
      #expect(lines.last?["cells"] as? Int == trials.count)
    }
  }

  @Test(arguments: ["--dry-run", "--list"])
  func `a baseline that is no run folder is refused also where nothing is to be measured`(
    _ option: String
  ) async throws {
    let result = try await bench.run([option, "--baseline", "/nonexist"])
    #expect(result.status == .exited(2))
    #expect(result.standardError.contains("--baseline /nonexist is not the folder of a run"))
    #expect(result.standardOutput.isEmpty)
  }

  @Test(arguments: [
    (["--nonsense"], "--nonsense"), (["--filtre", "x"], "Did you mean '--filter'?"),
    (["--quick", "--full"], "exclude each other"),
    (["--filter", "("], "not a regular expression"),
    (["--mechanism", "limitr"], "no mechanism 'limitr'"), (["--forks", "0"], "at least 1"),
    (["--mechanism", "nope"], "; to hold them against: floor-semaphore, "),
    (["--mechanism", "nope"], "and wrong on purpose: specimen-"),
    (["--forks", "9223372036854775807", "--dry-run"], "--forks must be at most 10000, not 92"),
    (["--limit", "0"], "at least 1"),
    (
      ["--out", "/proc/none/below"],
      "cannot write results to /proc/none/below: No such file or directory. Choose another folder"
    ),
    (["--out", "/dev/null/below"], "/dev/null/below: Not a directory. Choose another folder"),
  ])
  func `wrong usage is told on standard error with status 2`(
    arguments: [String],
    message: String
  ) async throws {
    let result = try await bench.run(["--unoptimised", "--filter", "baseline-loop"] + arguments)
    #expect(result.status == .exited(2))
    #expect(result.standardError.contains(message))
    #expect(result.standardOutput.isEmpty)
  }

  @Test func `help is no error`() async throws {
    let result = try await bench.run(["--help"])
    #expect(result.status == .exited(0))
    #expect(result.standardOutput.contains("--dry-run"))
    #expect(!result.standardOutput.contains("--trial"))
    let words = result.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("USAGE: bench "))
    for status in ["0 measured", "1 a regr", "2 wrong", "3 the", "4 a run was", "130 ended"] {
      #expect(words.contains("\(status)"))
    }
    // How long it takes depends on what is measured; only the dry run can tell.
    #expect(words.contains("two minutes. --dry-run says how long"))
  }

  @Test func `a run writes its folder whole, with every documented file`() async throws {
    try await withTemporaryFolder { out in
      let result = try await measure([], out: out)
      #expect(result.status == .exited(0), "\(result.standardError)")
      #expect(result.standardOutput.contains("| limiter "))
      let runs = try FileManager.default.contentsOfDirectory(atPath: out)
      try #require(runs.count == 1)
      let run = "\(out)/\(runs[0])"
      #expect(runs[0].hasSuffix("-ci-1"))
      let files = try FileManager.default.contentsOfDirectory(atPath: run)
      #expect(files.filter { !$0.hasSuffix(".svg") }.sorted() == RunFiles.names.sorted())
      #expect(files.contains("ratios-uncontended.svg"))

      let rows = CSV.records(try String(contentsOfFile: "\(run)/results.csv", encoding: .utf8))
      #expect(rows[0] == ResultRow.columns)
      #expect(rows.dropFirst().allSatisfy { $0.count == rows[0].count && $0[1] == runs[0] })
      #expect(Set(rows.dropFirst().map { $0[3] }) == ["limiter", "limiter-again", "pool"])

      let record = try EnvironmentRecord(
        json: String(contentsOfFile: "\(run)/env.json", encoding: .utf8)
      )
      #expect(record.runID == runs[0])
    }
  }

  @Test func `JSON output is the summary, an object a line, and nothing else`() async throws {
    try await withTemporaryFolder { out in
      let result = try await measure(["--json"], out: out)
      let lines = result.standardOutput.split(separator: "\n")
      #expect(!lines.isEmpty)
      for line in lines {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["schema"] as? String == "bench-summary/4")
        #expect(object?["median"] is Double)
      }
    }
  }

  @Test func `a limiter that lets too many in has invalid rows, and the program says so`()
    async throws
  {
    try await withTemporaryFolder { out in
      let result = try await bench.run(
        [
          "--ci", "--unoptimised", "--forks", "2", "--out", out, "--filter", "cancel-random",
          "--mechanism", "specimen-published-limiter", "limiter",
        ],
        deadline: .seconds(600)
      )
      #expect(result.status == .exited(4))
      #expect(result.standardOutput.contains("specimen-published-limiter: "))
      let rows = CSV.records(try text(of: "results.csv", in: out))
      let invalid = rows.dropFirst().filter { $0[26] == "false" }
      #expect(!invalid.isEmpty)
      #expect(invalid.allSatisfy { $0[3] == "specimen-published-limiter" && !$0[27].isEmpty })
    }
  }

  @Test func `an interrupted run leaves what there is, says so, and can be resumed`() async throws {
    try await withTemporaryFolder { out in
      let interrupted = try await script(
        out,
        // The signal comes when the first blocks are in the log, so that there is something to keep.
        """
        "$BENCH" $MANY & bench=$!
        while ! [ -s "$OUT"/.partial-*/log ]; do sleep 0.05; done
        kill -INT $bench; wait $bench
        """
      )
      #expect(interrupted.status == .exited(130))
      #expect(interrupted.standardError.contains("interrupted after"))
      let left = try names(in: out).filter { !$0.hasPrefix(".partial-") }
      #expect(left.count == 1 && left[0].hasSuffix("-interrupted"), "\(left)")
      #expect(try text(of: "env.json", in: out).contains("\"interrupted\""))
      #expect(try CSV.records(text(of: "results.csv", in: out)).count > 1)

      let resumed = try await script(out, #""$BENCH" $MANY"#)
      #expect(resumed.status == .exited(0), "\(resumed.standardError)")
      #expect(resumed.standardError.contains("which was interrupted after"))
      #expect(try names(in: out).count == 1)
      let rows = CSV.records(try text(of: "results.csv", in: out)).dropFirst()
      // Every block once: numbered without a gap or a repetition.
      #expect(
        Set(rows.map { $0[15] }).count == 3
          * BenchWorkloads.all.count { $0.id.hasPrefix("baseline") }
      )
    }
  }

  @Test func `a run killed in the middle leaves no run folder, and no trial behind`() async throws {
    try await withTemporaryFolder { out in
      let killed = try await script(
        out,
        """
        "$BENCH" $MANY & bench=$!
        while ! [ -s "$OUT"/.partial-*/log ]; do sleep 0.05; done
        kill -KILL $bench; wait $bench
        """
      )
      #expect(killed.status == .exited(137))
      #expect(try names(in: out).allSatisfy { $0.hasPrefix(".partial-") })
    }
  }

  @Test func `a disk that takes no more is told, and leaves no run folder`() async throws {
    try await withTemporaryFolder { out in
      // A limit on the size of files is the full disk that a test can have.
      let full = try await script(out, #"trap "" XFSZ; ulimit -f 1; exec "$BENCH" $ARGUMENTS"#)
      #expect(full.status == .exited(3))
      #expect(full.standardError.contains("cannot write \(out)/.partial-"))
      #expect(full.standardError.contains("No run folder was written"))
      #expect(try names(in: out).allSatisfy { $0.hasPrefix(".partial-") })
    }
  }

  @Test func `standard output on a full disk is told, with status 3, and the run is published`()
    async throws
  {
    try await withTemporaryFolder { out in
      let list = try await script(out, #""$BENCH" --list >/dev/full"#)
      #expect(list.standardError == "bench: the disk is full: the output is cut short.\n")
      #expect(list.status == .exited(3))

      let run = try await script(out, #""$BENCH" $ARGUMENTS >/dev/full"#)
      #expect(run.standardError.contains("the disk is full"))
      #expect(run.standardError.contains("written: \(out)/"))
      #expect(run.status == .exited(3))
      #expect(try names(in: out).count == 1)
    }
  }

  @Test func `an invalid run is invalid also where neither output can be written`() async throws {
    try await withTemporaryFolder { out in
      let result = try await script(
        out,
        """
        exec "$BENCH" --ci --unoptimised --forks 1 --out "$OUT" --filter cancel-random \
          --mechanism specimen-published-limiter limiter >/dev/full 2>/dev/full
        """
      )
      #expect(result.status == .exited(4))
      #expect(try names(in: out).count == 1)
    }
  }

  /// No file that is opened takes the place of standard output, and what is printed.
  @Test func `streams that are closed take nothing, and the run is published`() async throws {
    try await withTemporaryFolder { out in
      let result = try await script(
        out,
        #""$BENCH" $ARGUMENTS <&- >&- 2>&-; echo $? >"$OUT/status""#
      )
      #expect(result.status == .exited(0))
      #expect(try String(contentsOfFile: "\(out)/status", encoding: .utf8) == "3\n")
      #expect(try names(in: out).count == 2)
    }
  }

  @Test func `a reader that leaves ends nothing early, and says nothing`() async throws {
    try await withTemporaryFolder { out in
      // The bench begins once the reader has closed its end of the pipe.
      let result = try await script(
        out,
        """
        mkfifo "$OUT/left"
        (read _ <"$OUT/left"; "$BENCH" $ARGUMENTS; echo "status $?" >&2) |
          (exec <&-; echo >"$OUT/left")
        """
      )
      #expect(result.standardError.hasSuffix("status 0\n"), "\(result.standardError)")
      #expect(result.standardError.contains("written: \(out)/"))
      #expect(!result.standardError.contains("reading"))
    }
  }

  @Test func `a baseline that is no run folder is refused before anything is measured`()
    async throws
  {
    try await withTemporaryFolder { out in
      let result = try await measure(["--baseline", "\(out)/none"], out: out)
      #expect(result.status == .exited(2))
      #expect(result.standardError.contains("\(out)/none"))
      #expect(try names(in: out).isEmpty)
    }
  }

  @Test func `a run is compared with an earlier one`() async throws {
    try await withTemporaryFolder { out in
      _ = try await measure(["--forks", "2"], out: out)
      let first = try #require(names(in: out).first)
      // Two forks can show no regression, whatever the figures are.
      let result = try await measure(["--forks", "2", "--baseline", "\(out)/\(first)"], out: out)
      #expect(result.status == .exited(0), "\(result.standardError)")
      #expect(result.standardOutput.contains("against the baseline, 2 figures compared"))
    }
  }

  /// Runs shell commands that start the bench on two of its baseline workloads, or on all, three forks each.
  private func script(_ out: String, _ commands: String) async throws -> BuiltProgram.Result {
    try await BuiltProgram(path: "/bin/sh").run(
      ["-c", commands],
      environment: plainEnvironment.merging([
        "BENCH": bench.path, "OUT": out,
        "ARGUMENTS": "--ci --unoptimised --filter baseline-lo --out \(out)",
        "MANY": "--ci --unoptimised --filter baseline --out \(out)",
      ]) { $1 },
      deadline: .seconds(600)
    )
  }

  private func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func text(of file: String, in out: String) throws -> String {
    let run = try #require(names(in: out).first { !$0.hasPrefix(".") })
    return try String(contentsOfFile: "\(out)/\(run)/\(file)", encoding: .utf8)
  }

  @Test func `a trial whose parent goes away ends by itself`() async throws {
    // Standard input ends at once, which is what a child sees when its parent is gone.
    let request =
      #"{"trials":[{"cell":{"workload":"baseline-loop"},"seed":1,"budget":1,"round":60000000000,"#
      + #""isFirst":true,"keepsStamps":false}],"rounds":9}"#
    let result = try await bench.run(["--trial", request], deadline: .seconds(300))
    #expect(result.status != .exited(0))
    #expect(result.standardOutput.isEmpty)
  }
}

private func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  let path = NSTemporaryDirectory() + "bench-program-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}
