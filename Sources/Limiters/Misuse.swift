/// Ends the program because its code is wrong, saying what happened, what to do, and in whose code.
///
/// Misuse is not an error to throw: the caller must be corrected, and cannot do that at run time. Not
/// `preconditionFailure`: built for release, it stops without its message.
///
/// `file` and `line` are the caller's; the library's own only where no caller can be at fault.
@usableFromInline
func stop(_ message: String, file: StaticString = #file, line: UInt = #line) -> Never {
  fatalError(message, file: file, line: line)
}
