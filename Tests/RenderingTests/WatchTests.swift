import Experiments
import TestSupport
import Testing
import Tracing

@testable import Rendering

/// A live view, and what a person does to it.
@Suite(.watched) struct WatchTests {
  /// Sixty tasks, three at once, of which those that end do so from the first on.
  private static let run = SampleRun.together(60, limit: 3, work: 100 * millisecond).run()

  /// The view so many nanoseconds into the run.
  private func view(at time: Int64, pressing keys: String = "") -> LiveView {
    var view = LiveView(
      LiveBoard(plan: Self.run.plan),
      facts: Self.run.facts,
      hint: "q leaves"
    )
    view.take(Self.run.events.filter { $0.time <= time })
    for key in keys.utf8 { _ = view.keys.press(key) }
    return view
  }

  private func names(_ view: LiveView) -> [String] {
    view.lines(now: 0, TextFormat(width: 60, height: 14)).compactMap { line in
      line.split(separator: " ").first { $0.first == "t" && Int($0.dropFirst()) != nil }.map(
        String.init
      )
    }
  }

  @Test
  func `a task keeps its row while the first that has not ended stays on the page`() {
    let first = names(view(at: 0))
    #expect(first.first == "t01" && first.count > 5)
    #expect(names(view(at: 100 * millisecond)) == first)
    #expect(names(view(at: 1_900 * millisecond)).contains("t60"))
  }

  @Test
  func `s sorts by state, a slash brings a task's page and marks it`() {
    let sorted = names(view(at: 500 * millisecond, pressing: "s"))
    #expect(sorted.prefix(3) == ["t16", "t17", "t18"])
    let found = view(at: 0, pressing: "/t4x5\r")
    #expect(names(found).contains("t45"))
    #expect(
      found.lines(now: 0, TextFormat(width: 60, height: 14)).contains { $0.hasPrefix("> t45") }
    )
  }

  @Test
  func `a number typed for cancel or limit becomes an action at Enter, and Escape forgets it`() {
    var keys = WatchKeys()
    func press(_ text: String) -> [WatchKeys.Action] { text.utf8.compactMap { keys.press($0) } }
    #expect(press("c1\u{7F}07\r") == [.cancel(7)])
    #expect(press("l5\n") == [.limit(5)])
    #expect(press("l5\u{1B}") == [])
    #expect(press("c\r") == [])
    #expect(press("c0\r") == [])
    #expect(press("l9q") == [], "q leaves the number, not the view")
    #expect(press("q") == [.leave])
  }

  @Test(arguments: [
    "run 12 operation-queue limit=5 \r", "check\rnext\r", "limiter 5x\u{7F}\r", "lesson 2\r",
    "ru\u{7F}un\r",
  ])
  func `a line typed ahead is for the prompt, and does nothing to the run`(line: String) {
    var keys = WatchKeys()
    #expect(line.utf8.compactMap { keys.press($0) } == [])
    let expected = line.replacing("x\u{7F}", with: "").replacing("u\u{7F}u", with: "u")
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == expected)
    #expect(!keys.isPaused)
  }

  @Test
  func `an arrow types nothing ahead, and a picture that was held goes on when a line is typed`() {
    var keys = WatchKeys()
    for key in "\u{1B}[A\u{1B}OB\u{1B}[1;5C".utf8 { #expect(keys.press(key) == nil) }
    #expect(keys.typedAhead.isEmpty)
    #expect("p".utf8.compactMap { keys.press($0) }.isEmpty && keys.isPaused)
    #expect("run".utf8.compactMap { keys.press($0) }.isEmpty && !keys.isPaused)
    #expect("\u{7F}\u{7F}\u{7F}q".utf8.compactMap { keys.press($0) } == [.leave])
  }

  @Test
  func `what is being typed, the keys and a held picture are told below the rows`() {
    func last(_ keys: String) -> String {
      view(at: 0, pressing: keys).lines(now: 0, TextFormat(width: 100, height: 30)).suffix(5)
        .joined(separator: "\n")
    }
    #expect(last("").contains("q leaves · ? lists the keys"))
    #expect(last("c12").contains("cancel task: 12_"))
    #expect(last("p").contains("held: p goes on"))
    #expect(last("?").contains("/ finds a task"))
  }

  @Test(arguments: [40, 80], ["", "?", "s", "/30\r"])
  func `no line is wider than the window, and there are no more lines than it has`(
    _ width: Int,
    _ keys: String
  ) {
    for height in [10, 14, 24] {
      let lines = view(at: 0, pressing: keys)
        .lines(now: 0, TextFormat(width: width, height: height))
      #expect(lines.allSatisfy { $0.count <= width })
    }
  }
}
