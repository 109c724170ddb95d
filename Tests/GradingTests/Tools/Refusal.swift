import LessonBook

@testable import Grading

/// The first question that an answer does not pass; nil if it passes all.
///
/// `storm` is the share of a storm's rounds that are taken.
func refusal(
  _ book: GradeBook,
  seed: UInt64 = 1,
  storm: Double = 1,
  heap: @escaping @Sendable () -> Int64 = heapAtRest
) async -> GradeItem? {
  var failed: GradeItem?
  let terms = GradeBook.Terms(
    seed: seed,
    storm: storm,
    executor: racetrack,
    sharesPool: true,
    heap: heap,
    processorTime: processorAtRest,
    sleeps: threadsAtRest,
    threads: { GateForEachList.waiting.value }
  )
  _ = await book.grade(terms) { if !$0.passed { failed = $0 } }
  return failed
}
