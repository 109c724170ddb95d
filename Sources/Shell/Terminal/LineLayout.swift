/// Where libedit puts what on the screen.
///
/// To print above the line being edited, one must know how many rows above the cursor that line
/// begins, and libedit does not tell. It does lay lines out by simple rules, though, and they are
/// repeated here: a row is full when its last cell is written, a wide character that does not fit
/// goes to the next row, a control character shows as `^X`, a tab goes to the next multiple of 8.
struct LineLayout {
  struct Position: Equatable {
    var row = 0
    var column = 0
  }

  let columns: Int
  let width: (Unicode.Scalar) -> Int
  private(set) var position = Position()

  init(columns: Int, width: @escaping (Unicode.Scalar) -> Int) {
    self.columns = max(columns, 2)
    self.width = width
  }

  mutating func add(_ scalars: some Sequence<Unicode.Scalar>) {
    for scalar in scalars { add(scalar) }
  }

  mutating func add(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\n":
      position = Position(row: position.row + 1, column: 0)
    case "\t":
      repeat { advance(1) } while position.column % 8 != 0
    default:
      let cells = width(scalar)
      if scalar.value < 0x20 || scalar.value == 0x7F {
        advance(1)
        advance(1)
      } else if cells < 0 {
        // Shown by its number: \U+ABCD, or five digits.
        for _ in 0..<(scalar.value > 0xFFFF ? 8 : 7) { advance(1) }
      } else if cells > 0 {
        advance(cells)
      }
    }
  }

  private mutating func advance(_ cells: Int) {
    if position.column + cells > columns {
      position = Position(row: position.row + 1, column: 0)
    }
    position.column += cells
    if position.column >= columns {
      position = Position(row: position.row + 1, column: 0)
    }
  }
}
