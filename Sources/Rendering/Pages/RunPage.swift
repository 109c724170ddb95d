// A run as one HTML page that needs nothing else: no network, no other file.
//
// The figures, the notes and a table with every task are plain HTML and can be read without a script.
// The chart is a canvas that draws only the rows in view, so that it stays quick with many thousands
// of tasks; it is zoomed and walked through by pointer or by keys, and what it shows of the chosen task
// is said in words below it.

internal import Basics
package import Experiments
internal import Exploration
package import Mechanisms

/// A run as a page for the browser.
package enum RunPage {
  /// The most tasks the table lists; the chart has all of them.
  private static let mostTableRows = 20_000

  /// The whole file.
  package static func html(_ run: Run, _ summary: RunSummary) -> String {
    let timeline = run.timeline
    let title =
      "\(NumberText.count(timeline.tasks.count, "task")) through \(run.mechanism), \(run.limitText)"
    let clock =
      (run.clock == .virtual ? "virtual time" : "wall clock") + workers(run)
    return """
      \(PageHead.html(title: title, styles: embedded(PackageResources.RunPage_css), hasScripts: true))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>\(clock), seed \(run.seed)</p>\(goesOn(run))
      <p class="line">\(XMLText.escaped(oneLine(run, summary)))</p>
      \(notes(run, summary))</header>
      <main>
      \(chart(run, timeline))
      <div class="columns">
      <section aria-labelledby="figures">
      <h2 id="figures">Figures</h2>
      \(percentiles(summary))
      </section>
      <section aria-labelledby="words">
      <h2 id="words">In words</h2>
      \(sentences(run, summary))
      </section>
      </div>
      \(table(run, timeline))
      </main>
      <script type="application/json" id="data">\(data(run, timeline))</script>
      <script>
      \(embedded(PackageResources.Chart_js))
      \(embedded(PackageResources.RunPage_js))
      </script>
      </body>
      </html>

      """
  }

  private static func goesOn(_ run: Run) -> String {
    UnderWayText.sentence(run).map { "\n<p><strong>\(XMLText.escaped($0))</strong></p>" } ?? ""
  }

  private static func workers(_ run: Run) -> String {
    if run.platform != nil, let processors = run.workers {
      return ", a model of \(NumberText.count(processors, "processor"))"
    }
    return run.workers.map { ", a pool of \(NumberText.count($0, "worker"))" } ?? ""
  }

  private static func oneLine(_ run: Run, _ summary: RunSummary) -> String {
    SummaryText.line(run, summary, TextFormat(width: 1_000)).split(separator: "\n").joined()
  }

  private static func notes(_ run: Run, _ summary: RunSummary) -> String {
    let notes = Note.all(for: run, summary)
    if notes.isEmpty { return "" }
    let items = notes.map { note in
      let kind = note.isViolation ? "wrong" : "note"
      return "<li class=\"\(kind)\"><strong>\(note.isViolation ? "Wrong" : "Note"):</strong> "
        + "\(XMLText.escaped(note.text)) <span>(<code>\(XMLText.escaped(note.command))</code>)</span></li>"
    }
    return "<ul class=\"notes\">\n\(items.joined(separator: "\n"))\n</ul>\n"
  }

  /// A column for each stage: three of them fit a window of 390 pixels with each figure beside its unit;
  /// five columns of percentiles do not.
  private static func percentiles(_ summary: RunSummary) -> String {
    let stages = [
      ("waiting", summary.waiting), ("service", summary.service), ("response", summary.response),
    ]
    let rows = [
      ("mean", \Percentiles.mean), ("p50", \.p50), ("p90", \.p90), ("p99", \.p99), ("max", \.max),
    ].map { name, figure in
      let cells = stages.map { "<td>\(DurationText.text($0.1[keyPath: figure]))</td>" }.joined()
      return "<tr><th scope=\"row\">\(name)</th>\(cells)</tr>"
    }
    let heads = ([""] + stages.map(\.0)).map { "<th scope=\"col\">\($0)</th>" }
    return "<table class=\"figures\"><thead><tr>\(heads.joined())</tr></thead>"
      + "<tbody>\(rows.joined())</tbody></table>"
  }

  private static func sentences(_ run: Run, _ summary: RunSummary) -> String {
    let lines = Describe.run(run, summary).split(separator: "\n")
    return lines.map { "<p>\(XMLText.escaped(String($0)))</p>" }.joined(separator: "\n")
  }

  private static func table(_ run: Run, _ timeline: Timeline) -> String {
    func cell(_ time: Int64?) -> String { "<td>\(time.map { DurationText.text($0) } ?? "")</td>" }
    let rows = timeline.tasks.prefix(mostTableRows).map { lane in
      let life = lane.life
      return "<tr><th scope=\"row\">\(run.label(of: life.task))</th>"
        + cell(life.arrived) + cell(life.admitted) + cell(life.ended)
        + cell(life.waiting(by: run.now)) + cell(life.service(by: run.now))
        + "<td>\(LifeText.words(for: life, now: run.now))</td></tr>"
    }
    let all = timeline.tasks.count
    let what =
      all > mostTableRows
      ? "The first \(NumberText.grouped(mostTableRows)) of \(NumberText.count(all, "task"))"
      : "All \(NumberText.count(all, "task"))"
    let heads = ["task", "arrived", "admitted", "ended", "waited", "in service", "end"]
      .map { "<th scope=\"col\">\($0)</th>" }
    return """
      <details>
      <summary>\(what) in a table</summary>
      <table class="tasks"><thead><tr>\(heads.joined())</tr></thead>
      <tbody>
      \(rows.joined(separator: "\n"))
      </tbody></table>
      </details>
      """
  }

  /// What the chart draws: each task as its name, its end, and its spans as phase, start and end.
  private static func data(_ run: Run, _ timeline: Timeline) -> String {
    var json = JSONText(capacity: timeline.tasks.count * 80 + 1_024)
    json.object { json in
      json.member("end", timeline.end)
      members(run, timeline, hasLives: true, &json)
    }
    return asElement(json.text)
  }

  /// Nothing in the data may look like the end of the script element.
  static func asElement(_ json: String) -> String {
    json.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "\\u003c")
  }

  /// What is drawn of a run; with what is said of each task, or without.
  static func members(
    _ run: Run,
    _ timeline: Timeline,
    hasLives: Bool,
    _ json: inout JSONText
  ) {
    json.key("limit")
    // What the limit became at the very start stands behind what it was.
    steps(of: timeline.limit, from: run.limitChanged ? run.limit : nil, &json)
    if let violation = overAdmission(timeline) { json.member("violation", violation) }
    json.key("tasks")
    json.array(timeline.tasks) { json, lane in
      let life = lane.life
      json.object { json in
        json.member("n", run.label(of: life.task))
        json.member("e", LifeText.words(for: life, now: run.now))
        if let ended = life.ended { json.member("t", ended) }
        if hasLives { json.member("w", LifeText.line(life, now: run.now)) }
        json.key("s")
        json.array(lane.spans) { json, span in
          json.value(phaseNumber(span.phase))
          json.value(span.start)
          json.value(span.end)
        }
      }
    }
    json.key("running")
    steps(of: timeline.running, &json)
    json.key("waiting")
    steps(of: timeline.waiting, &json)
  }

  /// When more ran than the limit allows, for the first time.
  private static func overAdmission(_ timeline: Timeline) -> Int64? {
    timeline.running.steps.first { step in
      timeline.limit.value(at: step.time).map { step.value > $0 } ?? false
    }?.time
  }

  private static func steps(
    of function: StepFunction,
    from first: Int? = nil,
    _ json: inout JSONText
  ) {
    var steps = function.steps.map { (time: $0.time, value: $0.value) }
    if let first, steps.first?.value != first { steps.insert((0, first), at: 0) }
    json.array(steps) { json, step in
      json.value(step.time)
      json.value(step.value)
    }
  }

  private static func phaseNumber(_ phase: Timeline.Phase) -> Int {
    switch phase {
    case .waiting: 0
    case .blocked: 1
    case .running: 2
    case .suspended: 3
    case .ready: 4
    }
  }

  /// How a state or an end is drawn, where it occurs.
  private static func legend(_ timeline: Timeline) -> String {
    let phases = Set(timeline.tasks.flatMap { $0.spans.map(\.phase) })
    let ends = Set(timeline.tasks.compactMap(\.life.end))
    func item(_ svg: String, _ text: String, _ isThere: Bool) -> String? {
      isThere ? "<li>\(svg)</svg> \(text)</li>" : nil
    }
    let wide = "<svg width=\"24\" height=\"14\" aria-hidden=\"true\">"
    let small = "<svg width=\"12\" height=\"14\" aria-hidden=\"true\">"
    return [
      item(
        wide + #"<rect y="5.5" width="24" height="3" fill="var(--waiting)"/>"#,
        "waiting",
        phases.contains(.waiting)
      ),
      item(
        wide + #"<defs><pattern id="h" width="5" height="5" patternUnits="userSpaceOnUse" "#
          + #"patternTransform="rotate(45)"><rect width="5" height="5" fill="var(--blocked-ground)"/>"#
          + #"<rect width="2" height="5" fill="var(--blocked)"/></pattern></defs>"#
          + #"<rect y="1" width="24" height="12" fill="url(#h)"/>"#,
        "waiting, thread blocked",
        phases.contains(.blocked)
      ),
      item(
        wide + #"<rect y="1" width="24" height="12" fill="var(--running)"/>"#,
        "running",
        phases.contains(.running)
      ),
      item(
        wide + #"<rect x="1" y="3" width="22" height="8" fill="none" stroke="var(--suspended)" "#
          + #"stroke-dasharray="4 2"/>"#,
        "suspended",
        phases.contains(.suspended)
      ),
      item(
        wide + #"<rect x="1" y="1.5" width="22" height="11" fill="none" stroke="var(--running)"/>"#,
        "ready, no worker",
        phases.contains(.ready)
      ),
      item(
        small + #"<path d="M5 1v12" stroke="var(--ink)" stroke-width="1.5"/>"#,
        "finished",
        ends.contains(.finished)
      ),
      item(
        small + #"<path d="M6 2l5 5-5 5-5-5z" fill="var(--failed)"/>"#,
        "failed",
        ends.contains(.failed)
      ),
      item(
        small
          + #"<path d="M2 3l8 8M2 11l8-8" fill="none" stroke="var(--cancelled)" stroke-width="2"/>"#,
        "cancelled",
        !ends.isDisjoint(with: [.cancelledWhileWaiting, .cancelledWhileRunning, .rejected])
      ),
    ].compactMap(\.self).joined(separator: "\n")
  }

  /// A switch for each way in which tasks ended.
  private static func states(_ run: Run, _ timeline: Timeline) -> String {
    var counts: [(name: String, count: Int)] = []
    for lane in timeline.tasks {
      let name = LifeText.words(for: lane.life, now: run.now)
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].count += 1
      } else {
        counts.append((name, 1))
      }
    }
    return counts.map { name, count in
      "<button type=\"button\" value=\"\(name)\" aria-pressed=\"true\">\(name) "
        + "<kbd>\(NumberText.grouped(count))</kbd></button>"
    }.joined()
  }

  /// What plays a moment; see Chart.js.
  static let playBar = """
    <button type="button" id="play"><span>Play</span> <kbd>space</kbd></button>
    <label for="speed">speed</label>
    <select id="speed"><option value="0.25">¼</option><option value="0.5">½</option>\
    <option value="1" selected>1</option><option value="2">2</option><option value="4">4</option></select>
    <input type="range" id="at" min="0" max="1000" value="1000" aria-label="Moment">
    <output id="now" for="at"></output>
    """

  private static func chart(_ run: Run, _ timeline: Timeline) -> String {
    """
    <section aria-labelledby="over-time">
    <h2 id="over-time">Over time</h2>
    <div class="bar" role="group" aria-label="Play">
    \(playBar)
    </div>
    <div class="bar" role="toolbar" aria-label="What is drawn">
    <button type="button" id="zoom-in">Zoom in <kbd>+</kbd></button>
    <button type="button" id="zoom-out">Zoom out <kbd>-</kbd></button>
    <button type="button" id="zoom-all">All <kbd>0</kbd></button>
    <button type="button" id="rows" aria-pressed="false">Every row at once <kbd>r</kbd></button>
    <ul class="legend" aria-label="What is drawn how">
    \(legend(timeline))
    </ul>
    </div>
    <div class="bar">
    <input type="search" id="search" placeholder="Search tasks" aria-label="Search tasks">
    <span id="states" role="group" aria-label="Tasks that">\(states(run, timeline))</span>
    </div>
    <div id="plot"><div id="scroller" tabindex="0" role="group" aria-describedby="keys" \
    aria-label="Chart of the tasks over time"><canvas id="chart" aria-hidden="true"></canvas>\
    <div id="spacer"></div></div>\
    <button type="button" id="cue" tabindex="-1" hidden></button><div id="tip" hidden></div></div>
    <canvas id="counts" aria-hidden="true"></canvas>
    <p id="detail" aria-live="polite">Choose a task with the pointer or the up and down keys.</p>
    <p id="keys" class="faint">Keys, while the chart has the focus: up and down choose a task, left \
    and right move in time, + and - zoom, Enter zooms to the task, 0 shows all, r changes the rows, the space bar plays, [ and ] go event by event. \
    Pointer: drag to move, Ctrl and wheel to zoom.</p>
    <noscript><p>The chart needs a script; the table below has every task.</p></noscript>
    </section>
    """
  }
}
