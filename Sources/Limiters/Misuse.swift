/// Ends the program because its code is wrong, saying what happened and what to do.
///
/// Misuse is not an error to throw: the caller must be corrected, and cannot do that at run time. Not
/// `preconditionFailure`: built for release, it stops without its message.
func stop(_ message: String) -> Never {
  fatalError(message)
}
