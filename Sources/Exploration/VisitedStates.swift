internal import CExplorable

/// The states that a search has gone on from, each with how many pre-emptions were spent on the way there.
///
/// A state is not gone on from again where everything that can come behind it came within the bound before. To go on
/// from it with as many pre-emptions left, or more, and the turn with the same agent, is everything. So it is if the
/// turn was with nobody: then no choice took it from anybody. And whoever had the turn, one pre-emption more pays for
/// that it was another who had it: from there on they have it alike.
///
/// After M. Musuvathi and S. Qadeer, "Partial-order reduction for context-bounded state exploration" (MSR-TR-2007-12).
struct VisitedStates {
  /// The fewest pre-emptions, by state and who had the turn.
  private var spent: [UInt64: UInt32] = [:]
  /// What is overlooked: nothing, but in tests.
  private let overlooked: Touches.Oversight

  init(overlooked: Touches.Oversight = []) { self.overlooked = overlooked }

  /// Notes that the search would go on from a state.
  ///
  /// - Parameters:
  ///   - state: what tells it from others.
  ///   - turn: who could have gone on, so that any other choice is a pre-emption; 0 for nobody.
  ///   - spent: how many pre-emptions were spent on the way.
  /// - Returns: whether it must go on from there.
  mutating func enter(_ state: UInt64, turn: UInt64, spent: Int) -> Bool {
    let spent = overlooked.contains(.spent) ? 0 : UInt32(clamping: spent)
    let own = touch_mix(state, turn)
    let anybody = touch_mix(state, Self.anybody)
    if let before = self.spent[own], before <= spent { return false }
    if turn != 0, let before = self.spent[touch_mix(state, 0)], before <= spent { return false }
    if let before = self.spent[anybody], before < spent { return false }
    self.spent[own] = spent
    self.spent[anybody] = min(spent, self.spent[anybody] ?? .max)
    return true
  }

  private static let anybody = UInt64.max
}
