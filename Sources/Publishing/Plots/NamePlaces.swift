/// Finds places for names beside their points, so that none is drawn over another.
package struct NamePlaces {
  /// A name is at most about 120 wide and 14 high.
  package static let width = 120.0
  package static let height = 14.0

  private var taken: [(x: Double, y: Double)] = []

  package init() {}

  /// Takes the place that is wanted, or the first one below it that is free.
  package mutating func take(x: Double, y: Double) -> (x: Double, y: Double) {
    var place = (x: x, y: y)
    // From the top down, each name once: who moves only ever moves down, so what it has passed cannot
    // be in its way again. Asking anew after each move might never end, for (y + 14) - y may round to
    // less than 14.
    for other in taken.sorted(by: { $0.y < $1.y })
    where abs(other.x - x) < Self.width && abs(other.y - place.y) < Self.height {
      place.y = other.y + Self.height
    }
    taken.append(place)
    return place
  }
}
