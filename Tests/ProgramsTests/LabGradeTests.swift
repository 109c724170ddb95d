import Foundation
import TestSupport
import Testing

/// What a script learns from the status of a grading.
///
/// The compiler and the program that grades are scripts here: a real grading takes a build, and what it finds
/// is the grader's own tests' business.
@Suite(.watched) struct LabGradeTests {
  struct Grading: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var compiler = "exit 0"
    var grader = ""
    var said: String
    var advised = "\n"
    var commands = "lesson 1; exercise; exercise grade"
    var status: Int32
  }

  private static let refusal =
    #"{"item":{"name":"safety","passed":false,"sentence":"two ran at once","story":""},"question":0}"#
  private static let praise =
    #"{"item":{"name":"safety","passed":true,"sentence":"one at a time","story":""},"question":0}"#
  /// Of two programs the second finds every question taken.
  private static let oneAsks =
    #"mkdir "$CONCURRENCY_LAB_TAKEN.all" 2>/dev/null || { echo '{"passed":true,"questions":1}'; exit; }; "#

  @Test(arguments: [
    Grading(
      testDescription: "an answer that is right",
      grader: oneAsks + "echo '\(praise)'; echo '{\"passed\":true,\"questions\":1}'",
      said: "All right.",
      status: 0
    ),
    Grading(
      testDescription: "an answer that is changed once it was graded, and checked",
      grader: oneAsks
        + "echo '// more' >> $XDG_STATE_HOME/concurrency-lab/exercises/one/own/MyLimiter.swift; "
        + "echo '\(praise)'; echo '{\"passed\":true,\"questions\":1}'",
      said: "All right.",
      advised: "Your file has changed since it was graded",
      commands: "lesson 1; exercise; exercise grade; check",
      status: 1
    ),
    Grading(
      testDescription: "an answer that is refused",
      grader: oneAsks + "echo '\(refusal)'; echo '{\"passed\":false,\"seed\":7}'",
      said: "two ran at once",
      status: 1
    ),
    Grading(
      testDescription: "a file that is right and not the learner's, and a check",
      grader: oneAsks + "echo '\(praise)'; echo '{\"passed\":true,\"questions\":1}'",
      said: "All right: Package.swift. 'check' asks for your own file.",
      advised: "you have not run anything since this page began that shows it",
      commands: "lesson 1; exercise grade Package.swift; check",
      status: 1
    ),
    Grading(
      testDescription: "a file that is refused and not the learner's",
      grader: oneAsks + "echo '\(refusal)'; echo '{\"passed\":false,\"seed\":7}'",
      said: "Refused: Package.swift. 'check' asks for your own file.",
      commands: "lesson 1; exercise grade Package.swift",
      status: 1
    ),
    Grading(
      testDescription: "an answer that does not build",
      compiler: "echo 'MyLimiter.swift:1:1: error: cannot find it'; exit 1",
      said: "it does not build",
      status: 1
    ),
    Grading(
      testDescription: "an answer that stops its program",
      grader: oneAsks
        + "echo '\(praise)'; echo '{\"asking\":\"opened_twice\",\"asked\":\"a door that is opened "
        + "twice\",\"question\":1}'; kill -ABRT $$",
      said:
        "your program was stopped by an abort (signal 6), when this was asked: a door",
      advised: "Mend it, then 'exercise grade'.",
      status: 1
    ),
    Grading(
      testDescription: "an answer that stops its program at a line that is known",
      grader: oneAsks + "echo '\(praise)'; echo '\(refusal)'; kill -ABRT $$",
      said: "✗ two ran at once",
      // Nothing of the abort: the line says it.
      advised: "✗ two ran at once\n\nMend it",
      status: 1
    ),
  ])
  func `a grading ends with status 1 unless the answer is right`(_ grading: Grading) async throws {
    let package = FileManager.default.temporaryDirectory.appending(path: "grade-\(UUID())")
    defer { try? FileManager.default.removeItem(at: package) }
    for (name, text) in [
      ("Package.swift", "final class MyLimiter {}"), ("Lessons/README.md", "[One](01-one.md)\n"),
      ("Lessons/01-one.md", Self.lesson),
    ] { try write(text, to: name, in: package) }
    for (name, script) in [("bin/swift", grading.compiler), (".build/debug/grade", grading.grader)]
    {
      let file = package.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try await writeScript(script, to: file.path)
    }
    var environment = plainEnvironment
    environment["PATH"] = "\(package.path)/bin:/usr/bin:/bin"
    environment["XDG_STATE_HOME"] = "\(package.path)/state"
    let result = try await LabRunTests.lab.get().run(
      ["-c", grading.commands],
      environment: environment,
      folder: package.path
    )
    #expect(result.standardOutput.contains(grading.said), "\(result)")
    let praised = result.standardOutput.components(separatedBy: "one at a time").count - 1
    #expect(praised <= 1, "told once")
    #expect(result.standardOutput.contains(grading.advised), "\(result)")
    #expect(!result.standardOutput.contains("opened_twice"), "a name of ours")
    #expect(result.standardError == "")
    #expect(result.status == .exited(grading.status))
  }

  private func write(_ text: String, to name: String, in package: URL) throws {
    let file = package.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  private static let lesson = """
    # Lesson 1: One

    **Question:** Who lets one in at a time?

    **Time:** 1 minute

    ## Exercise
    <!-- step: own -->

    Write it.

    <!-- exercise: limiter -->
    ```swift
    struct MyLimiter {}
    ```

    **Check:**

    - `for exercise = limiter: passed = yes`: it holds

    <details><summary>Hint 1</summary>One</details>
    <details><summary>Hint 2</summary>Two</details>
    <details><summary>Hint 3</summary>Three</details>
    <details><summary>Solution</summary>

    ```swift
    struct MyLimiter {}
    ```

    </details>
    """
}
