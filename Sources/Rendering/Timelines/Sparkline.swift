/// How many ran or waited, over the cells of an axis.
enum Sparkline {
  /// The value of each cell, as a line, and the largest ever behind it where there is room.
  ///
  /// With `digits`, the numbers themselves are written while all are below 10.
  static func line(
    _ values: [Int],
    most top: Int,
    room: Int,
    digits: Bool,
    glyphs: GlyphSet
  ) -> String {
    let usesDigits = digits && top < 10
    let line = row(values, top: top, digits: digits, glyphs)
    let note = "  at most \(NumberText.grouped(top))"
    let roomForNote = line.count + note.count <= room
    return !usesDigits && top > 0 && roomForNote ? line + note : line
  }

  /// A glyph for each value: with `digits`, the numbers themselves while all are below 10; else levels, of
  /// which `top` is the highest.
  static func row(_ values: [Int], top: Int, digits: Bool, _ glyphs: GlyphSet) -> String {
    let glyphs = values.map { value -> Character in
      if value == 0 { return " " }
      return digits && top < 10 ? Character(String(value)) : level(value, of: top, glyphs)
    }
    return Columns.trimmed(String(glyphs))
  }

  /// The level that stands for `value`; anything above 0 is to be seen.
  static func level(_ value: Int, of top: Int, _ glyphs: GlyphSet) -> Character {
    let index = (value * glyphs.levels.count + top - 1) / max(1, top) - 1
    return glyphs.levels[min(max(0, index), glyphs.levels.count - 1)]
  }
}
