// Grades what learners write: by exploring it, and by running workloads through it in virtual time.
//
// Each item is a question with one answer. The first that fails ends the grading, with the schedule or
// the run that shows it: one thing at a time, and what is broken may hang what follows.

/// The exercises and what each asks for.
package enum Grader {}
