/// The moment of a virtual run that is shown: it moves as fast as a person wants to see it.
package struct Playback: Sendable {
  package private(set) var moment: Int64 = 0
  /// It stands still.
  package private(set) var isHeld = false
  /// How much faster than the machine's clock it moves.
  package private(set) var speed: Double
  private let end: Int64
  /// What the machine's clock showed last.
  private var seen: Int64?

  /// A first showing lasts from 4 to 10 seconds.
  private static let shortest = 4e9
  private static let longest = 10e9

  /// What the machine's clock may have moved on from one frame to the next: where the program was stopped or
  /// had no processor, nothing is left out.
  package static let longestStep: Int64 = 200_000_000

  package init(end: Int64) {
    self.end = end
    speed = Double(end) / min(max(Double(end), Self.shortest), Self.longest)
  }

  package var isOver: Bool { moment >= end && !isHeld }

  /// Lets it move to what the machine's clock shows now, in nanoseconds.
  package mutating func goOn(to time: Int64) {
    defer { seen = time }
    guard !isHeld, let seen else { return }
    let step = Double(min(time - seen, Self.longestStep)) * speed
    moment = step < Double(end - moment) ? moment + Int64(step) : end
  }

  package mutating func hold() { isHeld.toggle() }

  /// Goes to another moment, and stays there.
  package mutating func jump(to moment: Int64) {
    self.moment = min(max(0, moment), end)
    isHeld = true
  }

  /// By halves and doubles, within a millionth and a million.
  package mutating func change(speedBy factor: Double) {
    speed = min(max(speed * factor, 1e-6), 1e6)
  }
}
