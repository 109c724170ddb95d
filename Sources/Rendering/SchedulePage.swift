// A schedule as one HTML page that needs nothing else: no network, no other file.
//
// The steps are a plain list and can be read without a script. With one, a slider or the arrow keys go
// from step to step: each task has a column of its own, with the code in which the line it stands at is lit
// up and the steps it takes; above them stand the permits and the line of waiters, and a table shows where
// every task was at every step.

internal import Basics
package import Experiments
internal import Mechanisms
internal import Tracing

/// A schedule as a page for the browser.
package enum SchedulePage {
  /// The whole file.
  package static func html(
    _ story: ExplorationReport.ScheduleDescription,
    of scenario: ExplorationScenario
  ) -> String {
    let verdict = story.violation.map { "\($0.kind) in \(story.length) steps: \($0.message)" }
    let title = "\(scenario.mechanism.id): \(verdict ?? "every promise is kept")"
    let limit = story.limit.map { "limit \($0)" } ?? "no limit"
    let listing = story.code.names.map { file in
      let text = story.code.lines(of: file).joined(separator: "\n")
      return "<details><summary>The code: \(XMLText.escaped(file))</summary><pre>"
        + "\(XMLText.escaped(text))</pre></details>"
    }.joined(separator: "\n")
    return """
      \(PageHead.html(title: title, styles: embedded(PackageResources.SchedulePage_css), hasScripts: true))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>\(NumberText.count(story.tasks, "task")), \(limit). Each step is one that the scheduler could \
      take. Go through them with the slider or the arrow keys.</p>
      </header>
      <main>
      <p><label for="at">step</label> <input type="range" id="at" min="0" max="\(story.steps.map(\.moments.count).reduce(0, +))" \
      value="0"> <output id="where" aria-live="polite"></output></p>
      <p id="state"></p>
      <div id="columns"></div>
      <div class="wide"><table id="strips"></table></div>
      <details open><summary>All steps</summary><ol>
      \(list(story))
      </ol></details>
      \(listing)
      <p>Play it: <code>step \(scenario.mechanism.id)</code>. Run it again: \
      <code>replay \(XMLText.escaped(story.schedule))</code></p>
      </main>
      <script type="application/json" id="data">\(data(story))</script>
      <script>
      \(embedded(PackageResources.SchedulePage_js))
      </script>
      </body>
      </html>

      """
  }

  private static func list(_ story: ExplorationReport.ScheduleDescription) -> String {
    story.steps.map { step in
      let moments = step.moments.map { moment in
        let broke = moment.broke.map { " <strong>\(XMLText.escaped($0))</strong>" } ?? ""
        return "\(XMLText.escaped(moment.words))\(broke)"
      }
      return "<li>\(XMLText.escaped(step.actor)) \(moments.joined(separator: "; then "))</li>"
    }.joined(separator: "\n")
  }

  /// What the script reads.
  private static func data(_ story: ExplorationReport.ScheduleDescription) -> String {
    // The page stops at each moment of a step; until the last of them tasks are told to stand where they stood.
    var stood: [CodeUnderStudy.Line?] = []
    let steps = story.steps.flatMap { step in
      let moments = step.moments.enumerated().map { index, moment in
        let lines = index == step.moments.count - 1 ? step.lines : stood
        return JSONObject.Value.object([
          ("number", .number(step.number)),
          ("who", .string(step.actor)), ("what", .string(moment.words)),
          ("running", .number(moment.running)),
          ("broke", moment.broke.map { .string($0) } ?? .null),
          ("states", .array(moment.states.map { .string(name(of: $0)) })),
          ("task", .number(step.task)), ("from", line(step.from)),
          ("lines", .array(lines.map(line))),
        ])
      }
      stood = step.lines
      return moments
    }
    let names = (1...max(1, story.tasks)).map { TaskID($0).label(amongst: story.tasks) }
    let files = story.code.names.map { file in
      JSONObject.Value.object([
        ("name", .string(file)),
        ("lines", .array(story.code.lines(of: file).map { .string($0) })),
      ])
    }
    let race = story.race.map { [.number($0.first), .number($0.second)] } ?? [JSONObject.Value]()
    return JSONObject.line([
      ("files", .array(files)), ("race", .array(race)),
      ("tasks", .array(names.map { .string($0) })), ("length", .number(story.length)),
      ("limit", story.limit.map { .number($0) } ?? .null), ("steps", .array(steps)),
    ])
    // A description cannot end the script.
    .replacing("</", with: "<\\/")
  }

  private static func line(_ line: CodeUnderStudy.Line?) -> JSONObject.Value {
    line.map { .object([("file", .string($0.file)), ("number", .number($0.number))]) } ?? .null
  }

  private static func name(of state: ExplorationReport.TaskState) -> String {
    switch state {
    case .absent: ""
    case .waiting: "waiting"
    case .running: "running"
    case .ended(.finished): "finished"
    case .ended(.failed): "failed"
    case .ended(.cancelled): "cancelled"
    }
  }
}
