internal import Basics
internal import Dispatch
internal import LessonBook
internal import Limiters

/// Tells who waits from who asks again and again: the one takes no processor time, the other takes some all the time.
struct QuietProcessor {
  /// How much processor time this program has taken, in nanoseconds.
  private let time: @Sendable () -> Int64

  /// How much may be taken in a second in which nothing is to be done.
  private static let allowed: Int64 = 60_000_000

  private static let queue = DispatchQueue(label: "a quiet second")

  /// Lets a second pass in which tasks wait.
  ///
  /// The time is this program's own, so a machine that is busy with something else does not count.
  ///
  /// - Returns: how many milliseconds they took, if that is too much.
  private func millisecondsBurnt() async -> Int64? {
    await Self.pass(milliseconds: 100)
    let before = time()
    await Self.pass(milliseconds: 1_000)
    let taken = time() - before
    return taken > Self.allowed ? taken / 1_000_000 : nil
  }

  private static func pass(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
  }

  /// Asks what is taken of the processor while many wait.
  ///
  /// - Parameters:
  ///   - asked: What is asked, in words.
  ///   - make: Has them wait, and lets them go on when what it is given has returned.
  /// - Returns: the question.
  static func question(
    _ asked: String,
    _ make: @escaping @Sendable (_ aSecond: @Sendable () async -> Void) async -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: "quiet") { terms in
      let processor = QuietProcessor(time: terms.processorTime)
      return GradeBook.Question.task("quiet", asked, seconds: 60) { _ in
        let burnt = Lock<Int64?>(nil)
        await make {
          let milliseconds = await processor.millisecondsBurnt()
          burnt.withLock { $0 = milliseconds }
        }
        let found = burnt.withLock { $0 }.map {
          "nothing happened for a second, and your code took \($0) ms of processor time: somebody asks again and "
            + "again instead of waiting"
        }
        return GradeItem(
          "quiet",
          passed: found == nil,
          "\(asked): \(found ?? "they wait, and take no processor time")"
        )
      }.ask(terms)
    }
  }
}
