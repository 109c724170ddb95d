/// Finds the name somebody probably meant.
enum NearMatch {
  /// The candidate closest to `name`, if one is close enough to be worth suggesting.
  static func best(for name: String, in candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars)
    // A third of the letters may be wrong, of a short name one, and of a single letter none.
    let tolerance = wanted.count < 2 ? 0 : max(1, wanted.count / 3)
    return
      candidates
      .map { (candidate: $0, scalars: Array($0.unicodeScalars)) }
      // So many letters more or fewer are so many changes at least.
      .filter { abs($0.scalars.count - wanted.count) <= tolerance }
      .map { (candidate: $0.candidate, distance: distance(wanted, $0.scalars)) }
      .filter { $0.distance <= tolerance }
      .min { $0.distance < $1.distance }?
      .candidate
  }

  /// The sentence to append to an error: " Did you mean 'limiter'?", or nothing.
  static func question(for name: String, in candidates: [String]) -> String {
    best(for: name, in: candidates).map { " Did you mean '\($0)'?" } ?? ""
  }

  /// Insertions, deletions, replacements and swaps of neighbours needed to turn one into the other
  /// (optimal string alignment).
  static func distance(_ one: [UnicodeScalar], _ other: [UnicodeScalar]) -> Int {
    var rows = [Array(0...other.count)]
    for row in 0..<one.count {
      var current = [row + 1]
      for column in 0..<other.count {
        let same = one[row] == other[column]
        var best = min(
          rows[row][column] + (same ? 0 : 1),
          rows[row][column + 1] + 1,
          current[column] + 1
        )
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          best = min(best, rows[row - 1][column - 1] + 1)
        }
        current.append(best)
      }
      rows.append(current)
    }
    return rows[one.count][other.count]
  }
}
