/// About how many schedules a search in order has still before it.
///
/// A search in order goes through a tree: a fork for each step at which there is a choice, a leaf for each schedule.
/// The places of the tree at one depth are put into classes, by how many pre-emptions were spent on the way there and
/// how often something happened that gives nobody a turn. What a place of a class leads to is taken to be what the
/// visited places of its class lead to, on average: so many ways that spend a pre-emption, so many that do not, so
/// many that give nobody a turn. From the deepest class up, that gives the number of leaves below a place of each
/// class, and the sum over all ways not yet taken is what is left.
///
/// This is P. C. Chen's estimate ("Heuristic sampling: a method for predicting the performance of tree searching
/// programs", SIAM Journal on Computing 21, 1992) with one difference: Chen draws one place of each class at random,
/// and is right on average. Here the places are those the search has come to, which costs no schedule, but they
/// are the first and not drawn ones. So the estimate is biased. It is exact once the search is at its end. Before
/// that it is good where the tasks do about as much as each other: in the tests it is at most four times too high
/// or too low from a twentieth of the search on. Where the first task does much more than the others, it takes the
/// whole tree to be as wide as its beginning: with eight steps against two and one it is up to 70 times too high after
/// a twentieth and more, 39 times after a tenth and more, four times after half.
///
/// The plain weighted estimate (Kilby, Slaney, Thiébaux and Walsh, "Estimating search tree size", AAAI 2006), by the
/// branches at the forks of one way alone, is of no use within a bound: a schedule of sixty steps has two options at
/// each, which says 2⁶⁰, and at most two of them may be a pre-emption, which says some thousands.
struct SizeEstimate {
  /// A class of places at one depth.
  struct Class: Hashable {
    /// How many pre-emptions were spent on the way.
    var preemptions = 0
    /// How often something happened on the way that gives nobody a turn: a cancellation, a change of the limit, that a
    /// sleeper wakes.
    ///
    /// Such a thing can happen at each step until it has, and once. Without that, a sleeper whom the first schedules
    /// leave asleep would count as if he could wake at each step anew.
    var events = 0

    /// The class that a way leads to.
    func behind(_ way: Way) -> Class {
      var next = self
      switch way {
      case .plain: break
      case .preempting: next.preemptions += 1
      case .event: next.events += 1
      }
      return next
    }
  }

  /// What kind of choice leads on from a place.
  enum Way {
    case plain
    case preempting
    case event
  }

  /// Something that there are so many of for each kind of way.
  struct Ways: Hashable {
    var plain = 0.0
    var preempting = 0.0
    var events = 0.0
  }

  /// What was seen at the places of a class, in sum.
  private struct Seen {
    var places = 0.0
    var leaves = 0.0
    var ways = Ways()
  }

  /// More than so many pre-emptions, or events, are not told apart.
  private static let most = 7

  /// How many a schedule may have; nil for any number.
  private let preemptions: Int?
  private let columns: Int
  /// By depth the classes in rows, one for each number of events, as many as have been come to.
  private var seen: [[Seen]] = []

  /// - Parameter preemptions: how many a schedule may have; nil for any number.
  init(preemptions: Int?) {
    self.preemptions = preemptions
    columns = min(preemptions ?? .max, Self.most) + 1
  }

  /// The same for a search that begins from the beginning.
  var anew: SizeEstimate {
    var anew = self
    anew.seen = []
    return anew
  }

  /// Notes a place from which ways lead on.
  mutating func note(_ ways: Ways, at depth: Int, _ place: Class) {
    let index = makeRoom(for: place, depth)
    seen[depth][index].places += 1
    seen[depth][index].ways.plain += ways.plain
    seen[depth][index].ways.preempting += ways.preempting
    seen[depth][index].ways.events += ways.events
  }

  /// Notes the end of a schedule; one that was left because others stand for it does not count.
  mutating func noteEnd(at depth: Int, _ place: Class, counts: Bool) {
    let index = makeRoom(for: place, depth)
    seen[depth][index].places += 1
    if counts { seen[depth][index].leaves += 1 }
  }

  /// About how many leaves are below these ways.
  ///
  /// - Parameter ways: those that were not taken yet, each with the depth and the class of the place it leads on from.
  /// - Returns: their number, a whole one only where the search is at its end.
  func leaves(below ways: [(depth: Int, place: Class, count: Ways)]) -> Double {
    // One row more than anybody has been in, for the events that are still to come.
    let rows = min((seen.map(\.count).max() ?? 0) / columns + 1, Self.most + 1)
    let size = rows * columns
    let depths = seen.count
    // What is deeper than anybody has been is taken for a leaf.
    var below = [Double](repeating: 1, count: (depths + 1) * size)
    func sum(_ count: Ways, _ place: Class, _ depth: Int) -> Double {
      func each(_ way: Way) -> Double {
        below[(depth + 1) * size + min(index(place.behind(way)), size - 1)]
      }
      return (count.plain > 0 ? count.plain * each(.plain) : 0)
        + (count.preempting > 0 ? count.preempting * each(.preempting) : 0)
        + (count.events > 0 ? count.events * each(.event) : 0)
    }
    for depth in (0..<depths).reversed() {
      for index in 0..<size {
        let place = Class(preemptions: index % columns, events: index / columns)
        let (ways, leaves) = average(place, depth)
        below[depth * size + index] = leaves + sum(ways, place, depth)
      }
    }
    return ways.reduce(0) { $0 + ($1.depth < depths ? sum($1.count, $1.place, $1.depth) : 0) }
  }

  /// What a place of the class leads to, on average.
  ///
  /// Where the search has been at none, what it has seen in the nearest class of that depth.
  private func average(_ place: Class, _ depth: Int) -> (ways: Ways, leaves: Double) {
    var nearest: (distance: Int, row: Int, seen: Seen)?
    let wanted = index(place)
    if wanted < seen[depth].count, seen[depth][wanted].places > 0 {
      nearest = (0, place.events, seen[depth][wanted])
    } else {
      for (index, seen) in seen[depth].enumerated() where seen.places > 0 {
        let (row, column) = index.quotientAndRemainder(dividingBy: columns)
        let distance =
          abs(row - place.events) * (Self.most + 1) + abs(column - place.preemptions)
        if distance < nearest?.distance ?? .max { nearest = (distance, row, seen) }
      }
    }
    guard let nearest else { return (Ways(), 1) }
    let places = nearest.seen.places
    var ways = Ways(
      plain: nearest.seen.ways.plain / places,
      preempting: nearest.seen.ways.preempting / places,
      events: nearest.seen.ways.events / places
    )
    if nearest.distance > 0 {
      // What has happened does not happen again.
      ways.events = max(0, ways.events - Double(max(0, place.events - nearest.row)))
      if place.preemptions == preemptions { ways.preempting = 0 }
    }
    return (ways, nearest.seen.leaves / places)
  }

  private func index(_ place: Class) -> Int {
    min(place.events, Self.most) * columns + min(place.preemptions, columns - 1)
  }

  private mutating func makeRoom(for place: Class, _ depth: Int) -> Int {
    let index = index(place)
    while seen.count <= depth { seen.append([]) }
    while seen[depth].count <= index { seen[depth].append(Seen()) }
    return index
  }
}
