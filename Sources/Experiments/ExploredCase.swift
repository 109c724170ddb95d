/// A small case of the mechanisms here that is explored to its end: no schedule of it breaks a promise.
///
/// `explain explore` shows them. A test explores each again, with bodies that end well and with bodies that
/// throw, and compares the counts.
package struct ExploredCase: Sendable {
  package let tasks: Int
  package let limit: Int
  /// Whether any task may be cancelled at any step.
  package let cancels: Bool
  /// How many pre-emptions a schedule may have where tasks stop inside the code; nil between jobs.
  package let preemptions: Int?
  /// How many schedules each mechanism has, in a debug build: the optimiser takes hops between actors out.
  package let schedules: KeyValuePairs<String, Int>

  /// What `explore` is told to look at it again.
  package var keys: String {
    "tasks=\(tasks) limit=\(limit) cancel=\(cancels ? "any" : "none") "
      + (preemptions.map { "inside=yes preemptions=\($0)" } ?? "inside=no")
  }

  // The group of tasks at limit 2 is explored optimised only, by `.ci/run`.
  package static let all = [
    ExploredCase(
      tasks: 2,
      limit: 1,
      cancels: true,
      preemptions: nil,
      schedules: [
        "limiter": 57, "pool": 57, "fifo-queue": 57, "actor-queue": 212, "task-group": 2_000,
        "none": 75,
      ]
    ),
    ExploredCase(
      tasks: 3,
      limit: 1,
      cancels: false,
      preemptions: nil,
      schedules: [
        "limiter": 6, "pool": 6, "fifo-queue": 6, "actor-queue": 180, "task-group": 3_991,
        "none": 15,
      ]
    ),
    ExploredCase(
      tasks: 3,
      limit: 2,
      cancels: false,
      preemptions: nil,
      schedules: ["limiter": 15, "pool": 15, "fifo-queue": 6, "actor-queue": 180, "none": 15]
    ),
    ExploredCase(
      tasks: 2,
      limit: 1,
      cancels: false,
      preemptions: 2,
      schedules: ["limiter": 56, "pool": 69, "fifo-queue": 20, "actor-queue": 31]
    ),
    ExploredCase(
      tasks: 2,
      limit: 1,
      cancels: true,
      preemptions: 1,
      schedules: ["limiter": 5_797, "pool": 3_877, "fifo-queue": 1_258, "actor-queue": 630]
    ),
    ExploredCase(
      tasks: 3,
      limit: 1,
      cancels: false,
      preemptions: 2,
      schedules: ["limiter": 1_368, "pool": 1_460, "fifo-queue": 429, "actor-queue": 224]
    ),
  ]
}
