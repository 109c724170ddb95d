// What holds for every test, and the framework cannot hold.

enum SuiteChecks {
  /// Tests that no watchdog watches: a hang in one would end with no word of its name.
  static func unwatched(in file: SourceFile) -> [Finding] {
    var isWatched = false
    return file.lines.enumerated().compactMap { index, line in
      if line.holds("@Suite") { isWatched = line.holds(".watched") }
      // The end of a declaration, and with it of its attributes.
      if line == "}" { isWatched = false }
      guard line.trimmingPrefix(while: { $0 == " " }).hasPrefix("@Test"), !isWatched else {
        return nil
      }
      return Finding(
        path: file.path,
        line: index + 1,
        message: "no watchdog names this test when it hangs; write @Suite(.watched) before its type"
      )
    }
  }

  /// Suites that take a place among the watched before their turn to explore, while all others take the turn first:
  /// the two would wait for each other.
  static func turnsTakenLast(in file: SourceFile) -> [Finding] {
    file.lines.enumerated().compactMap { index, line in
      guard line.holds("@Suite"), let turn = line.firstRange(of: ".inTurn"),
        let watched = line.firstRange(of: ".watched"), watched.lowerBound < turn.lowerBound
      else { return nil }
      return Finding(
        path: file.path,
        line: index + 1,
        message:
          "takes a place before its turn, and may wait for ever; write @Suite(.inTurn, .watched)"
      )
    }
  }

  /// Calls that hold the calling thread, which may be one of the few of the cooperative pool.
  static func blockingCalls(in file: SourceFile) -> [Finding] {
    let calls = [
      "Thread.sleep", "usleep(", "nanosleep(", "waitpid(", "waitUntilExit(", "Process()",
      "readDataToEndOfFile", "DispatchSemaphore(", "NSCondition(", "pthread_join(",
    ]
    // Most files have none: one look at the whole text says so.
    let here = calls.filter(file.text.contains)
    if here.isEmpty { return [] }
    return file.lines.enumerated().compactMap { index, line in
      guard let call = here.first(where: { line.holds($0) }) else { return nil }
      guard !file.lines[..<index].suffix(8).contains(where: { $0.holds("onOwnThread") }) else {
        return nil
      }
      return Finding(
        path: file.path,
        line: index + 1,
        message: "\(call) may block a thread of the cooperative pool; do it in onOwnThread { … }, "
          + "run programs with BuiltProgram"
      )
    }
  }

  /// Loops that wait by `Task.yield()`: on one processor they starve sleeps and GCD's global queue, which may be
  /// what they wait for.
  static func yieldingWaits(in file: SourceFile) -> [Finding] {
    file.lines.indices.compactMap { index in
      guard file.lines[index].holds("await Task.yield()") else { return nil }
      // The loop begins on the same line, or on one of a few above that ends in its brace.
      let above = file.lines[..<index].suffix(4).reversed().prefix { !$0.hasSuffix("}") }
      let opening = [file.lines[index]] + above
      guard let loop = opening.first(where: { $0.contains("while ") || $0.contains("for ") }),
        loop.contains("while ")
      else { return nil }
      return Finding(
        path: file.path,
        line: index + 1,
        message: "waits in a loop of Task.yield(), which on one processor starves sleeps and GCD's "
          + "global queue; write await Moment.pass()"
      )
    }
  }
}
