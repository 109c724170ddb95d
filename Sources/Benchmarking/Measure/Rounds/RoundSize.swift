/// How many operations a round of one contestant has, so that it takes about as long as it should.
///
/// A value without a clock: it is told what rounds took.
struct RoundSize: Hashable, Sendable {
  /// The operations of the next round.
  private(set) var times: Int
  /// Whether `times` is settled, and rounds may be measured.
  private(set) var isFound = false
  /// Operations come in multiples of it.
  private let grain: Int
  /// How long a round should take, in nanoseconds.
  private let length: Int64
  /// What a first round that was long enough took, until a second one confirms it.
  private var first: Int64?
  /// What was found at first: later rounds have at most that.
  private var most = 0

  /// How many times as long as it should be a round may take before the next ones are made shorter.
  private static let patience: Int64 = 4
  /// The most operations of a round.
  private static let limit = 1 << 26

  init(grain: Int, length: Int64) {
    self.grain = grain
    self.length = length
    times = grain
  }

  /// Takes in what a round took that was run to find the size.
  ///
  /// The first operation of a process, or the machine, may hold up a round; from that one alone rounds of a single
  /// operation would follow, which measure how a task is started. So a round that is long enough is repeated, and the
  /// shorter of the two is believed.
  mutating func find(after took: Int64) {
    if took >= length / 2, first == nil {
      first = took
      return
    }
    let took = min(took, first ?? took)
    first = nil
    if took >= length / 2 || times >= Self.limit {
      times = whole(Double(times) * Double(length) / Double(max(took, 1)))
      most = times
      isFound = true
    } else {
      times *= 2
    }
  }

  /// Takes in what a measured round took.
  ///
  /// On a busy machine some mechanisms fall into a manner in which each hand-off waits for a thread's turn. Rounds as
  /// long as that takes would keep all others waiting, and the process might never end; when it is over, rounds grow
  /// again.
  mutating func adapt(after took: Int64) {
    if took > Self.patience * length {
      times = whole(Double(times) * Double(Self.patience * length) / Double(took))
    } else if took < length / 2, times < most {
      times = min(most, 2 * times)
    }
  }

  /// So many operations, in whole grains, at least one.
  private func whole(_ times: Double) -> Int { max(1, Int(times) / grain) * grain }
}
