internal import Basics
internal import Foundation
package import Mechanisms

/// How values are written on the command line.
///
/// Each function returns nil for text it does not understand; the caller knows the word and says
/// what would be right.
package enum ValueSyntax {
  /// `250us`, `40ms`, `1.5s`, `2m`, `0`: nanoseconds.
  package static func duration(_ text: String) -> Int64? {
    text == "0" ? 0 : UnitSyntax.duration(text)
  }

  /// Digits with at most one point, and no sign or exponent.
  package static func decimal(_ text: String) -> Double? {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else {
      return nil
    }
    return Double(text)
  }

  /// A whole number in a range.
  package static func count(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
  }

  /// `10%` or `10`: a share in percent; not `0.5`, which could be meant as half.
  package static func percent(_ text: String) -> Double? {
    let isMarked = text.hasSuffix("%")
    guard let share = decimal(isMarked ? String(text.dropLast()) : text), share <= 100 else {
      return nil
    }
    return isMarked || share == share.rounded() ? share : nil
  }

  /// `200/s`, `5/ms` or `30/m`: a rate per second, above 0.
  package static func rate(_ text: String) -> Double? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let number = decimal(parts[0]), number > 0 else { return nil }
    return UnitSyntax.rate(number, per: parts[1])
  }

  /// `40ms`, `exp:40ms`, `uniform:10ms..70ms`, `lognormal:40ms,0.5`.
  package static func serviceTime(_ text: String) -> ServiceTime? {
    guard let colon = text.firstIndex(of: ":") else { return duration(text).map(ServiceTime.fixed) }
    let rest = String(text[text.index(after: colon)...])
    switch text[..<colon] {
    case "fixed":
      return duration(rest).map(ServiceTime.fixed)
    case "exp":
      return duration(rest).map { .exponential(mean: $0) }
    case "uniform":
      guard let dots = rest.range(of: ".."),
        let low = duration(String(rest[..<dots.lowerBound])),
        let high = duration(String(rest[dots.upperBound...])), low <= high
      else { return nil }
      return .uniform(low...high)
    case "lognormal":
      let parts = rest.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let mean = duration(parts[0]), let sigma = decimal(parts[1]),
        sigma <= 5
      else { return nil }
      return .lognormal(mean: mean, sigma: sigma)
    default:
      return nil
    }
  }

  /// `together`, `every:10ms`, `poisson:200/s`.
  package static func arrivals(_ text: String) -> Arrivals? {
    if text == "together" { return .together }
    if text.hasPrefix("every:") { return duration(String(text.dropFirst(6))).map(Arrivals.every) }
    if text.hasPrefix("poisson:") {
      return rate(String(text.dropFirst(8))).map { .poisson(perSecond: $0) }
    }
    return nil
  }

  /// Several tasks, as `status` writes them: `t03-t07`, or one.
  static func tasks(_ text: String) -> ClosedRange<Int>? {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { task(String($0)) }
    guard let first = ends[0], let last = ends[ends.count - 1], ends.count <= 2, first <= last
    else { return nil }
    return first...last
  }

  /// `t07`, `t7` or `7`: the number of a task.
  package static func task(_ text: String) -> Int? {
    let digits = text.hasPrefix("t") ? String(text.dropFirst()) : text
    return count(digits, in: 1...Int(Int32.max))
  }

  /// `10%`, or `t03@50ms,t07@1s`.
  package static func cancellations(_ text: String) -> Workload.Cancellations? {
    if let percent = percent(text), text.hasSuffix("%") { return .share(percent: percent) }
    if text == "none" || text == "0" { return .share(percent: 0) }
    var chosen: [Int: Int64] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
      guard sides.count == 2, sides[0].hasPrefix("t"), let number = task(sides[0]),
        let time = duration(sides[1])
      else { return nil }
      guard chosen.updateValue(time, forKey: number) == nil else { return nil }
    }
    return chosen.isEmpty ? nil : .chosen(chosen)
  }

  /// A service time, written so that it can be typed back.
  package static func text(_ work: ServiceTime) -> String {
    switch work {
    case .fixed(let length): text(length)
    case .exponential(let mean): "exp:\(text(mean))"
    case .uniform(let range): "uniform:\(text(range.lowerBound))..\(text(range.upperBound))"
    case .lognormal(let mean, let sigma): "lognormal:\(text(mean)),\(sigma)"
    }
  }

  /// A duration, written exactly and so that it can be typed back.
  package static func text(_ nanoseconds: Int64) -> String {
    for (suffix, unit) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)]
      as [(String, Int64)]
    where nanoseconds != 0 && nanoseconds % unit == 0 {
      return "\(nanoseconds / unit)\(suffix)"
    }
    return "\(nanoseconds)ns"
  }
}
