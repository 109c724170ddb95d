import Mechanisms

/// How many durations fall into each of a few intervals of a round length.
struct DurationHistogram {
  struct Bucket: Hashable {
    var start: Int64
    /// The first duration that is in the next bucket.
    var end: Int64
    var count: Int
  }

  /// Adjacent, from the smallest duration's to the largest's.
  private(set) var buckets: [Bucket] = []

  init(_ values: [Int64], atMost room: Int) {
    guard let least = values.min(), let most = values.max() else { return }
    var length = TimeAxis.roundLength(atLeast: max(1, (most - least) / Int64(max(1, room))))
    while most / length - least / length + 1 > Int64(room) {
      length = TimeAxis.roundLength(atLeast: length + 1)
    }
    let first = least / length
    buckets = (first...most / length).map {
      Bucket(start: $0 * length, end: ($0 + 1) * length, count: 0)
    }
    for value in values { buckets[Int(value / length - first)].count += 1 }
  }

  /// Whether each bucket's beginning is called otherwise: not where all took as long but for a trifle.
  var isReadable: Bool { Set(buckets.map { DurationText.text($0.start) }).count == buckets.count }

  /// A line for each bucket: its interval, a bar, its count.
  func lines(_ format: TextFormat) -> [String] {
    guard !buckets.isEmpty else { return [] }
    let starts = buckets.map { DurationText.text($0.start) }
    let ends = buckets.map { DurationText.text($0.end) }
    let counts = buckets.map { NumberText.grouped($0.count) }
    let startWidth = starts.map(\.count).max() ?? 0
    let endWidth = ends.map(\.count).max() ?? 0
    let countWidth = counts.map(\.count).max() ?? 0
    let top = Double(buckets.map(\.count).max() ?? 0)
    // On a short line the beginning of an interval has to do for the interval.
    let namesEnds = format.width >= startWidth + endWidth + countWidth + 14
    let intervals = buckets.indices.map { index in
      let start = Columns.right(starts[index], startWidth)
      return namesEnds ? "\(start) to \(Columns.left(ends[index], endWidth))" : "from \(start)"
    }
    let room = format.width - intervals[0].count - countWidth - 6
    return buckets.indices.map { index in
      let bar = Bar.text(Double(buckets[index].count), of: top, width: min(40, room), format.glyphs)
      let interval = intervals[index]
      let line = "  \(interval)  \(Columns.right(counts[index], countWidth))"
      return bar.isEmpty ? line : line + "  " + format.style.paint(bar, .running)
    }
  }
}
