// A schedule as one SVG picture: a row for each task over the steps that the scheduler took, with the marks of a
// run's picture, and below every step in words. What broke a promise stands in the colour of failures.

internal import Basics
package import Experiments
internal import Mechanisms

/// A schedule as a picture.
package enum ScheduleSVG {
  private static let left = 92.0
  private static let width = 1_000.0
  private static let rowHeight = 26.0
  private static let lineHeight = 20

  /// The whole file.
  package static func text(
    _ story: ExplorationReport.ScheduleDescription,
    of scenario: ExplorationScenario
  ) -> String {
    let steps = NumberText.count(story.length, "step")
    let verdict = story.violation.map { "\($0.kind) in \(steps)" } ?? "\(steps), no promise broken"
    let limit = story.limit.map { "limit \($0)" } ?? "no limit"
    let tasks = NumberText.count(story.tasks, "task")
    let title = "\(tasks) through \(scenario.mechanism.id), \(limit): \(verdict)"
    let words = story.steps.flatMap(lines)
    let top = 74.0
    let bottom = top + rowHeight * Double(story.tasks)
    let height = Int(bottom) + 30 + lineHeight * words.count + 16

    var body = axis(story, top: top, bottom: bottom)
    for task in 0..<story.tasks {
      body.append(row(task, of: story, y: top + rowHeight * Double(task)))
    }
    for (index, line) in words.enumerated() {
      let y = Int(bottom) + 30 + lineHeight * index
      let kind = line.isBroken ? "s failed" : "s"
      body.append(
        #"<text class="\#(kind)" x="\#(number(left))" y="\#(y)">\#(XMLText.escaped(line.text))</text>"#
      )
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(height)" \
      width="\(number(width))" height="\(height)" role="img" aria-labelledby="title desc">
      <title id="title">\(XMLText.escaped(title))</title>
      <desc id="desc">\(XMLText.escaped(words.map(\.text).joined(separator: "\n")))</desc>
      <style>
      \(RunSVG.styles)
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="h" x="16" y="28">\(XMLText.escaped(title))</text>
      \(body.joined(separator: "\n"))
      </svg>

      """
  }

  private static func number(_ value: Double) -> String { NumberText.fixed(value, decimals: 1) }

  /// A column of the picture for each moment of each step; a number for the first of each.
  private static func columns(
    of story: ExplorationReport.ScheduleDescription
  ) -> [(number: Int?, moment: ExplorationReport.Moment)] {
    story.steps.flatMap { step in
      step.moments.enumerated().map { ($0 == 0 ? step.number : nil, $1) }
    }
  }

  private static func x(_ step: Int, of story: ExplorationReport.ScheduleDescription) -> Double {
    left + (width - left - 24) * Double(step) / Double(max(1, columns(of: story).count))
  }

  /// The steps' numbers, as far apart as they need to be, and a line where a promise breaks.
  private static func axis(
    _ story: ExplorationReport.ScheduleDescription,
    top: Double,
    bottom: Double
  ) -> [String] {
    let every = max(1, (story.steps.count + 26) / 27)
    var elements = [
      #"<text class="t" x="\#(number(left - 8))" y="\#(number(top - 10))" text-anchor="end">step</text>"#
    ]
    for (index, column) in columns(of: story).enumerated() {
      let start = number(x(index, of: story))
      elements.append(
        #"<line class="grid" x1="\#(start)" y1="\#(number(top - 4))" x2="\#(start)" y2="\#(number(bottom))"/>"#
      )
      guard let step = column.number, (step - 1).isMultiple(of: every) else { continue }
      let middle = number((x(index, of: story) + x(index + 1, of: story)) / 2)
      let kind = column.moment.broke == nil ? "t" : "t failed"
      elements.append(
        #"<text class="\#(kind)" x="\#(middle)" y="\#(number(top - 10))" text-anchor="middle">\#(step)</text>"#
      )
    }
    return elements
  }

  /// One task: a thin line while it waits, a bar while its body runs, a mark where it ends.
  private static func row(
    _ task: Int,
    of story: ExplorationReport.ScheduleDescription,
    y: Double
  ) -> String {
    let name = TaskID(task + 1).label(amongst: story.tasks)
    let middle = y + rowHeight / 2
    var elements = [
      #"<text class="t" x="\#(number(left - 8))" y="\#(number(middle + 4))" text-anchor="end">\#(name)</text>"#
    ]
    var before = ExplorationReport.TaskState.absent
    for (index, column) in columns(of: story).enumerated() {
      let state = column.moment.states[task]
      let (start, end) = (x(index, of: story), x(index + 1, of: story))
      func bar(_ kind: String, _ height: Double) -> String {
        #"<rect class="\#(kind)" x="\#(number(start))" y="\#(number(middle - height / 2))" "#
          + #"width="\#(number(end - start))" height="\#(number(height))"/>"#
      }
      switch state {
      case .absent: break
      case .waiting: elements.append(bar("waiting", 4))
      case .running: elements.append(bar("running", 18))
      case .ended(let end) where state != before:
        elements.append(mark(end, x: start, y: middle))
      case .ended: break
      }
      before = state
    }
    return elements.joined(separator: "\n")
  }

  private static func mark(_ end: ExplorationReport.TraceEnd, x: Double, y: Double) -> String {
    let (x0, x1, y0, y1) = (number(x - 5), number(x + 5), number(y - 5), number(y + 5))
    return switch end {
    case .finished:
      #"<line class="end" x1="\#(number(x))" y1="\#(number(y - 9))" x2="\#(number(x))" y2="\#(number(y + 9))"/>"#
    case .failed:
      #"<path class="failed" d="M\#(number(x)) \#(y0)L\#(x1) \#(number(y))L\#(number(x)) \#(y1)L\#(x0) \#(number(y))Z"/>"#
    case .cancelled:
      #"<path class="cancelled" d="M\#(x0) \#(y0)L\#(x1) \#(y1)M\#(x0) \#(y1)L\#(x1) \#(y0)"/>"#
    }
  }

  /// A step in words, and below it what it broke.
  private static func lines(_ step: ExplorationReport.Step) -> [(text: String, isBroken: Bool)] {
    step.moments.enumerated().flatMap { index, moment in
      let words =
        index == 0 ? "\(step.number)  \(step.actor)  \(moment.words)" : "then \(moment.words)"
      let broke = moment.broke.map { Columns.wrap("✗ \($0)", width: 104) } ?? []
      return Columns.wrap(words, width: 104).map { ($0, false) } + broke.map { ($0, true) }
    }
  }
}
