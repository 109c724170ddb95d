internal import Basics
internal import Foundation

/// Scalable vector graphics as text, element by element.
struct SVG {
  private(set) var body = ""
  /// How far texts reach to the left and to the right, whatever the reader's letters.
  private var reach = margin...margin

  /// What is free to the left and to the right of the longest text.
  private static let margin = 8.0

  /// An element without content.
  mutating func add(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    body += "<\(name)\(Self.text(attributes))/>\n"
  }

  mutating func line(_ from: Point, _ to: Point, class name: String) {
    add(
      "line",
      [
        "x1": Self.number(from.x), "y1": Self.number(from.y), "x2": Self.number(to.x),
        "y2": Self.number(to.y), "class": name,
      ]
    )
  }

  mutating func text(
    _ words: String,
    at point: Point,
    anchor: Anchor = .start,
    class name: String
  ) {
    let attributes = Self.text([
      "x": Self.number(point.x), "y": Self.number(point.y), "text-anchor": anchor.rawValue,
      "class": name,
    ])
    body += "<text\(attributes)>\(XMLText.escaped(words))</text>\n"
    let width = Double(words.count) * Self.letter(of: name)
    let left =
      switch anchor {
      case .start: point.x
      case .middle: point.x - width / 2
      case .end: point.x - width
      }
    widen(left...left + width)
  }

  private mutating func widen(_ other: ClosedRange<Double>) {
    reach = min(reach.lowerBound, other.lowerBound)...max(reach.upperBound, other.upperBound)
  }

  /// How wide a letter is in the mean, in a wide sans-serif such as DejaVu or Verdana; see `Plot.css`.
  private static func letter(of name: String) -> Double {
    switch name {
    case "title": 15 * 0.7
    case "name": 12 * 0.7
    case "small": 11 * 0.62
    default: 12 * 0.62
    }
  }

  /// A group whose drawing says `title` when the pointer rests on it.
  ///
  /// Of a mechanism, it carries its name, by which the report finds it.
  mutating func group(
    _ name: String,
    title: String?,
    mechanism: String? = nil,
    _ draw: (inout SVG) -> Void
  ) {
    var inner = SVG()
    draw(&inner)
    let owner = mechanism.map { " data-m=\"\(XMLText.escaped($0))\"" } ?? ""
    body += "<g class=\"\(name)\"\(owner)>"
    if let title { body += "<title>\(XMLText.escaped(title))</title>" }
    body += "\n\(inner.body)</g>\n"
    widen(inner.reach)
  }

  mutating func path(_ points: [Point], class name: String) {
    guard let first = points.first else { return }
    let rest = points.dropFirst().map { "L\(Self.number($0.x)) \(Self.number($0.y))" }
    add(
      "path",
      ["d": "M\(Self.number(first.x)) \(Self.number(first.y))\(rest.joined())", "class": name]
    )
  }

  /// The whole document; its colours follow the reader's light or dark setting.
  ///
  /// It is wider than `width` where a text reaches further.
  func document(width: Double, height: Double, label: String) -> String {
    let left = min(0, (reach.lowerBound - Self.margin).rounded(.down))
    let room = max(width, (reach.upperBound + Self.margin).rounded(.up)) - left
    return """
      <svg xmlns="http://www.w3.org/2000/svg" \
      viewBox="\(Self.number(left)) 0 \(Self.number(room)) \(Self.number(height))" \
      width="\(Self.number(room))" height="\(Self.number(height))" role="img" \
      aria-label="\(XMLText.escaped(label))">
      \(Self.styleElement)
      <rect class="paper" x="\(Self.number(left))" width="100%" height="100%"/>
      \(body)</svg>

      """
  }

  /// What a drawing needs where it stands alone; a page that shows many has it once.
  static let styleElement = "<style>\(Palette.styleSheet)</style>"

  enum Anchor: String {
    case start
    case middle
    case end
  }

  struct Point: Hashable {
    var x: Double
    var y: Double
  }

  static func number(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    return Int(exactly: rounded).map(String.init) ?? String(rounded)
  }

  private static func text(_ attributes: KeyValuePairs<String, String>) -> String {
    attributes.map { " \($0)=\"\(XMLText.escaped($1))\"" }.joined()
  }
}
