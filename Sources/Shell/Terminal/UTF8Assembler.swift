/// Puts characters together from bytes that arrive one at a time.
///
/// A keyboard, or a slow link, delivers a character of several bytes in several reads. A byte that
/// cannot continue what came before drops what came before, and starts anew: one damaged character
/// never swallows the next.
struct UTF8Assembler {
  private var pending: UInt32 = 0
  private var missing = 0
  private var smallest: UInt32 = 0

  mutating func feed(_ byte: UInt8) -> Unicode.Scalar? {
    if missing > 0 {
      if byte & 0b1100_0000 == 0b1000_0000 {
        pending = pending << 6 | UInt32(byte & 0b0011_1111)
        missing -= 1
        guard missing == 0 else { return nil }
        // An encoding longer than needed is none: it is how forbidden characters are smuggled in.
        return pending >= smallest ? Unicode.Scalar(pending) : nil
      }
      missing = 0
    }
    switch byte {
    case 0x00...0x7F: return Unicode.Scalar(byte)
    case 0xC2...0xDF: expect(1, first: byte & 0b0001_1111, smallest: 0x80)
    case 0xE0...0xEF: expect(2, first: byte & 0b0000_1111, smallest: 0x800)
    case 0xF0...0xF4: expect(3, first: byte & 0b0000_0111, smallest: 0x10000)
    default: break
    }
    return nil
  }

  private mutating func expect(_ count: Int, first: UInt8, smallest: UInt32) {
    missing = count
    pending = UInt32(first)
    self.smallest = smallest
  }
}
