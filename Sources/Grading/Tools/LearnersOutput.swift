@preconcurrency private import Glibc

/// What the learner's code prints.
enum LearnersOutput {
  /// Has it come out line by line from now on, so that it stands between the lines of the grading where it was printed;
  /// else it would come when there is a page of it, or never.
  static func comeByLines() { setvbuf(stdout, nil, _IOLBF, 0) }
}
