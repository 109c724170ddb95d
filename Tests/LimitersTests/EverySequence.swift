import Basics

/// Calls `body` with every sequence of `length` of the given operations.
///
/// Small cases are where limiters break, and there are few enough of them to try them all. Sequences
/// shorter than `length` are beginnings of longer ones, so checking after each operation covers them.
func forEverySequence<Operation>(
  of operations: [Operation],
  length: Int,
  _ body: ([Operation]) throws -> Void
) rethrows {
  var sequence: [Operation] = []
  func extend() throws {
    if sequence.count == length { return try body(sequence) }
    for operation in operations {
      sequence.append(operation)
      try extend()
      sequence.removeLast()
    }
  }
  try extend()
}
