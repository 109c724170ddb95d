// What a grading program tells the lab. It stands here, not with the grader, so that the lab does not link that.

/// One thing an exercise asks for, and whether the learner's code does it.
package struct GradeItem: Hashable, Sendable, Codable {
  /// The figure that checks name: `safety`.
  package var name: String
  package var passed: Bool
  /// What was asked and what was found, in words.
  package var sentence: String
  /// The failing schedule or run, told as the lab tells it; empty if there is none.
  package var story: String

  package init(_ name: String, passed: Bool, _ sentence: String, story: String = "") {
    self.name = name
    self.passed = passed
    self.sentence = sentence
    self.story = story
  }
}

/// What a grading program writes: one line for each item as soon as it is known, and one at the end.
///
/// A program that crashes or hangs has told what it had found until then. Several programs may share the questions of
/// an exercise: each asks the next that none of them has taken.
package struct GradeLine: Hashable, Sendable, Codable {
  package var item: GradeItem?
  /// The name of the item that is looked at from now on.
  package var asking: String?
  /// What is asked with it, in words.
  package var asked: String?
  /// Which question of the exercise that item answers, or will; the first is 0.
  package var question: Int?
  /// At the end: whether every item that this program looked at passed.
  package var passed: Bool?
  /// At the end: how many questions the exercise has.
  package var questions: Int?
  /// What was drawn was drawn from this.
  package var seed: UInt64?

  /// In the environment: the file in which the grading program notes the schedule in progress.
  package static let journalVariable = "CONCURRENCY_LAB_JOURNAL"
  /// In the environment: the file that has a byte for each question which some program has taken.
  package static let takenVariable = "CONCURRENCY_LAB_TAKEN"

  package init(
    item: GradeItem? = nil,
    asking: String? = nil,
    asked: String? = nil,
    question: Int? = nil,
    passed: Bool? = nil,
    questions: Int? = nil,
    seed: UInt64? = nil
  ) {
    self.item = item
    self.asking = asking
    self.asked = asked
    self.question = question
    self.passed = passed
    self.questions = questions
    self.seed = seed
  }
}
