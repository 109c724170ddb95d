internal import Foundation

/// One direction of a plot: which values it shows, where they go, how they are labelled.
struct Axis {
  enum Spacing {
    case linear
    case logarithmic
    /// For shares that approach one: .9, .99 and .999 are equally far apart.
    case nines
  }

  var label: String
  var spacing: Spacing
  /// The unit of the values, for the labels of the ticks; `count` where they are plain numbers.
  var unit: String
  private(set) var low: Double
  private(set) var high: Double

  /// An axis that shows all of `values`, with a little room around them.
  ///
  /// On a logarithmic axis values that are not positive are left out.
  init(_ label: String, unit: String, spacing: Spacing, covering values: [Double]) {
    self.label = label
    self.unit = unit
    self.spacing = spacing
    let shown = values.filter { $0.isFinite && (spacing != .logarithmic || $0 > 0) }
    low = shown.min() ?? 0
    high = shown.max() ?? 1
    switch spacing {
    case .linear:
      let room = (high - low) * 0.05
      if room == 0 {
        (low, high) = (low - 0.5, high + 0.5)
      } else {
        (low, high) = (low - room, high + room)
      }
    case .logarithmic:
      if low <= 0 { low = 1 }
      high = max(high, low * 1.5)
      let room = pow(high / low, 0.06)
      (low, high) = (low / room, high * room)
    case .nines:
      low = 0
      high = min(max(high, 0.9), 1 - 1e-9)
    }
  }

  /// From 0 at the low end to 1 at the high end; nil where the value cannot be shown.
  func position(_ value: Double) -> Double? {
    switch spacing {
    case .linear: return (value - low) / (high - low)
    case .logarithmic: return value > 0 ? log(value / low) / log(high / low) : nil
    case .nines: return value < 1 ? log(1 - min(value, high)) / log(1 - high) : 1
    }
  }

  /// Round values to put lines and labels at.
  var ticks: [Double] {
    switch spacing {
    case .linear: linearTicks
    case .logarithmic: logarithmicTicks
    case .nines: [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999].filter { $0 <= high }
    }
  }

  private var linearTicks: [Double] {
    let rough = (high - low) / 5
    let power = pow(10, floor(log10(rough)))
    let step = [1, 2, 2.5, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
    return stride(from: (low / step).rounded(.up) * step, through: high, by: step).map {
      // Sums of steps drift away from round numbers.
      ($0 / step).rounded() * step
    }
  }

  /// Powers of ten; with few of them in sight, also parts of each.
  private var logarithmicTicks: [Double] {
    let decades = log10(high / low)
    // Within a factor of three or so, a logarithmic axis is nearly a linear one.
    if decades < 0.5 { return linearTicks }
    let parts: [Double] = decades < 1.2 ? [1, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1]
    let powers = Int(floor(log10(low)))...Int(ceil(log10(high)))
    return powers.flatMap { power in parts.map { $0 * pow(10, Double(power)) } }
      .filter { low <= $0 && $0 <= high }
  }

  func tickLabel(_ value: Double) -> String {
    if spacing == .nines { return Self.shortest(value * 100) + " %" }
    let text = Quantity.text(value, unit: unit)
    // Ticks are round: 1.00 us is 1 us.
    guard let space = text.firstIndex(of: " "), let number = Double(text[..<space]) else {
      return Double(text).map(Self.shortest) ?? text
    }
    return Self.shortest(number) + text[space...]
  }

  private static func shortest(_ value: Double) -> String {
    let rounded = (value * 1e6).rounded() / 1e6
    return Int(exactly: rounded).map(String.init) ?? String(rounded)
  }
}
