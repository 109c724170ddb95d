/// Ends the program because its code is wrong, saying what happened and what to do.
///
/// Misuse is not an error to throw: no caller could do anything about it but be mended. A
/// `preconditionFailure` would not do: built for release, it stops without its message.
func stop(_ message: String) -> Never {
  fatalError(message)
}
