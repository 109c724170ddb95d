import Basics
import Publishing
import TestSupport
import Testing

@Suite(.watched) struct `The places of names beside points` {
  @Test func `names that want the same place stand below each other, whatever the rounding`() {
    // Of this number, (y + 14) - y is less than 14: the second name is a hair too near the first.
    let y = 123.83581426954181
    #expect((y + 14) - y < 14)
    var places = NamePlaces()
    let found = (0..<5).map { _ in places.take(x: 300, y: y).y }
    for (index, place) in found.enumerated() { #expect(isClose(place, y + 14 * Double(index))) }
  }

  @Test func `a name far to the side is in nobody's way`() {
    var places = NamePlaces()
    _ = places.take(x: 100, y: 200)
    #expect(places.take(x: 220, y: 200) == (220, 200))
    #expect(places.take(x: 219, y: 205) == (219, 214))
  }

  @Test(arguments: 1...200)
  func `many names at random are drawn apart, none above its point`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var places = NamePlaces()
    var taken: [(x: Double, y: Double)] = []
    for _ in 0..<40 {
      let wanted = (x: 84 + 506 * generator.nextUnit(), y: 80 + 304 * generator.nextUnit())
      let place = places.take(x: wanted.x, y: wanted.y)
      #expect(place.x == wanted.x && place.y >= wanted.y)
      let isFree = taken.allSatisfy {
        abs($0.x - place.x) >= NamePlaces.width
          || abs($0.y - place.y) >= NamePlaces.height - 1e-9
      }
      #expect(isFree)
      taken.append(place)
    }
  }
}
