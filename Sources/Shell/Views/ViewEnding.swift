/// When a view that is watched goes by itself, where nothing more will happen in it.
///
/// A key for the view that comes just as it ends is not to land in the next line, so it stays for a moment. One
/// whose keys a person has used stays until it is left: there may be something to look at, or to go back to.
struct ViewEnding {
  /// Longer than a hand that is about to press a key needs.
  static let linger: Int64 = 500_000_000
  /// Nobody has begun to press a key in a view that was shown so briefly.
  static let briefest: Int64 = 1_000_000_000

  /// Whether a key for the view was pressed.
  var isUsed = false
  private var begin: Int64?
  private var end: Int64?

  /// Whether the frame of that time, by the machine's clock, is the last; `awaits` says that a line for the
  /// prompt waits.
  mutating func isLast(at time: Int64, isOver: Bool, awaits line: Bool) -> Bool {
    let begin = self.begin ?? time
    self.begin = begin
    guard isOver else {
      end = nil
      return false
    }
    let end = self.end ?? time
    self.end = end
    if line || isUsed { return line }
    return end - begin < Self.briefest || time - end >= Self.linger
  }
}
