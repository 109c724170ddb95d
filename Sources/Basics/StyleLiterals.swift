// Programs that draw pictures outside of browsers know no `var(…)` of a style sheet: librsvg, CairoSVG and those
// built on them draw what is so coloured black. They pass over a declaration that they do not understand,
// and take the one before it.

/// Puts a literal before each declaration of a style sheet whose value is a variable.
package enum StyleLiterals {
  /// - Parameters:
  ///   - sheet: declarations may use `var(--name)`.
  ///   - literals: by the name of the variable, without the hyphens.
  /// - Returns: the sheet, where `fill: var(--ink)` became `fill: #000; fill: var(--ink)`.
  /// - Precondition: each variable of the sheet has a literal.
  package static func added(to sheet: String, _ literals: [String: String]) -> String {
    sheet.replacing(/([a-z-]+:\ ?)([^;{}:]*var\(--[^;{}]*)/) { match in
      let value = match.output.2
      let literal = value.replacing(/var\(--([a-z-]+)\)/) { variable in
        guard let literal = literals[String(variable.output.1)] else {
          preconditionFailure("no literal for \(variable.output.0)")
        }
        return literal
      }
      let words = literal.reversed().drop(while: \.isWhitespace).reversed()
      return
        "\(match.output.1)\(String(words));\(sheet.contains("; ") ? " " : "")\(match.output.1)\(value)"
    }
  }

  /// What a sheet gives its variables first: the light scheme's colours come before the dark one's.
  package static func firstValues(in sheet: String) -> [String: String] {
    let pairs = sheet.matches(of: /--([a-z-]+):\ ?([^;{} ]+)/).map {
      (String($0.output.1), String($0.output.2))
    }
    return Dictionary(pairs) { first, _ in first }
  }
}
