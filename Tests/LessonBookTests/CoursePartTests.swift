import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct `Parts of a course and its words` {
  private let map = """
    # Map

    ### Part I: A limit

    Something breaks.

    | | lesson |
    | --- | --- |
    | 1 | [One](01-one.md) |
    | 3 | [Three](03-three.md) |

    Half a sitting.

    ### Part II: A proof

    | 2 | [Two](02-two.md) |

    ## Elsewhere

    | 9 | [Nine](09-nine.md) |
    """

  @Test func `have the lessons that their tables lead to, in that order`() {
    #expect(
      CoursePart.parts(in: map) == [
        CoursePart(
          title: "Part I: A limit",
          summary: "Something breaks.",
          files: ["01-one.md", "03-three.md"]
        ),
        CoursePart(title: "Part II: A proof", summary: "", files: ["02-two.md"]),
      ]
    )
    #expect(CoursePart.parts(in: "[One](01-one.md)") == [])
  }

  @Test func `are found in a sentence, also in the plural and in parts`() {
    let glossary = Glossary(
      """
      # Glossary

      ## Closed loop, open loop

      Two ways.

      ## Condition and Signal

      A pair.

      ## Group

      A count of blocks.

      ## Hand-off

      Straight to the next.

      ## Percentile, p99

      Of a hundred.

      ## Permit

      Lets one in.
      """
    )
    #expect(glossary.entry("permits")?.title == "Permit")
    #expect(glossary.entry("perm")?.title == "Permit", "the only one that begins so")
    func words(_ text: String) -> [String] { glossary.entries(in: text).map(\.title) }
    #expect(words("Three *permits*, by hand-off.") == ["Hand-off", "Permit"])
    #expect(words("An open loop (not closed).") == ["Closed loop, open loop"])
    #expect(words("Its signals come; permitted.") == ["Condition and Signal"])
    #expect(words("A permission to hand off") == [])
    #expect(words("The p99, not the p9.") == ["Percentile, p99"])
    #expect(words("`wait()` takes one, until `signal()` gives it back") == [], "the name of a call")
    #expect(words("A task of a task\ngroup") == [], "another sense of the word")
    #expect(words("Both belong to the group.") == ["Group"])
    #expect(glossary.entry("Permit ")?.blocks.count == 1)
    #expect(glossary.entry("hand")?.title == "Hand-off")
    #expect(glossary.entry("condition")?.title == "Condition and Signal")
    for entry in glossary.entries {
      #expect(glossary.entry(entry.title.lowercased()) == entry, "as the line of words has it")
    }
    #expect(glossary.entry("") == nil)
    #expect(glossary.entry("x") == nil)
  }
}
