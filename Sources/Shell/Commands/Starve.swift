internal import Experiments
internal import Foundation
internal import LessonBook
internal import Rendering

extension Keys {
  static let starveKind = Key(
    "kind",
    form: PoolStarvation.Wait.allCases.map(\.rawValue).joined(separator: " or "),
    help: "how the tasks wait: blocking their thread, or suspended",
    candidates: PoolStarvation.Wait.allCases.map(\.rawValue)
  )
  static let starveTasks = Key(
    "tasks",
    form: "a whole number from 1 to 1000",
    help: "how many tasks wait; as many as there are cores unless told"
  )
}

extension Command {
  static let starve = Command(
    "starve",
    keys: [Keys.starveKind, Keys.starveTasks],
    summary: "let tasks wait on Swift's own pool for another task, in a process of its own",
    details: """
      For tasks of one priority the pool has a thread for each core. As many tasks as that wait for one event, and one more \
      task is to make it happen. If they block their threads, it never gets one. On the wall clock, \
      in a second process, which is ended after a second.
      """,
    examples: ["starve kind=block", "starve kind=suspend"]
  ) { session, arguments in
    let kind = try arguments.value(Keys.starveKind, PoolStarvation.Wait.init(rawValue:)) ?? .block
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let tasks =
      try arguments.value(Keys.starveTasks) { ValueSyntax.count($0, in: 1...1000) } ?? cores
    guard let program = session.classroom.program else {
      throw ShellError("this needs the program 'lab' itself, to start it a second time")
    }
    let outcome: PoolStarvation.Outcome
    do {
      let interruption = session.interruption
      let child = try await ChildProcess.run(
        program,
        ["--starve", kind.rawValue, "--waiters", String(tasks)],
        timeLimit: .seconds(20),
        isInterrupted: { interruption.hasCome }
      )
      guard child.ending != .interrupted else {
        return session.answer(json: "", Session.interrupted + "\n")
      }
      let line = child.output.split(separator: "\n").last ?? ""
      outcome = try JSONDecoder().decode(PoolStarvation.Outcome.self, from: Data(line.utf8))
    } catch {
      throw ShellError("the second process did not tell what it saw: \(error)")
    }
    session.note(StarvationMetrics(outcome: outcome))
    return session.answer(json: StarvationText.json(outcome), StarvationText.text(outcome))
  }
}

/// The figures of a demonstration, as checks name them.
struct StarvationMetrics: MetricSource {
  let outcome: PoolStarvation.Outcome

  private var values: [(name: String, value: MetricValue)] {
    [
      ("clock", .word("real")), ("kind", .word(outcome.wait)), ("waiters", .count(outcome.waiters)),
      ("cores", .count(outcome.cores)), ("event", .word(outcome.event ? "yes" : "no")),
      ("finished", .count(outcome.finished)),
    ]
  }

  var metricForms: [String] { values.map(\.name) }

  func value(of metric: Metric) -> MetricValue? {
    metric.argument == nil ? values.first { $0.name == metric.name }?.value : nil
  }
}

private enum StarvationText {
  static func text(_ outcome: PoolStarvation.Outcome) -> String {
    let how = outcome.wait == "block" ? "each blocking its thread" : "each suspended"
    let seen =
      outcome.event
      ? "The event happened, and \(outcome.finished) of them went on."
      : "The event never happened: the task that makes it happen got no thread."
    return """
      \(NumberText.count(outcome.waiters, "task")) wait for one event, \(how). \
      The pool has \(NumberText.count(outcome.cores, "thread")).
      \(seen)
      after 1 s: \(outcome.finished) of \(outcome.waiters) went on

      """
  }

  static func json(_ outcome: PoolStarvation.Outcome) -> String {
    JSONObject.line([
      ("schema", "lab-starvation/1"), ("kind", .string(outcome.wait)),
      ("waiters", .number(outcome.waiters)), ("cores", .number(outcome.cores)),
      ("event", .string(outcome.event ? "yes" : "no")), ("finished", .number(outcome.finished)),
    ])
  }
}

/// What `lab` does when it is started as the second process.
package enum StarvationProcess {
  /// Demonstrates and ends the process; status 2 if `wait` is not a way to wait.
  package static func run(wait: String, waiters: Int) -> Never {
    guard let wait = PoolStarvation.Wait(rawValue: wait) else { exit(2) }
    PoolStarvation.demonstrate(wait, waiters: waiters)
  }
}
