import Basics
import Foundation
import TestSupport
import Testing

@testable import Shell

/// A learner's way through the course: from page to page, back, and from lesson to lesson.
@Suite(.watched) struct LessonWayTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    _ = try scratch.file("README.md", "[One](01-one.md), [two](02-two.md), [three](03-three.md)\n")
    for (number, name) in ["one", "two", "three"].enumerated() {
      _ = try scratch.file("0\(number + 1)-\(name).md", Self.lesson(number + 1, name))
    }
  }

  private static func lesson(_ number: Int, _ name: String) -> String {
    """
    # Lesson \(number): All about \(name)

    **Question:** How many?

    **Time:** 1 minute

    ## Before

    Read this first.

    ## Experiment
    <!-- step: wall -->

    **Check:**

    - `finished >= 0`: something ran

    <details><summary>Solution</summary>

    ```lab
    run 6 limiter limit=3
    ```

    </details>
    """
  }

  private func lab() -> Lab {
    Lab(classroom: Classroom(folder: scratch.path, progressFile: scratch.path + "/progress.json"))
  }

  @Test
  func `back shows the page before, and stops at the first`() async {
    let lab = lab()
    await lab.run("lesson 1; next")
    #expect(await lab.run("back").contains("Read this first."))
    #expect(await lab.run("back").contains("This is the first page."))
    #expect(await lab.run("next").contains("Experiment (2 of 2)"))
  }

  @Test
  func `each page begins with the lab's settings, and leaving brings back one's own`() async {
    let lab = lab()
    await lab.run("set limit 7; set seed 5; lesson 1")
    #expect(await lab.run("show").contains("limit      3"))
    #expect(await lab.run("show").contains("seed       5"), "the seed is the learner's")
    await lab.run("set limit 9; set kind block; next")
    let page = await lab.run("show")
    #expect(page.contains("limit      3") && page.contains("kind       auto"))
    await lab.run("set limit 9; run 3; check; back")
    #expect(await lab.run("show").contains("limit      3"))
    await lab.run("set limit 9; lesson 2; set limit 8; leave")
    #expect(await lab.run("show").contains("limit      7"))
  }

  @Test
  func `a run that was stopped passes nothing, and says so`() async {
    let lab = lab()
    await lab.run("lesson 1; next")
    let running = Task { await lab.run("run 3 main-actor-queue work=9m") }
    while await lab.session.runs.all.isEmpty {
      lab.session.interrupt()
      await Moment.pass()
    }
    #expect(await running.value.contains("'check' does not count a run that was stopped."))
    #expect(await lab.outcome(of: "check") == .unmet)
    #expect(await lab.outcome(of: "run 3; check") == .done)
  }

  @Test
  func `the end of a lesson leads to the next, and the end of the course to what was left out`()
    async
  {
    let lab = lab()
    #expect(
      await lab.run("lesson 1; next; run 3; check")
        .contains("Passed, and with it lesson 1. 'lesson 2' is the next: All about two.")
    )
    #expect(await lab.run("next").contains("'lesson 2' is the next"))
    #expect(await lab.run("lesson 3; next; run 3; check").contains("'lesson 2' is the next"))
  }

  @Test func `a script that is not let on to the next page does not go on`() async {
    let lab = lab()
    #expect(await lab.outcome(of: "lesson 1; next") == .done)
    #expect(await lab.outcome(of: "next") == .unmet, "its step is open")
    #expect(await lab.outcome(of: "run 3; check; next") == .done)
  }

  @Test
  func `after an exercise one's file stands beside the solution, and wrong answers are a puzzle`()
    async throws
  {
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(
        folder: packageFolder + "/Lessons",
        progressFile: scratch.path + "/progress.json"
      )
    )
    await lab.run("lesson 12; solution; solution; next; next; solution; solution; next; exercise")
    #expect(await lab.outcome(of: "exercise compare") == .failed, "the solution is a secret still")
    #expect(await lab.outcome(of: "exercise puzzle") == .failed)
    let explained = await lab.run("solution; solution")
    #expect(!explained.contains("pending"), "wrong answers do not push the rest away")
    let beside = await lab.run("exercise compare")
    #expect(beside.contains("await bank.approve() "), "yours is on the left")
    #expect(beside.contains("│     "), "what only the solution has is on the right")
    var seen: Set<String> = []
    for _ in 1...4 { seen.insert(await lab.run("exercise puzzle")) }
    #expect(seen.count == 4)
    let revealed = await lab.run("exercise reveal")
    #expect(revealed.contains("Wrong answer 4: takes all that is under way"))
    #expect(revealed.contains("'exercise grade puzzle' shows where it goes wrong"))
  }

  @Test func `a limiter that has not passed is taken home with a word about it`() async {
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(
        folder: packageFolder + "/Lessons",
        progressFile: scratch.path + "/progress.json"
      )
    )
    await lab.run("lesson 9")
    for _ in 1...5 {
      for command in ["solution", "solution", "next"] { await lab.run(command) }
    }
    await lab.run("exercise")
    let taken = await lab.run("exercise take \(scratch.path)/mine")
    #expect(taken.contains("Your package:"), "\(taken)")
    #expect(taken.contains("has not passed here yet: 'exercise grade'"), "\(taken)")
  }

  @Test
  func `the list of lessons goes on with the one taken last`() async {
    let lab = lab()
    #expect(await lab.run("lessons").contains("'lesson 1' begins."))
    #expect(await lab.run("lesson 2; lessons").contains("'lesson 2' goes on."))
    #expect(await lab.run("leave; lessons").contains("'lesson 2' goes on."))
    #expect(await self.lab().run("lessons").contains("'lesson 2' goes on."), "the next day too")
    #expect(
      await lab.run("lesson 2; run 3; check; next; run 3; check; lessons").contains(
        "'lesson 3' goes on."
      )
    )
    #expect(await lab.run("lesson 3; next; run 3; check; lessons").contains("'lesson 1' goes on."))
    // The end of a lesson leads to one that is not passed yet.
    let end = await lab.run("lesson 2; next; next; next; next")
    #expect(end.contains("'lesson 1' is the next"), "\(end)")
  }
}
