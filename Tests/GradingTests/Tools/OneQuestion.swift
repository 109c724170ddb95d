import Basics
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Asks of an answer only what is called `name`: it passes, or is refused in a sentence that has `part` in it.
func expect(
  _ book: GradeBook,
  _ name: String,
  refusedSaying part: String? = nil,
  heap: @escaping @Sendable () -> Int64 = heapAtRest,
  executor: (any TaskExecutor)? = racetrack,
  threads: @escaping @Sendable () -> Int = { 0 },
  areAllAsleep: @escaping @Sendable () -> Bool = { OtherThreads.areAllAsleep },
  _ location: SourceLocation = #_sourceLocation
) async {
  let terms = GradeBook.Terms(
    seed: 1,
    executor: executor,
    sharesPool: true,
    heap: heap,
    processorTime: processorAtRest,
    sleeps: threadsAtRest,
    areAllAsleep: areAllAsleep,
    threads: threads,
    waitingThreads: threads
  )
  let questions = book.questions.filter { $0.name == name }
  #expect(!questions.isEmpty, "no question is called \(name)", sourceLocation: location)
  var items: [GradeItem] = []
  for question in questions { items.append(await onOwnThread { question.ask(terms) }) }
  let refused = items.first { !$0.passed }
  #expect((refused == nil) == (part == nil), "\(refused ?? items[0])", sourceLocation: location)
  if let part, let refused {
    #expect(refused.sentence.contains(part), "\(refused)", sourceLocation: location)
  }
}
