internal import Basics
package import Experiments
internal import Exploration
internal import Mechanisms

// A comparison as one HTML page that needs nothing else: the table, what differs in words, and all runs on
// one axis of time, switched on and off and played.

/// A comparison as a page for the browser.
package enum ComparisonPage {
  /// The whole file.
  ///
  /// - Parameter runs: what was compared, in the order of the table.
  /// - Returns: an HTML document.
  package static func html(_ runs: [Run]) -> String {
    let title = "\(NumberText.count(runs.first?.plan.count ?? 0, "task")), \(names(runs))"
    let sentences = ComparisonTable.sentences(runs).map { "<p>\(XMLText.escaped($0))</p>" }
    let styles =
      embedded(PackageResources.RunPage_css) + "\n" + embedded(PackageResources.ComparisonPage_css)
    let lanes = runs.map { (run: $0, timeline: $0.timeline) }
    return """
      \(PageHead.html(title: title, styles: styles, hasScripts: true))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>seed \(runs.first?.seed ?? 0)</p>
      </header>
      <main>
      <div class="scroll">
      \(table(runs))
      </div>
      \(sentences.joined(separator: "\n"))
      <section aria-labelledby="over-time">
      <h2 id="over-time">Over time</h2>
      <div class="bar" role="group" aria-label="Play">
      \(RunPage.playBar)
      </div>
      <div class="bar" id="runs" role="group" aria-label="Runs that are shown">\(switches(runs))</div>
      <p class="faint">Keys: the space bar plays, [ and ] go to the end of a task before or after. A click into a \
      picture goes to that moment.</p>
      \(lanes.enumerated().map { section($1.run, number: $0) }.joined(separator: "\n"))
      <noscript><p>The pictures need a script; the table has the figures.</p></noscript>
      </section>
      </main>
      <script type="application/json" id="data">\(data(lanes))</script>
      <script>
      \(embedded(PackageResources.Chart_js))
      \(embedded(PackageResources.ComparisonPage_js))
      </script>
      </body>
      </html>

      """
  }

  private static func names(_ runs: [Run]) -> String {
    "on " + ListText.some(runs.map(\.label))
  }

  private static func table(_ runs: [Run]) -> String {
    let (heads, rows) = ComparisonTable.cells(runs)
    let head = heads.map { "<th scope=\"col\">\(XMLText.escaped($0))</th>" }.joined()
    let body = rows.map { row in
      let cells = row.dropFirst().map { "<td>\(XMLText.escaped($0))</td>" }.joined()
      return "<tr><th scope=\"row\">\(XMLText.escaped(row[0]))</th>\(cells)</tr>"
    }
    return "<table><thead><tr>\(head)</tr></thead>\n<tbody>\n\(body.joined(separator: "\n"))\n"
      + "</tbody></table>"
  }

  private static func switches(_ runs: [Run]) -> String {
    runs.map { run in
      "<button type=\"button\" aria-pressed=\"true\">\(XMLText.escaped(run.label))</button>"
    }.joined()
  }

  private static func section(_ run: Run, number: Int) -> String {
    """
    <section class="run" id="run-\(number)" aria-labelledby="name-\(number)">
    <h3 id="name-\(number)">\(XMLText.escaped("\(run.label), \(run.limitText)"))</h3>
    <p></p>
    <canvas role="img" aria-label="\(XMLText.escaped(Describe.run(run, run.summary)))"></canvas>
    </section>
    """
  }

  private static func data(_ lanes: [(run: Run, timeline: Timeline)]) -> String {
    let tasks = lanes.reduce(0) { $0 + $1.timeline.tasks.count }
    var json = JSONText(capacity: tasks * 60 + 1_024)
    json.object { json in
      json.member("end", lanes.map(\.timeline.end).max() ?? 0)
      json.key("runs")
      json.array(lanes) { json, lane in
        json.object { json in
          json.member("name", lane.run.label)
          RunPage.members(lane.run, lane.timeline, hasLives: false, &json)
        }
      }
    }
    return RunPage.asElement(json.text)
  }
}
