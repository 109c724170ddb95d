internal import Basics
internal import LessonBook

// What downloaders and batches are both asked: they are given lists of files.

/// What closures have that are given away: it is there as long as one of them.
final class Witness: Sendable {}

extension Grader {
  /// Files whose numbers tell nothing of how many there are.
  static func files(_ count: Int, list: Int = 0) -> [Int] {
    (0..<count).map { 1_000 * (list + 1) + ($0 * 37) % 101 + 101 * ($0 / 101) }
  }

  /// A list in which files stand again, with numbers of every kind.
  static let listWithRepeats = [0, .max, 0, 0, -1, .min, .max]

  private struct WeakWitness: Sendable { weak let object: Witness? }

  /// Of a list that is over nothing is kept, though nothing else comes.
  ///
  /// - Parameters:
  ///   - asked: what is asked, in words.
  ///   - make: makes who is given the list, and is there to the end.
  ///   - send: gives it a list whose closures have the witness, and waits for its end.
  /// - Returns: the question.
  static func keptOfList<Keeper: Sendable>(
    _ asked: String,
    _ make: @escaping @Sendable () -> Keeper,
    _ send: @escaping @Sendable (Keeper, Witness) async -> Void
  ) -> GradeBook.Question {
    .task("kept", asked, seconds: 30) { _ in
      let keeper = make()
      let seen = await {
        let witness = Witness()
        await send(keeper, witness)
        return WeakWitness(object: witness)
      }()
      // What has ended may be let go of a little later.
      for _ in 1...2_000 where seen.object != nil { await Moment.pass() }
      let isGone = seen.object == nil
      return withExtendedLifetime(keeper) {
        GradeItem(
          "kept",
          passed: isGone,
          "\(asked): "
            + (isGone
              ? "nothing is kept of it"
              : "a closure of it is still kept. Look what is put into a property or an array and not taken out")
        )
      }
    }
  }
}
