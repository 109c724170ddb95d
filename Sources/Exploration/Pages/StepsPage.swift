// The steps of a schedule as one HTML page that needs nothing else: no network, no other file.
//
// The steps are a plain list and can be read without a script. With one, a slider or the arrow keys go
// from step to step: each task has a column of its own, with the code in which the line it stands at is lit
// up and the steps it takes; and a table shows where every task was at every step.

internal import Basics
internal import FoundationEssentials

/// What a page of steps shows: of the lab's schedules, and of those in other people's tests.
package struct StepsPage: Sendable {
  /// A file of the code that tasks stand in.
  package struct File: Encodable, Sendable {
    package var name: String
    package var lines: [String]

    package init(name: String, lines: [String]) {
      self.name = name
      self.lines = lines
    }
  }

  /// A line of such a file.
  package struct Line: Encodable, Sendable {
    package var file: String
    package var number: Int

    package init(file: String, number: Int) {
      self.file = file
      self.number = number
    }
  }

  /// A moment at which the page stops; several of one number are one step.
  package struct Step: Encodable, Sendable {
    package var number: Int
    /// Who takes it: one of the page's tasks, or another.
    package var who: String
    package var what: String
    /// How many bodies run after it, where that means something.
    package var running: Int?
    /// What it breaks.
    package var broke: String?
    /// What has become of each task: empty before it begins, then `waiting`, `running`, `finished`, `failed` or
    /// `cancelled`.
    package var states: [String]
    /// Where each task stands.
    package var lines: [Line?]

    package init(number: Int, who: String, what: String, states: [String], lines: [Line?]) {
      self.number = number
      self.who = who
      self.what = what
      self.states = states
      self.lines = lines
    }
  }

  package var title: String
  package var lead: String
  package var tasks: [String]
  package var steps: [Step]
  package var files: [File] = []
  /// The numbers of two steps whose order matters.
  package var race: (first: Int, second: Int)?
  /// What these two have to do with each other.
  package var relation = StepRelation.comesBefore
  /// The number of the last step that belongs to the schedule.
  package var length: Int
  /// How many bodies may run at once, where that means something.
  package var limit: Int?
  /// Whether it opens at the step that breaks something.
  package var opensAtFailure = false
  /// What stands at its end, as HTML.
  package var foot = ""

  package init(title: String, lead: String, tasks: [String], steps: [Step], length: Int) {
    self.title = title
    self.lead = lead
    self.tasks = tasks
    self.steps = steps
    self.length = length
  }

  /// What the script reads.
  private struct Data: Encodable {
    var files: [File]
    var race: [Int]
    var between: String
    var behind: String
    var tasks: [String]
    var length: Int
    var limit: Int?
    var start: Int
    var steps: [Step]
  }

  /// The whole file.
  package var html: String {
    let styles = embedded(PackageResources.StepsPage_css)
    let matters = race.map { "What matters: \(relation.text($0.first, $0.second))." } ?? ""
    return """
      \(PageHead.html(title: title, styles: styles, hasScripts: true))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>\(XMLText.escaped(lead))</p>
      </header>
      <main>
      <p><button type="button" id="play"><span>Play</span> <kbd>space</kbd></button> \
      <label for="speed">speed</label> <select id="speed"><option value="0.5">½</option>\
      <option value="1" selected>1</option><option value="2">2</option><option value="5">5</option></select> \
      <label for="at">step</label> <input type="range" id="at" min="0" max="\(steps.count)" \
      value="0"> <output id="where" aria-live="polite"></output></p>
      <p id="state"></p>
      <p id="matters">\(matters)</p>
      <div id="columns"></div>
      <div class="wide"><table id="strips"></table></div>
      <details open><summary>All steps</summary><ol>
      \(list)
      </ol></details>
      \(listing)
      \(foot)
      </main>
      <script type="application/json" id="data">\(data)</script>
      <script>
      \(embedded(PackageResources.StepsPage_js))
      </script>
      </body>
      </html>

      """
  }

  /// The number of the moment at which it opens; 0 for before the first.
  package var start: Int {
    guard opensAtFailure else { return 0 }
    return (steps.lastIndex { $0.broke != nil } ?? steps.count - 1) + 1
  }

  private var list: String {
    var items: [(number: Int, text: String)] = []
    for step in steps {
      let broke = step.broke.map { " <strong>\(XMLText.escaped($0))</strong>" } ?? ""
      let words = "\(XMLText.escaped(step.what))\(broke)"
      if items.last?.number == step.number {
        items[items.count - 1].text += "; then \(words)"
      } else {
        items.append((step.number, "\(XMLText.escaped(step.who)) \(words)"))
      }
    }
    return items.map { number, text in
      let isMarked = race.map { [$0.first, $0.second].contains(number) } ?? false
      return "<li>\(text)\(isMarked ? " ◀ what matters" : "")</li>"
    }.joined(separator: "\n")
  }

  private var listing: String {
    files.map { file in
      "<details><summary>The code: \(XMLText.escaped(file.name))</summary><pre>"
        + "\(XMLText.escaped(file.lines.joined(separator: "\n")))</pre></details>"
    }.joined(separator: "\n")
  }

  private var data: String {
    let data = Data(
      files: files,
      race: race.map { [$0.first, $0.second] } ?? [],
      between: relation.between,
      behind: relation.behind,
      tasks: tasks,
      length: length,
      limit: limit,
      start: start,
      steps: steps
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text = (try? encoder.encode(data)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    // A description cannot end the script.
    return text.replacing("</", with: "<\\/")
  }
}
