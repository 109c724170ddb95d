import Basics
import Mechanisms
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct ValueSyntaxTests {
  @Test(
    arguments: [
      ("0", 0), ("250us", 250_000), ("250µs", 250_000), ("40ms", 40_000_000),
      ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("7ns", 7), ("0.5us", 500), ("0s", 0),
      ("100m", 6_000_000_000_000), (".5s", 500_000_000), ("5.s", 5_000_000_000),
    ] as [(String, Int64)]
  )
  func `durations have units`(_ text: String, _ nanoseconds: Int64) {
    #expect(ValueSyntax.duration(text) == nanoseconds)
  }

  @Test(arguments: [
    "", "40", "ms", "-1ms", "+1ms", "1e3ms", "1.2.3s", "1 ms", "1ms ", "infs", "nans", "0x1s",
    "999999999999m", "١ms", "1MS", ".s",
  ])
  func `anything else is no duration`(_ text: String) {
    #expect(ValueSyntax.duration(text) == nil)
  }

  @Test
  func `a duration that is shown can be typed back`() {
    var generator = SplitMix64(seed: 1)
    let lengths = (0...200_000).map { $0 < 3000 ? Int64($0) : generator.length() }
    for length in lengths {
      let text = ValueSyntax.text(length)
      #expect(ValueSyntax.duration(text) == length, "\(length) is shown as \(text)")
    }
  }

  @Test
  func `a service time that is shown can be typed back`() {
    var generator = SplitMix64(seed: 2)
    for _ in 0..<20_000 {
      let (one, other) = (generator.length() / 2, generator.length() / 2)
      let sigma = Double(generator.next() % 501) / 100
      for work in [
        ServiceTime.fixed(one), .exponential(mean: one),
        .uniform(min(one, other)...max(one, other)), .lognormal(mean: one, sigma: sigma),
      ] {
        let text = ValueSyntax.text(work)
        #expect(ValueSyntax.serviceTime(text) == work, "\(work) is shown as \(text)")
      }
    }
  }

  @Test(
    arguments: [
      ("40ms", ServiceTime.fixed(40_000_000)), ("fixed:40ms", .fixed(40_000_000)),
      ("exp:40ms", .exponential(mean: 40_000_000)),
      ("uniform:10ms..70ms", .uniform(10_000_000...70_000_000)),
      ("uniform:10ms..10ms", .uniform(10_000_000...10_000_000)),
      ("lognormal:40ms,0.5", .lognormal(mean: 40_000_000, sigma: 0.5)),
      ("lognormal:40ms,0", .lognormal(mean: 40_000_000, sigma: 0)),
    ] as [(String, ServiceTime)]
  )
  func `service times`(_ text: String, _ work: ServiceTime) {
    #expect(ValueSyntax.serviceTime(text) == work)
  }

  @Test(arguments: [
    "", "exp", "exp:", "exp:40", "uniform:10ms", "uniform:70ms..10ms", "uniform:..",
    "lognormal:40ms",
    "lognormal:40ms,9", "lognormal:40ms,-1", "lognormal:40ms,0.5,1", "gauss:40ms", ":40ms",
  ])
  func `anything else is no service time`(_ text: String) {
    #expect(ValueSyntax.serviceTime(text) == nil)
  }

  @Test
  func `arrivals, rates and shares`() {
    #expect(ValueSyntax.arrivals("together") == .together)
    #expect(ValueSyntax.arrivals("every:10ms") == .every(10_000_000))
    #expect(ValueSyntax.arrivals("poisson:200/s") == .poisson(perSecond: 200))
    #expect(ValueSyntax.arrivals("poisson:5/ms") == .poisson(perSecond: 5000))
    #expect(ValueSyntax.arrivals("poisson:30/m") == .poisson(perSecond: 0.5))
    for wrong in ["", "every:", "every:10", "poisson:0/s", "poisson:200", "poisson:2/s/s", "both"] {
      #expect(ValueSyntax.arrivals(wrong) == nil, "\(wrong)")
    }
    #expect(ValueSyntax.percent("10%") == 10)
    #expect(ValueSyntax.percent("0.5%") == 0.5)
    #expect(ValueSyntax.percent("0.5") == nil, "half, or half of one in a hundred?")
    for wrong in ["", "%", "101%", "-1%", "1%%"] { #expect(ValueSyntax.percent(wrong) == nil) }
  }

  @Test
  func `tasks and cancellations`() {
    for text in ["t07", "t7", "7"] { #expect(ValueSyntax.task(text) == 7) }
    for text in ["", "t", "t0", "tt1", "t-1", "t1.5", "t99999999999"] {
      #expect(ValueSyntax.task(text) == nil)
    }
    #expect(ValueSyntax.cancellations("10%") == .share(percent: 10))
    #expect(ValueSyntax.cancellations("none") == .share(percent: 0))
    #expect(
      ValueSyntax.cancellations("t03@50ms,t07@1s") == .chosen([3: 50_000_000, 7: 1_000_000_000])
    )
    for wrong in ["", "10", "t3", "t3@", "3@5ms", "t3@5ms,", "t3@5ms,10%"] {
      #expect(ValueSyntax.cancellations(wrong) == nil, "\(wrong)")
    }
  }

  /// Every string of up to four of the characters that values are made of.
  @Test
  func `no short value stops the program`() {
    var texts = [""]
    var longest = [""]
    for _ in 0..<4 {
      longest = longest.flatMap { text in "0179.-+e:%@,/tmsu".map { text + String($0) } }
      texts += longest
    }
    for text in texts {
      if let length = ValueSyntax.duration(text) { #expect(length >= 0) }
      if let share = ValueSyntax.percent(text) { #expect((0...100).contains(share)) }
      if let rate = ValueSyntax.rate(text) { #expect(rate > 0) }
      if let number = ValueSyntax.task(text) { #expect(number >= 1) }
      _ = ValueSyntax.serviceTime(text)
      _ = ValueSyntax.arrivals(text)
      _ = ValueSyntax.cancellations(text)
    }
  }
}

extension SplitMix64 {
  /// A length of any order of magnitude, up to the longest there is.
  mutating func length() -> Int64 {
    let bits = next() % 53
    return Int64(next() >> (63 - bits)) % 8_640_000_000_000_000
  }
}
