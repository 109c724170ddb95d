internal import Exploration
internal import Mechanisms

/// Limiters that are stopped inside their code.
extension Grader {
  /// Stopped inside the code, with a cancellation: too many schedules to be searched in order.
  static func insideCancelled(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_cancelled",
      tasks: 2,
      limit: 1,
      cancels: true,
      inside: true,
      isRandom: true
    )
  }

  /// The same of three tasks: one gives back, one waits, and one comes between two locks of the first.
  static func insideThree(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_three",
      tasks: 3,
      limit: 1,
      inside: true,
      overtaking: 0,
      isRandom: true
    )
  }

  /// With two permits: one pre-emption lets one who leaves come between two operations of the other, or of a third.
  static func insideTwo(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(entry, "inside_two", tasks: 3, limit: 2, inside: true, preemptions: 1)
  }

  /// The same of four tasks, of which two wait: what one who leaves has looked at becomes another's.
  static func insideTwoOfFour(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_two_of_four",
      tasks: 4,
      limit: 2,
      inside: true,
      isRandom: true,
      drawing: mostDrawnOfMany
    )
  }

  /// The same with a cancellation.
  static func insideCancelledTwo(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_cancelled_two",
      tasks: 4,
      limit: 2,
      cancels: true,
      inside: true,
      isRandom: true,
      drawing: mostDrawnOfMany
    )
  }

  /// The same of four, where one overtaking is allowed: it takes two who come between.
  static func insideFour(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_four",
      tasks: 4,
      limit: 1,
      inside: true,
      overtaking: 1,
      isRandom: true,
      drawing: mostDrawnOfFour
    )
  }
}
