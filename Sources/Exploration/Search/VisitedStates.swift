internal import CExplorable

/// The states that a search has continued from, each with how many pre-emptions were spent on the way there.
///
/// A search need not continue from a state again if an earlier visit has seen everything that the bound still allows
/// from there. There are three such cases:
/// - The same agent had the turn, and no more pre-emptions were spent.
/// - Nobody had the turn, and no more were spent: no choice was a pre-emption then.
/// - Another agent had the turn, and at least one pre-emption less was spent: that one pays for giving the turn to the
///   same agent, and from there on both visits are alike.
///
/// After M. Musuvathi and S. Qadeer, "Partial-order reduction for context-bounded state exploration" (MSR-TR-2007-12).
struct VisitedStates {
  /// The fewest pre-emptions, by state and who had the turn.
  private var spent: [UInt64: UInt32] = [:]
  /// What is overlooked: nothing, but in tests.
  private let overlooked: Touches.Oversight

  init(overlooked: Touches.Oversight = []) { self.overlooked = overlooked }

  /// Notes that the search has come to a state.
  ///
  /// - Parameters:
  ///   - state: what tells it from others.
  ///   - turn: who could have gone on, so that any other choice is a pre-emption; 0 for nobody.
  ///   - spent: how many pre-emptions were spent on the way.
  /// - Returns: whether it must continue from there.
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
