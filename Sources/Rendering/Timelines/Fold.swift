/// Which of `count` rows are shown where there is room for `room` lines.
struct Fold {
  enum Entry: Hashable {
    case row(Int)
    /// The rows not shown.
    case gap(Range<Int>)
  }

  private(set) var entries: [Entry] = []
  /// Whether the rows shown are an even sample rather than the first ones and the last.
  private(set) var isSample = false
  /// Of how many rows one is shown, in a sample.
  private(set) var step = 1

  init(count: Int, room: Int?, allowsSample: Bool = true) {
    guard let room, count > room else {
      entries = (0..<count).map { .row($0) }
      return
    }
    // A line goes to the gap. Up to four times what fits, the first rows and the last tell the
    // story; beyond that, the shape of the whole does.
    let shown = max(2, room - 1)
    if count <= 4 * shown || !allowsSample {
      let head = max(1, shown - (shown >= 8 ? 2 : 1))
      let tail = count - (shown - head)
      entries = (0..<head).map { .row($0) } + [.gap(head..<tail)] + (tail..<count).map { .row($0) }
    } else {
      isSample = true
      step = (count + shown - 1) / shown
      let rows = Swift.stride(from: 0, to: count, by: step)
      entries = rows.map { .row($0) } + [.gap(0..<count)]
    }
  }
}
