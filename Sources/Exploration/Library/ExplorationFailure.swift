/// Why an exploration failed, and the schedule that shows it.
public struct ExplorationFailure: Error, CustomStringConvertible {
  /// What went wrong.
  public enum Kind: Sendable {
    /// ``require(_:_:fileID:line:)`` was given something that is not so.
    case requirement(String)
    /// The closure threw.
    case thrown(any Error)
    /// Tasks wait for ever: nothing can run any more.
    case deadlock
    /// Tasks retry for ever, and nothing happens.
    case livelock
    /// Something ran, or would run, where the exploration does not see it.
    case escaped
    /// The same choices led to different runs, or the schedule to be replayed cannot be followed.
    case diverged
  }

  /// What went wrong.
  public let kind: Kind
  /// What `replaying:` takes; empty when there is no schedule to replay.
  public let schedule: String
  /// What happened, the steps that led there, and the line that replays them.
  public let description: String
  /// What happened, and the steps that led there, apart.
  package var message = ""
  package var steps = ""
}
