import TestSupport
import Testing

@Suite(.watched) struct `A helper` {
  @Test(arguments: Helper.all)
  func `stands in one file`(helper: Helper) throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    #expect(!helper.places(in: files).isEmpty, "nothing gives it away any more: mend its signs")
    guard !Helper.known.contains(helper.name) else { return }
    for finding in helper.findings(in: files) { Issue.record("\(finding)") }
  }

  // MARK: - The checker, checked

  /// By helper, lines that write it, each alone enough.
  private static let written = [
    ["  clock_gettime(CLOCK_MONOTONIC, &time)", "let now = DispatchTime.now().uptimeNanoseconds"],
    [
      "let thread = Thread { work() }",
      "let error = pthread_create(&thread, nil, { _ in nil }, nil)",
      "return Thread(block: work)", "Thread.detachNewThread { work() }",
    ],
    [
      "x = (x ^ (x >> 30)) &* 0xBF58_476D_1CE4_E5B9", "x = (x ^ (x >> 27)) &* 0x94d049bb133111eb",
    ],
    [#"text.replacing("&", with: "&amp;")"#, #"case "&": escaped += "&amp;""#],
    [
      "posix_spawn(&child, path, nil, nil, nil, nil)", "let child = Process()", "import Subprocess",
    ],
    [#"let units = ["ns": 1, "us": 1e3, "µs": 1e3]"#, "case \"us\",\n\"µs\": 1_000"],
    [#"return "\(names) and \(rest) more""#, #"text += ", b and \(count - 3) more""#],
    [
      #"return "t" + String(repeating: "0", count: 2)"#,
      #"number < 10 ? "t0\(number)" : "\(number)""#,
      #"let label = "t\(number)""#,
    ],
  ]

  @Test func `written a second time is found, with both places`() throws {
    try #require(Self.written.count == Helper.all.count)
    for (helper, lines) in zip(Helper.all, Self.written) {
      for line in lines {
        let first = SourceFile(path: "Sources/A/First.swift", text: line)
        let second = SourceFile(path: "Sources/B/Second.swift", text: "import A\n" + line)
        #expect(helper.findings(in: [first]).isEmpty)
        let found = helper.findings(in: [first, second]).map(\.description)
        #expect(found.count == 1, "\(helper.name): \(line)")
        #expect(
          found.first?.hasPrefix("Sources/B/Second.swift:2: writes \(helper.name) again") == true
        )
        #expect(found.first?.contains("Sources/A/First.swift:1") == true)
      }
    }
  }

  @Test func `that is only spoken of or used is not found`() {
    let file = SourceFile(
      path: "Sources/A/B.swift",
      text: """
        // clock_gettime( is called elsewhere, "&amp;" too
        let thread = OSThread { work() }
        let labels = ["us", "ms"]
        return "t" == name ? "\\(count) more lines" : "and more"
        """
    )
    for helper in Helper.all { #expect(helper.places(in: [file]).isEmpty, "\(helper.name)") }
  }
}

@Suite(.watched) struct `Dead code` {
  @Test func `there is none`() throws {
    let sources = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    let tests = try SourceTree.files(in: "Tests", withExtensions: ["swift"])
    for finding in DeadCode.findings(in: sources, usedBy: tests) { Issue.record("\(finding)") }
  }

  @Test func `is a declaration that is named only where it is declared`() {
    let source = SourceFile(
      path: "Sources/A/B.swift",
      text: """
        package final class Log {
          // Not read: arrivedCount
          package var arrivedCount: Int { 1 }
          private let ended = Atomic(0)
          public func offered() -> Log { self }
          override func drawn() {}
          package static func read(_ text: String) -> Int { ended.load() }
        }
        """
    )
    let findings = DeadCode.findings(
      in: [source],
      usedBy: [SourceFile(path: "Tests/ATests/B.swift", text: "Log.read(\"\")")]
    )
    #expect(findings.map(\.line) == [3])
    #expect(findings.first?.message == "nothing uses arrivedCount; remove it")
  }
}
