internal import Basics

/// Numbers as people read them, the same on every machine and in every locale.
package enum NumberText {
  /// A whole number with commas between thousands: `12,345`.
  package static func grouped(_ number: Int) -> String { FigureText.grouped(number) }

  /// A number to three significant digits from 1 to 999, with its trailing zeros: `30.0`.
  ///
  /// A larger one is whole, a smaller one has two decimals. So columns line up.
  package static func rate(_ number: Double) -> String {
    let magnitude = abs(number)
    if magnitude < 9.995 { return fixed(number, decimals: 2) }
    if magnitude < 99.95 { return fixed(number, decimals: 1) }
    guard magnitude < 1e15 else { return number < 0 ? "< -1e15" : "> 1e15" }
    return grouped(Int(number.rounded()))
  }

  /// A number with exactly `decimals` decimals, rounded half away from zero: `30.000`.
  package static func fixed(_ number: Double, decimals: Int) -> String {
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (number * Double(scale)).rounded()
    guard scaled.isFinite, abs(scaled) < 9e18 else { return "0" }
    let value = Int(scaled)
    guard decimals > 0 else { return String(value) }
    let fraction = String(Int(value.magnitude) % scale + scale).dropFirst()
    return "\(value < 0 ? "-" : "")\(value.magnitude / scale.magnitude).\(fraction)"
  }

  /// A share of one as a percentage: `4.5 %`.
  package static func percent(_ share: Double) -> String { "\(rate(share * 100)) %" }

  /// `1 task`, `2 tasks`.
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
  }
}
