import Foundation
import TestSupport
import Testing

@testable import Shell

/// A learner in the lab, who makes mistakes.
@Suite(.watched) struct LessonCommandsTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    _ = try scratch.file("README.md", "[Three at once](01-three-at-once.md)\n")
    _ = try scratch.file("01-three-at-once.md", Self.lesson)
  }

  private static let lesson = """
    # Lesson 1: Three at once

    **Question:** How long do six tasks take?

    **Time:** 1 minute

    ## Experiment
    <!-- step: six -->

    Six tasks, three permits.

    **Predict** (duration): When does the last one end?
    <!-- answer: makespan -->

    **Check:**

    - `tasks = 6`: there were six tasks
    - `makespan = 200ms`: two rounds of 100 ms

    <details><summary>Hint 1</summary>Think.</details>
    <details><summary>Hint 2</summary>Think again.</details>
    <details><summary>Hint 3</summary>`run 6 limiter limit=3`</details>
    <details><summary>Solution</summary>

    ```lab
    run 6 limiter limit=3
    ```

    </details>

    Two rounds it is.

    ## Afterwards

    That was all.
    """

  /// A learner who has just started the lab; the progress is kept in the scratch folder.
  private func lab(json: Bool = false, display: Display = Display(width: 100)) -> Lab {
    Lab(
      json: json,
      display: display,
      classroom: Classroom(folder: scratch.path, progressFile: scratch.path + "/progress.json")
    )
  }

  /// Types a line at the prompt; everything the lab says.
  private func type(_ line: String, in lab: Lab) async -> String {
    _ = await lab.session.execute(line, at: .prompt(columns: 0))
    return lab.output.takeText() + lab.output.takeComplaints().joined(separator: "\n")
  }

  @Test
  func `a lesson is taken from its question to its end`() async {
    let lab = lab()
    #expect(await type("lessons", in: lab).contains("Three at once"))
    let opening = await type("lesson 1", in: lab)
    #expect(opening.contains("When does the last one end?"))
    #expect(!opening.contains("Two rounds it is"))
    #expect(await lab.session.prompt.text == "lesson 1> ")
    #expect(await type("300ms", in: lab).contains("Your guess: 300 ms"))
    _ = await type("run 6 limiter limit=3", in: lab)
    let checked = await type("check", in: lab)
    #expect(checked.contains("you guessed 300 ms; it is 200 ms"))
    #expect(checked.contains("✓ two rounds of 100 ms"))
    #expect(checked.contains("Two rounds it is."))
    #expect(await type("next", in: lab).contains("That was all."))
    #expect(await type("lessons", in: lab).contains("✓ passed"))
  }

  @Test
  func `a learner is told at any time where they are, what is next and what a word means`()
    async throws
  {
    _ = try scratch.file("GLOSSARY.md", "# Glossary\n\n## Permit\n\nLets one in.\n")
    _ = try scratch.file(
      "README.md",
      "### Part I: Gates\n\nOne gate.\n\n| 1 | [Three at once](01-three-at-once.md) |\n"
    )
    let lab = lab()
    #expect(
      await type("lesson", in: lab).contains("'lesson 1' begins: Three at once (Part I: Gates).")
    )
    #expect(await type("lesson 1", in: lab).contains("Words: permit. 'word permit' tells."))
    #expect(await type("lesson", in: lab).contains("Page 1 of 2: Experiment. 0 of 1 steps passed."))
    #expect(await type("word permit", in: lab).contains("Lets one in."))
    #expect(await type("word", in: lab).contains("permit"))
    _ = await type("leave", in: lab)
    #expect(
      await type("lesson", in: lab).contains(
        "Last you were in lesson 1, Three at once: 0 of 1 step passed."
      )
    )
    let listing = await type("lessons", in: lab)
    #expect(listing.contains("Part I: Gates\nOne gate.\n"))
  }

  @Test
  func `a lesson is exported as a page that tells what was passed, and no answer before`()
    async throws
  {
    let lab = lab()
    let file = scratch.path + "/lesson.html"
    #expect(await type("export \(file)", in: lab).contains("no lesson has been begun"))
    _ = await type("lesson 1", in: lab)
    _ = await type("300ms", in: lab)
    // Lines are broken where the window ends: the file's name may be long.
    let said = await type("export \(file)", in: lab).split(whereSeparator: \.isWhitespace)
    #expect(said.joined(separator: " ").contains("HTML page of a lesson"))
    let before = try String(contentsOfFile: file, encoding: .utf8)
    #expect(before.contains("0 of 1 step passed") && before.contains("not passed yet"))
    #expect(before.contains("When does the last one end? Guess: 300ms."))
    #expect(!before.contains("two rounds of 100 ms"))
    _ = await type("hint; run 6 limiter limit=3", in: lab)
    _ = await type("check", in: lab)
    _ = await type("leave", in: lab)
    _ = await type("export \(file) force", in: lab)
    let after = try String(contentsOfFile: file, encoding: .utf8)
    #expect(after.contains("1 of 1 step passed") && after.contains(", 1 hint</p>"))
    #expect(after.contains("<li>✓ two rounds of 100 ms</li>"))
    #expect(!after.contains("http://") && !after.contains("https://"))
  }

  @Test
  func `while the question is open, commands still work and mistakes say what is wanted`() async {
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    #expect(await type("run 6 limiter limit=2", in: lab).contains("makespan 300 ms"))
    let wrong = await type("dunno", in: lab)
    #expect(wrong.contains("no command 'dunno'"))
    #expect(wrong.contains("Write a duration, such as 15ms, or press Enter to skip."))
    #expect(await type("predict soon", in: lab).contains("'soon' is not a guess"))
    #expect(await type("", in: lab).contains("No guess, then."))
    // Once answered, an empty line is nothing.
    #expect(await type("", in: lab) == "")
  }

  @Test(arguments: ["skip", "300ms"])
  func `a line may begin with the answer, or with skip, and go on`(answer: String) async {
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    let text = await type("\(answer); run 6 limiter limit=2; dunno", in: lab)
    #expect(text.contains(answer == "skip" ? "No guess, then." : "Your guess: 300 ms."))
    #expect(text.contains("makespan 300 ms"))
    #expect(text.contains("no command 'dunno'") && !text.contains("press Enter to skip"))
  }

  @Test
  func `a missed check says what came out, not what should, and ends a script with 1`() async {
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    #expect(await lab.outcome(of: "check") == .unmet)
    #expect(
      lab.output.takeText().contains(
        "you have not run anything since this page began that shows it"
      )
    )
    #expect(await lab.outcome(of: "run 6 limiter limit=2; check") == .unmet)
    let text = lab.output.takeText()
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains(
        "run 1 ('run 6 limiter limit=2'): makespan is 300 ms: t05 ended last, at 300 ms Try"
      ),
      "\(words)"
    )
    #expect(!text.contains("expected"))
    #expect(await lab.outcome(of: "run 6 limiter limit=3; check") == .done)
  }

  @Test
  func `a later run that shows something else does not undo a good one`() async {
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    #expect(await lab.outcome(of: "run 6 limiter limit=3; run 2 pool; check") == .done)
  }

  @Test
  func `another session comes back to the same page`() async {
    let first = lab()
    _ = await type("lesson 1", in: first)
    _ = await type("250ms", in: first)
    _ = await type("hint", in: first)
    // The lab is gone, as after a crash; nothing was said to it.
    let second = lab()
    let again = await type("lesson 1", in: second)
    #expect(again.contains("Your guess: 250ms"))
    #expect(await type("hint", in: second).contains("Hint 2 of 3"))
    _ = await type("run 6 limiter limit=3; check; next", in: second)
    #expect(await type("lesson 1", in: lab()).contains("That was all."))
  }

  @Test
  func `hints and the solution never leave a learner stuck`() async {
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    #expect(await type("next", in: lab).contains("not passed yet"))
    for number in 1...3 { #expect(await type("hint", in: lab).contains("Hint \(number) of 3")) }
    #expect(await type("hint", in: lab).contains("These are all the hints"))
    #expect(await type("solution", in: lab).contains("'solution' again"))
    #expect(await type("solution", in: lab).contains("run 6 limiter limit=3"))
    #expect(await type("next", in: lab).contains("That was all."))
    #expect(await type("lessons", in: lab).contains("1 given up"))
  }

  @Test
  func `a reset forgets one lesson or all, and the lesson begins anew`() async {
    let lab = lab()
    _ = await type("lesson 1; run 6 limiter limit=3; check; leave", in: lab)
    #expect(await type("lessons", in: lab).contains("✓ passed"))
    #expect(await type("reset 1", in: lab).contains("1 of 1 step passed. Type 'yes'"))
    #expect(await type("yes", in: lab).contains("Forgotten"))
    #expect(await !type("lessons", in: lab).contains("✓ passed"))
    _ = await type("lesson 1", in: lab)
    #expect(await !type("reset", in: lab).contains("Forgotten"))
    #expect(await lab.session.prompt.text == "forget it? (yes/no)> ")
    #expect(await type("Y", in: lab).contains("Forgotten"))
    #expect(await lab.session.prompt.text != "lesson 1> ")
    #expect(await type("reset all", in: lab).contains("in all lessons: 0 of 1 step passed"))
    #expect(await type("yes", in: lab).contains("Forgotten: your progress in all lessons"))
    #expect(await type("yes", in: lab).contains("no command 'yes'"), "asked once, answered once")
  }

  @Test(arguments: ["reset", "reset 1", "reset all"], ["no", "", "leave", "Ctrl-D"])
  func `without a yes nothing is forgotten`(_ reset: String, _ answer: String) async {
    let lab = lab()
    _ = await type("lesson 1; run 6 limiter limit=3; check", in: lab)
    _ = await type(reset, in: lab)
    if answer == "Ctrl-D" {
      #expect(await lab.session.endInput() == .done)
      #expect(lab.output.takeText().contains("Nothing is forgotten"))
    } else {
      #expect(await type(answer, in: lab).contains("Nothing is forgotten"))
    }
    // What is another command is carried out as one.
    #expect(await lab.session.prompt.text == "lesson 1> " || answer == "leave")
    #expect(await type("lessons", in: lab).contains("✓ passed"))
  }

  @Test
  func `a script is not asked, and names what it forgets`() async throws {
    let lab = lab()
    await lab.run("lesson 1; run 6 limiter limit=3; check")
    #expect(await lab.outcome(of: "reset") == .failed)
    #expect(
      lab.output.takeComplaints()
        == ["test:1: a script must name what to forget. Write: reset N, or reset all."]
    )
    #expect(await lab.run("lessons").contains("✓ passed"))
    // So it is for a script that a person names.
    let file = try scratch.file("forget.lab", "reset 1\n")
    #expect(await type("source \(file)", in: lab).contains("Forgotten"))
    #expect(await !lab.run("lessons").contains("✓ passed"))
    #expect(await lab.run("reset all").contains("Forgotten"))
  }

  @Test
  func `a reminder is broken at spaces where it would not fit`() async {
    let lab = lab(display: Display(width: 30))
    _ = await type("lesson 1; what?", in: lab)
    let said = await type("nonsense", in: lab)
    #expect(said.contains("Enter"), "\(said)")
    #expect(said.split(separator: "\n").allSatisfy { $0.count <= 30 }, "\(said)")
  }

  @Test
  func `lesson commands outside a lesson say how to get into one`() async {
    let lab = lab()
    for command in ["check", "hint", "solution", "next", "leave", "predict 3", "exercise"] {
      #expect(await type(command, in: lab).contains("'lesson 1' begins the first"), "\(command)")
    }
  }

  @Test
  func `progress that cannot be kept is said once, and the lesson goes on`() async throws {
    // A file where the folder should be.
    let blocked = try scratch.file("blocked", "")
    let lab = Lab(
      classroom: Classroom(folder: scratch.path, progressFile: blocked + "/progress.json")
    )
    #expect(await type("lesson 1", in: lab).contains("cannot be kept"))
    #expect(await !type("300ms", in: lab).contains("cannot be kept"))
    #expect(await lab.outcome(of: "run 6 limiter limit=3; check") == .done)
  }

  @Test
  func `an exercise is put where it can be edited, and started over without losing anything`()
    async throws
  {
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(
        folder: packageFolder + "/Lessons",
        progressFile: scratch.path + "/progress.json"
      )
    )
    #expect(await type("lesson 7; exercise", in: lab).contains("is page 5 of this lesson"))
    _ = await type("solution; solution; next; next; next; solution; solution; next", in: lab)
    let file = scratch.path + "/exercises/the-limiter/own-limiter/MyLimiter.swift"
    #expect(await type("exercise", in: lab).contains(file))
    let start = try String(contentsOfFile: file, encoding: .utf8)
    #expect(start.contains("final class MyLimiter: LearnerLimiter"))
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    _ = await type("exercise", in: lab)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(await type("exercise again", in: lab).contains("is kept as \(file).1"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == start)
    #expect(try String(contentsOfFile: file + ".1", encoding: .utf8) == "mine")
  }

  @Test func `from a page behind the exercise the way there is back`() async {
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(
        folder: packageFolder + "/Lessons",
        progressFile: scratch.path + "/progress.json"
      )
    )
    let before = await type("lesson 6; exercise", in: lab)
    #expect(before.contains("is page 4 of this lesson. 'next' leads there"), "\(before)")
    let step = "solution; solution; next; "
    _ = await type(step + step + "next; " + step, in: lab)
    let behind = await type("exercise", in: lab)
    #expect(behind.contains("is page 4 of this lesson. 'back' leads there"), "\(behind)")
  }

  @Test
  func `an exercise that cannot be written is said so`() async throws {
    let blocked = try scratch.file("blocked", "")
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(
        folder: packageFolder + "/Lessons",
        progressFile: blocked + "/progress.json"
      )
    )
    _ = await type(
      "lesson 7; solution; solution; next; next; next; solution; solution; next",
      in: lab
    )
    #expect(await type("exercise", in: lab).contains("the starting file cannot be written to"))
  }

  @Test
  func `a damaged progress file is set aside, and said so`() async throws {
    let file = try scratch.file("progress.json", "{ not json")
    let lab = lab()
    #expect(
      await type("lessons", in: lab).contains("is damaged; it is kept as \(file).set-aside-1")
    )
    let kept = try String(contentsOfFile: file + ".set-aside-1", encoding: .utf8)
    #expect(kept == "{ not json")
  }

  @Test
  func `a lesson says the same as JSON, an object a line`() async throws {
    let lab = lab(json: true)
    _ = await lab.outcome(of: "lesson 1; run 6 limiter limit=3; check; lessons")
    let lines = lab.output.takeText().split(separator: "\n")
    var kinds: Set<String> = []
    for line in lines {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        "\(line)"
      )
      if let kind = object["kind"] as? String { kinds.insert(kind) }
    }
    #expect(kinds.isSuperset(of: ["title", "question", "met", "advice"]))
    #expect(lines.last?.contains("\"passed\":1") == true)
  }

  @Test(arguments: [20, 40])
  func `a lesson fits a narrow screen`(_ width: Int) async {
    let lab = lab(display: Display(width: width, ascii: true))
    let text = await type("lesson 1; hint; check; lessons", in: lab)
    for line in text.split(separator: "\n") where !line.hasPrefix("    ") {
      #expect(line.count <= width, "\(line)")
      #expect(line.utf8.count == line.count, "\(line)")
    }
  }

  @Test
  func `an exploration that went on inside, behind all schedules between jobs, passes as whole`()
    async throws
  {
    let text = Self.lesson.replacing(
      "`tasks = 6`",
      with: "`for explored = pool: coverage = exhaustive`"
    )
    .replacing("`makespan = 200ms`", with: "`for explored = pool: violation = none`")
    _ = try scratch.file("01-three-at-once.md", text)
    let lab = lab()
    _ = await type("lesson 1", in: lab)
    _ = await type("200ms", in: lab)
    _ = await type("explore pool tasks=2 limit=1 inside=yes preemptions=1", in: lab)
    let few = await type("check", in: lab)
    #expect(few.contains(/it looked only at schedules with at\s+most 1 pre-emption\n/), "\(few)")
    _ = await type("explore pool tasks=2 limit=1 fail=all", in: lab)
    let whole = await type("check", in: lab)
    #expect(whole.contains("Two rounds it is"), "\(whole)")
  }
}
