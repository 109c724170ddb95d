import Basics
import TestSupport
import Testing

/// Words that several rooms write: lists, names of tasks, durations, text in XML.
@Suite(.watched) struct TextTests {
  @Test
  func `a list names all of a few, and says how many more there are of many`() {
    let words = ["a", "b", "c", "d", "e", "f"]
    #expect(
      (0...3).map { ListText.all(Array(words.prefix($0))) } == ["", "a", "a and b", "a, b and c"]
    )
    #expect(ListText.all(["a", "b", "c"], "or") == "a, b or c")
    #expect(
      (0...6).map { ListText.some(Array(words.prefix($0))) } == [
        "", "a", "a and b", "a, b and c", "a, b, c and d", "a, b, c and 2 more",
        "a, b, c and 3 more",
      ]
    )
    #expect(ListText.first(2, of: ["a", "b"]) == "a, b")
    #expect(ListText.first(2, of: words) == "a, b and 4 more")
  }

  @Test
  func `a task's name has as many digits as the highest, and two at least`() {
    #expect(TaskLabel.text(1, amongst: 9) == "t01")
    #expect(TaskLabel.text(7, amongst: 100) == "t007")
    #expect(TaskLabel.text(123, amongst: 12) == "t123")
  }

  @Test
  func `durations and rates have a unit`() {
    for (text, expected) in [
      ("250us", 250_000), ("40ms", 40_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000),
      ("7ns", 7), ("3µs", 3_000), ("40", nil), ("ms", nil), ("1.5.2s", nil), ("-3s", nil),
      ("3h", 10_800_000_000_000), ("3d", nil), ("3 s", nil), ("99999999s", nil), ("", nil),
    ] as [(String, Int64?)] {
      #expect(UnitSyntax.duration(text) == expected, "\(text)")
    }
    #expect(UnitSyntax.rate(30, per: "s") == 30)
    #expect(UnitSyntax.rate(5, per: "ms") == 5_000)
    #expect(UnitSyntax.rate(30, per: "m") == 0.5)
    #expect(UnitSyntax.rate(36, per: "h") == 0.01)
    #expect(UnitSyntax.rate(30, per: "d") == nil)
  }

  @Test
  func `text in XML breaks neither tags nor attributes, nor has characters XML forbids`() {
    #expect(
      XMLText.escaped("a<b & \"c\" > 'd'\u{1}")
        == "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;\u{FFFD}"
    )
    #expect(XMLText.escaped("é\n\t漢") == "é\n\t漢")
  }
}
