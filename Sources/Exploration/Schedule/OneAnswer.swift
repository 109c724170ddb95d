internal import CExplorable

/// Where code under study first asked what can be answered in many ways, and got one answer in each schedule.
struct OneAnswer {
  /// Where it looked at a clock, which goes on only where somebody sleeps; nil if it did not.
  private(set) var clock: [UInt]?
  /// Where it drew a random number; nil if it did not.
  private(set) var chance: [UInt]?
  private var looks = 0
  /// Whether what stands there is code under study.
  private var known: [UInt: Bool] = [:]

  /// To look where code stands takes long: where a thousand were asked and none was such code, nobody looks again.
  private static let mostLooks = 1_000

  /// Notes that a clock is looked at, on the calling thread; whoever sleeps looks at one too, and is no such code.
  mutating func noteClock() {
    if clock == nil { clock = studyAsking() }
  }

  /// Notes that a random number is drawn, on the calling thread; not for what names a thing, as a UUID.
  mutating func noteChance() {
    if chance == nil { chance = studyAsking(exceptBy: "libFoundation") }
  }

  /// Adds what was asked in other schedules.
  mutating func add(_ other: OneAnswer) {
    clock = clock ?? other.clock
    chance = chance ?? other.chance
  }

  /// Where the code under study is that asks; nil where somebody else does.
  ///
  /// - Parameter library: how the name of a library's file begins that asks for itself, also when it was called.
  /// - Returns: the frames from there outwards.
  private mutating func studyAsking(exceptBy library: String? = nil) -> [UInt]? {
    guard looks < Self.mostLooks else { return nil }
    looks += 1
    let points = SourceLines.hereInTurn()
    guard let program = LoadedImages.ofCode(at: points.first ?? 0) else { return nil }
    learn(points)
    // First stands what took the call over, then the library that was asked, if there is one, then who asked it.
    let behind = points.drop { program.covers($0) && !isStudy($0) }
    if let library, let first = behind.first, let image = LoadedImages.ofCode(at: first),
      image.name.hasPrefix(library)
    {
      return nil
    }
    guard let asker = behind.first(where: program.covers), isStudy(asker) else { return nil }
    return Array(behind)
  }

  private func isStudy(_ point: UInt) -> Bool { known[point] ?? false }

  /// Finds out which of these are Swift code under study, and not the library's own code of a sleep, which the compiler
  /// puts into each module that calls it.
  private mutating func learn(_ points: [UInt]) {
    let unknown = points.filter { known[$0] == nil }
    if unknown.isEmpty { return }
    let names = FunctionNames.at(unknown)
    for point in unknown {
      let name = names[point] ?? ""
      known[point] =
        code_is_under_study(point) && name.hasPrefix("$s")
        && !["$sScTss5NeverORszABRs_rlE5sleep", "$ss5ClockPsE5sleep"].contains(
          where: name.hasPrefix
        )
    }
  }

  /// What nobody has asked so, in words.
  var phrases: [String] {
    var phrases: [String] = []
    if let clock {
      phrases.append(
        "other times than the clock showed\(SourceLines(of: [clock]).at(clock)): it goes on only where somebody sleeps"
      )
    }
    if let chance {
      phrases.append(
        "other random numbers than were drawn\(SourceLines(of: [chance]).at(chance)): each schedule draws the same"
      )
    }
    return phrases
  }
}
