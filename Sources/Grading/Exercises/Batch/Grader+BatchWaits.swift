internal import Dispatch
internal import ExplorableSynchronization
internal import Exploration
internal import LessonBook
internal import Limiters

extension Grader {
  /// Of the files without a permit at most one holds a thread, whatever the limit is, and nobody looks for a permit
  /// again and again.
  ///
  /// Where no file ends, all come to where they wait, and an exploration says which threads do. Counted by the system
  /// they would take a second each to come.
  static func waitsAtEachLimit<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    let limits = [1, 2, 3, 5]
    let asked =
      "two lists, limits \(limits.map(String.init).joined(separator: ", ")), none of whose files ends"
    return GradeBook.Question(name: "waits_at_limits") { _ in
      for limit in limits {
        let files = Array(1...2 * limit)
        let underWay = Lock(0)
        do throws(ExplorationFailure) {
          _ = try explore(
            "yours",
            preemptions: 0,
            schedules: 1,
            within: .seconds(8),
            besides: Scenario.aroundAnswers
          ) {
            underWay.withLock { $0 = 0 }
            let batch = Batch(limit: limit)
            let mayEnd = DispatchSemaphore(value: 0)
            let (never, signal) = Condition.makeCondition()
            for list in [files, files.map { 100 + $0 }] {
              batch.download(list) { _ in
                underWay.withLock { $0 += 1 }
                mayEnd.wait()
              } whenAll: {
              }
            }
            try? await never.waitUncancellably()
            withExtendedLifetime((batch, signal)) {}
          }
        } catch {
          let scene = "two lists of \(files.count), limit \(limit), none of whose files ends: "
          let fault: String
          switch error.kind {
          case .deadlock:
            let fetching = underWay.withLock { $0 }
            // Of who holds no thread it says that it never finishes.
            let held = error.message.split(separator: " waits for ").count - 1 - fetching
            guard held > 1 else { continue }
            fault =
              "\(fetching) \(fetching == 1 ? "is" : "are") under way, and \(held) threads wait. Of the files without a "
              + "permit at most one holds a thread, whatever the limit"
          case .livelock, .tooManySteps:
            // There are some dozens of steps to take where who waits sleeps.
            fault =
              "who waits does not sleep until something has changed, but looks again and again. Wait without a time limit"
          default: continue
          }
          return GradeItem(
            "waits_at_limits",
            passed: false,
            scene + fault,
            story: story(error, [])
          )
        }
      }
      return GradeItem(
        "waits_at_limits",
        passed: true,
        "\(asked): at most one thread waits, and sleeps"
      )
    }
  }
}
