/// How many tasks end in a second; where that is next to none, in a longer time.
enum Throughput {
  /// The time that tasks are counted in.
  enum Unit: Double, CaseIterable {
    case second = 1
    case hour = 3_600
    case day = 86_400
    case year = 31_557_600

    /// `tasks/s`, for a line or a column.
    var heading: String {
      switch self {
      case .second: "tasks/s"
      case .hour: "tasks/h"
      case .day: "tasks/day"
      case .year: "tasks/year"
      }
    }

    /// "tasks a second", for a sentence.
    var words: String {
      switch self {
      case .second: "tasks a second"
      case .hour: "tasks an hour"
      case .day: "tasks a day"
      case .year: "tasks a year"
      }
    }
  }

  /// The shortest time in which the largest of the rates, in tasks a second, is a figure that says something.
  static func unit(for rates: [Double]) -> Unit {
    guard let largest = rates.max(), largest > 0 else { return .second }
    return Unit.allCases.first { largest * $0.rawValue >= 0.095 } ?? .year
  }

  static func figure(_ rate: Double, per unit: Unit) -> String {
    NumberText.rate(rate * unit.rawValue)
  }

  /// `30.0 tasks/s`.
  static func text(_ rate: Double) -> String {
    let unit = unit(for: [rate])
    return "\(figure(rate, per: unit)) \(unit.heading)"
  }

  /// "30.0 tasks a second".
  static func words(_ rate: Double) -> String {
    let unit = unit(for: [rate])
    return "\(figure(rate, per: unit)) \(unit.words)"
  }
}
