import TestSupport
import Testing

@testable import Rendering

/// What a person does to a timeline that is watched, a key at a time.
@Suite(.watched) struct WatchTests {
  private func press(_ text: String, _ keys: inout TimelineKeys) -> [TimelineKeys.Action] {
    text.utf8.compactMap { keys.press($0) }
  }

  @Test
  func
    `a number typed for cancel, limit or find becomes an action at Enter, and Escape forgets it`()
  {
    var keys = TimelineKeys()
    #expect(press("c1\u{7F}07\r", &keys) == [.cancel(7)])
    #expect(press("l5\n", &keys) == [.limit(5)])
    #expect(press("/t4x5\r", &keys) == [.find(45)])
    #expect(press("l5\u{1B}", &keys) == [])
    #expect(press("c\r", &keys) == [.cancel(nil)], "the one that is selected")
    #expect(press("c0\r", &keys) == [])
    #expect(press("l9q", &keys) == [], "q leaves the number, not the view")
    #expect(press("q", &keys) == [.leave])
  }

  @Test(arguments: [
    "run 12 operation-queue limit=5 \r", "check\rnext\r", "limiter 5x\u{7F}\r", "lesson 2\r",
    "ru\u{7F}un\r",
  ])
  func `a line typed a key at a time is for the prompt, and does nothing to the run`(line: String) {
    var keys = TimelineKeys()
    #expect(press(line, &keys) == [.typedAhead])
    let expected = line.replacing("x\u{7F}", with: "").replacing("u\u{7F}u", with: "u")
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == expected)
  }

  @Test(arguments: [
    ("status\r", true), ("suspend\n", true), ("stats of 2\r", true), ("s\r", false),
    ("help\rquit\r", true), ("quit\r", true), ("q\r", false), ("l5\r", false), ("c12\r", false),
    ("/30\r", false), ("jjjjjj", false), ("sus", true), ("ss", false), ("\u{1B}[A", false),
    ("", false),
    ("\u{1B}[A\u{1B}[A\r", false), ("   ", false), ("hel\u{7F}\u{7F}", true),
  ])
  func `what comes in one reading is a line or keys`(_ text: String, _ isLine: Bool) {
    #expect(TypedLine.isLine(Array(text.utf8)) == isLine)
  }

  @Test
  func `a line that begins with a key's letter loses nothing, and can be taken back altogether`() {
    var keys = TimelineKeys()
    let isWhole = keys.typeAhead(Array("suspend".utf8))
    #expect(!isWhole)
    #expect(press(" a\r", &keys) == [.typedAhead], "as soon as it is whole")
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == "suspend a\r")
    var others = TimelineKeys()
    _ = others.typeAhead(Array("ab\u{7F}\u{7F}\u{7F}".utf8))
    #expect(others.typedAhead.isEmpty)
    #expect(press("q", &others) == [.leave])
  }

  @Test
  func `an arrow types nothing ahead, and is no key of its letter`() {
    var keys = TimelineKeys()
    #expect(
      press("\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}[5~", &keys) == [
        .select(-1), .select(1), .forward, .selectPage(-1),
      ]
    )
    #expect(keys.typedAhead.isEmpty)
    #expect(press("p", &keys) == [.hold])
    #expect(press("run\u{7F}\u{7F}\u{7F}q", &keys) == [.leave])
  }

  @Test(arguments: ["x", "run 3", "ca", "c", "l12", "/7"])
  func `Escape or an arrow drops what is being typed, and the arrow does what it does`(
    _ typed: String
  ) {
    var keys = TimelineKeys()
    #expect(press("\(typed)\u{1B}[B", &keys) == [.select(1)])
    #expect(keys.message == nil && keys.typedAhead.isEmpty)
    #expect(press("\(typed)\u{1B}q", &keys) == [.leave])
    var race = RaceKeys()
    let pressed = "x\u{1B}[C".utf8.compactMap { race.press($0) }
    #expect(pressed == [.forward])
    #expect(race.message == nil && race.typedAhead.isEmpty)
  }

  @Test
  func `a line that is whole stays, whatever is dropped behind it`() {
    var keys = TimelineKeys()
    #expect(press("run 3\rx\u{1B}[B", &keys) == [.typedAhead, .select(1)])
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == "run 3\r")
  }

  @Test
  func `a line for the prompt is edited by Backspace and Ctrl-U, and never moves the cursor`() {
    var keys = TimelineKeys()
    #expect(press("runé\u{7F}\u{C}\u{2} \t", &keys) == [])
    #expect(keys.message == "for the prompt: run   (Esc drops it)")
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == "run \t")
    #expect(press("\u{15}q", &keys) == [.leave])
  }
}
