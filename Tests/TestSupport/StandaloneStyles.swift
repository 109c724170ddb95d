/// What programs other than browsers need of a picture's colours.
package enum StandaloneStyles {
  /// The declarations of a picture whose value is a variable of the style sheet, and how many of them have no
  /// literal of the same property before them.
  ///
  /// A program that knows no `var(…)` draws what these say black.
  package static func variables(in picture: String) -> (all: Int, without: [String]) {
    var all = 0
    var without: [String] = []
    var before = ""
    for piece in picture.split(whereSeparator: { "{};<>\"".contains($0) }) {
      let declaration = piece.drop(while: \.isWhitespace)
      if declaration.contains("var(--") {
        all += 1
        let property = declaration.prefix { $0 != ":" }
        if before.prefix(while: { $0 != ":" }) != property || before.contains("var(--") {
          without.append(String(declaration))
        }
      }
      before = String(declaration)
    }
    return (all, without)
  }
}
