import Basics
import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct DurationTextTests {
  @Test(
    arguments: [
      (0, "0 s"), (1, "1 ns"), (999, "999 ns"), (1_000, "1 us"), (250_000, "250 us"),
      (1_234, "1.23 us"), (12_345, "12.3 us"), (123_456, "123 us"), (999_499, "999 us"),
      (999_500, "1 ms"), (9_995_000, "10 ms"), (9_994_999, "9.99 ms"), (40_000_000, "40 ms"),
      (1_500_000_000, "1.5 s"), (99_950_000_000, "100 s"), (119_499_999_999, "119 s"),
      (119_500_000_000, "2 m"), (125_000_000_000, "2 m 5 s"), (3_600_000_000_000, "1 h"),
      (5_430_000_000_000, "1 h 30 m"), (-40_000_000, "-40 ms"),
    ] as [(Int64, String)]
  )
  func `a duration has three significant digits and the largest unit that fits`(
    nanoseconds: Int64,
    text: String
  ) {
    #expect(DurationText.text(nanoseconds) == text)
  }

  @Test
  func `any duration has a text`() {
    var random = SplitMix64(seed: 4)
    for shift in 0..<64 as Range<UInt64> {
      for _ in 0..<50 {
        let nanoseconds = Int64(bitPattern: random.next() >> shift)
        #expect(!DurationText.text(nanoseconds).isEmpty)
      }
    }
    #expect(!DurationText.text(.max).isEmpty)
    #expect(!DurationText.text(.min).isEmpty)
  }
}
