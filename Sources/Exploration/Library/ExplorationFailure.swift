/// Why an exploration failed, and the schedule that shows it.
public struct ExplorationFailure: Error, CustomStringConvertible {
  /// What went wrong.
  public enum Kind: Sendable {
    /// What ``require(_:_:fileID:line:)`` or an expectation of a test asks for is not so, or a task was resumed twice
    /// by its unsafe continuation.
    case requirement(String)
    /// The closure threw.
    case thrown(any Error)
    /// The code would have ended the program: it traps, uses up its stack, aborts or exits. With what it said.
    case trap(String)
    /// Two tasks use the same memory, one of them writes, and nothing puts one before the other: what the language
    /// calls undefined, whatever order they come in.
    case race
    /// Tasks wait for ever: nothing can run any more.
    case deadlock
    /// Tasks block all threads of the pool, and what would let them go on needs one of these: a lock held over
    /// an `await`, a thread that waits for another task.
    case blockedPool
    /// Tasks go round for ever: all that can go on has its turn again and again, finds the same each time and
    /// changes nothing.
    case livelock
    /// Each schedule got so long that it was left before its end.
    case tooManySteps
    /// The time allowed was over, and a step that had run for ten seconds had not come to its end.
    case runaway
    /// Something ran, or would run, where the exploration does not see it.
    case escaped
    /// The same choices led to different runs, or the schedule to be replayed cannot be followed.
    case diverged
  }

  /// What went wrong.
  public let kind: Kind
  /// What `replaying:` takes, or the text that could not be replayed; empty when there is no schedule.
  public let schedule: String
  /// What happened, the steps that led there, and the line that replays them.
  public let description: String
  /// What happened, and the steps that led there, apart.
  package var message = ""
  package var steps = ""
}
