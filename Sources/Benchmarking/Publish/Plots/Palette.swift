internal import Basics
internal import Mechanisms

/// The colours of the plots, one a mechanism, the same in every plot of every run.
///
/// Colour is never the only carrier of meaning: lines are labelled at their ends, rows by their names,
/// and markers have shapes.
enum Palette {
  /// The style class of a mechanism; mechanisms beyond the palette, and specimens, share the last one.
  static func style(of mechanism: String?) -> String {
    let index = Contestants.mechanisms.firstIndex { $0.id == mechanism }
    return "c\(index.map { min($0, colours.count - 1) } ?? colours.count - 1)"
  }

  /// Light and dark, in the order of the catalogue; the last is for what has no colour of its own.
  private static let colours: [(light: String, dark: String)] = [
    ("#c0392b", "#ff8a7a"),  // operation-queue
    ("#8c6d1f", "#d9b65a"),  // gcd-semaphore
    ("#5d7a1f", "#a9cf5b"),  // gcd-gate
    ("#1f6fd6", "#6fb1ff"),  // limiter
    ("#d9730d", "#ffa552"),  // pool
    ("#128a76", "#4fd1b8"),  // fifo-queue
    ("#b0338f", "#f08ad3"),  // actor-queue
    ("#7552c9", "#b79cff"),  // main-actor-queue
    ("#2c8f3c", "#74d680"),  // task-group
    ("#6b7280", "#a3acb9"),  // none, specimens
  ]

  static let styleSheet: String = {
    func rules(_ colour: ((light: String, dark: String)) -> String) -> String {
      colours.enumerated().map { ".c\($0){--c:\(colour($1));color:\(colour($1))}" }.joined()
    }
    let light = "--paper:#fff;--ink:#1c1f24;--soft:#5b6470;--grid:#e6e9ee;--band:#dbe4f0"
    let dark = "--paper:#15181d;--ink:#e8eaed;--soft:#a0a8b3;--grid:#2a3038;--band:#26344a"
    var literals = StyleLiterals.firstValues(in: light)
    literals["c"] = "currentColor"
    let plots = String(decoding: PackageResources.Plot_css, as: UTF8.self)
    return """
      svg{\(light)}\(rules(\.light))\
      @media(prefers-color-scheme:dark){svg{\(dark)}\(rules(\.dark))}\
      \(StyleLiterals.added(to: plots, literals))
      """
  }()
}
