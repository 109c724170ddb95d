/// Fails the exploration, with a message, if something is not so.
///
/// It counts in every task that calls it, also when that task catches the error that it throws.
/// Outside an exploration it only throws.
///
/// - Throws: ``RequirementNotMet`` if `condition` is false.
public func require(
  _ condition: Bool,
  _ message: @autoclosure () -> String = "a requirement is not met",
  fileID: String = #fileID,
  line: Int = #line
) throws {
  if condition { return }
  let failure = RequirementNotMet(
    message: message(),
    place: "\(lastPart(of: fileID)):\(line)"
  )
  GlobalPoolHook.current?.onRequirement?(failure)
  throw failure
}

/// Fails the exploration that the calling code belongs to, for what a test framework found there.
///
/// Returns whether it belongs to one.
package func noteRequirementNotMet(_ message: String, at place: String) -> Bool {
  guard let executor = GlobalPoolHook.current else { return false }
  executor.onRequirement?(RequirementNotMet(message: message, place: place))
  return true
}

/// What ``require(_:_:fileID:line:)`` throws.
public struct RequirementNotMet: Error, Hashable, CustomStringConvertible {
  /// What was given as message.
  public let message: String
  /// File and line.
  public let place: String

  /// The message and the place.
  public var description: String { "\(message) (\(place))" }
}
