internal import Basics
internal import Mechanisms

/// A picture that is not a run's own: its title, its axes, and marks at numbers; and the file of any of them.
struct SVGSheet {
  static let width = 1_000.0
  static let left = 92.0
  static let right = 24.0

  /// Where the chart begins and ends, downwards.
  let top: Double
  let bottom: Double
  private let title: [String]
  private let notes: [String]
  private let description: String
  private var body = ""

  /// - Parameters:
  ///   - title: what is drawn, in a line or two.
  ///   - notes: the lines below the title.
  ///   - description: the same for who hears it.
  ///   - height: of the chart.
  init(title: String, notes: [String], description: String, height: Double) {
    self.title = Columns.wrap(title, width: 88)
    self.notes = notes.flatMap { Columns.wrap($0, width: 112) }
    self.description = description
    top = 64 + 20 * Double(self.title.count + self.notes.count - 1)
    bottom = top + height
  }

  static var chartWidth: Double { width - left - right }

  private static func n(_ number: Double) -> String {
    let text = NumberText.fixed(number, decimals: 1)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  // MARK: Marks

  mutating func label(
    _ text: String,
    _ x: Double,
    _ y: Double,
    _ kind: String = "t",
    anchor: String = "start"
  ) {
    body +=
      #"<text class="\#(kind)" x="\#(Self.n(x))" y="\#(Self.n(y))" text-anchor="\#(anchor)">"#
      + "\(XMLText.escaped(text))</text>\n"
  }

  mutating func line(
    _ kind: String,
    from start: (x: Double, y: Double),
    to end: (x: Double, y: Double)
  ) {
    body +=
      #"<line class="\#(kind)" x1="\#(Self.n(start.x))" y1="\#(Self.n(start.y))" "#
      + #"x2="\#(Self.n(end.x))" y2="\#(Self.n(end.y))"/>"# + "\n"
  }

  /// A bar; with `words`, what it is called when somebody points at it.
  mutating func bar(
    _ kind: String,
    x: Double,
    y: Double,
    width: Double,
    height: Double,
    words: String? = nil
  ) {
    let shape =
      #"<rect class="\#(kind)" x="\#(Self.n(x))" y="\#(Self.n(y))" width="\#(Self.n(width))" "#
      + #"height="\#(Self.n(height))""#
    body += shape + Self.ended("rect", words)
  }

  mutating func path(
    _ kind: String,
    through points: [(x: Double, y: Double)],
    closed: Bool = false,
    words: String? = nil
  ) {
    let steps = points.map { "\(Self.n($0.x)) \(Self.n($0.y))" }.joined(separator: "L")
    body +=
      #"<path class="\#(kind)" d="M\#(steps)\#(closed ? "Z" : "")""# + Self.ended("path", words)
  }

  mutating func dot(_ kind: String, x: Double, y: Double, radius: Double, words: String) {
    body +=
      #"<circle class="\#(kind)" cx="\#(Self.n(x))" cy="\#(Self.n(y))" r="\#(Self.n(radius))""#
      + Self.ended("circle", words)
  }

  private static func ended(_ element: String, _ words: String?) -> String {
    words.map { "><title>\(XMLText.escaped($0))</title></\(element)>\n" } ?? "/>\n"
  }

  /// The title of what goes upwards, at the left edge.
  mutating func turnedLabel(_ text: String) {
    body +=
      #"<text class="t" transform="translate(18 \#(Self.n((top + bottom) / 2))) rotate(-90)" "#
      + #"text-anchor="middle">\#(XMLText.escaped(text))</text>"# + "\n"
  }

  // MARK: Axes

  /// Time from left to right, with its unit at the left.
  ///
  /// - Returns: where a moment lies.
  mutating func timeAxis(until end: Int64) -> (Int64) -> Double {
    let axis = TimeAxis(end: end, room: 100)
    let x: (Int64) -> Double = { time in
      Self.left + Self.chartWidth * Double(time) / Double(max(1, end))
    }
    for tick in axis.ticks where tick.time <= end {
      line("grid", from: (x(tick.time), top - 4), to: (x(tick.time), bottom))
      let isLast = x(tick.time) > Self.width - Self.right - 20
      let anchor = tick.time == 0 ? "start" : isLast ? "end" : "middle"
      label(tick.label, x(tick.time), top - 10, anchor: anchor)
    }
    label("time, \(axis.unitName)", Self.left - 8, top - 10, anchor: "end")
    return x
  }

  /// Durations upwards, each with its unit.
  ///
  /// - Returns: where a duration lies.
  mutating func durationAxis(until most: Int64) -> (Int64) -> Double {
    let axis = TimeAxis(end: most, room: 40)
    let (top, bottom) = (top, bottom)
    let y: (Int64) -> Double = { bottom - (bottom - top) * Double($0) / Double(max(1, most)) }
    for tick in axis.ticks where tick.time <= most {
      line("grid", from: (Self.left, y(tick.time)), to: (Self.width - Self.right, y(tick.time)))
      label(DurationText.text(tick.time), Self.left - 8, y(tick.time) + 5, anchor: "end")
    }
    return y
  }

  /// The whole file, with so much room below the chart.
  func finished(below: Double) -> String {
    Self.file(
      height: bottom + below,
      title: title,
      notes: notes,
      description: description,
      body: body
    )
  }

  /// A picture's file: what every picture of a run or about runs begins with, and its marks.
  static func file(
    height: Double,
    title: [String],
    notes: [String],
    description: String,
    body: String
  ) -> String {
    let heading = title.enumerated().map { index, text in
      #"<text class="h" x="16" y="\#(28 + 20 * index)">\#(XMLText.escaped(text))</text>"#
    }
    let lines = notes.enumerated().map { index, text in
      let y = 50 + 20 * (title.count - 1 + index)
      return #"<text class="s" x="16" y="\#(y)">\#(XMLText.escaped(text))</text>"#
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(width)) \(n(height))" \
      width="\(n(width))" height="\(n(height))" role="img" aria-labelledby="title desc">
      <title id="title">\(XMLText.escaped(title.joined(separator: " ")))</title>
      <desc id="desc">\(XMLText.escaped(description))</desc>
      <style>
      \(RunSVG.styles)
      </style>
      <defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(45)"><rect class="hatch-ground" width="5" height="5"/>\
      <rect class="hatch-line" width="2" height="5"/></pattern></defs>
      <rect class="paper" width="100%" height="100%"/>
      \((heading + lines).joined(separator: "\n"))
      \(body)</svg>

      """
  }
}
