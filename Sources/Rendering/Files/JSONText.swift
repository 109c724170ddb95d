/// JSON built by hand: members in the order they are written, whole numbers as they are.
///
/// Written for logs of millions of lines: it appends bytes to one buffer and makes no intermediate
/// strings or dictionaries.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  /// Whether the next value or member needs a comma before it.
  private var needsComma = false

  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  mutating func newline() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  mutating func object(_ members: (inout JSONText) -> Void) {
    comma()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    members(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func array<Element>(
    _ elements: some Sequence<Element>,
    _ body: (inout JSONText, Element) -> Void
  ) {
    comma()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for element in elements { body(&self, element) }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// The name of a member; its value is written next.
  mutating func key(_ name: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    )
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func value(_ number: Int64) {
    comma()
    appendDigits(number)
    needsComma = true
  }

  mutating func value(_ number: Int) { value(Int64(number)) }

  mutating func value(_ flag: Bool) { raw(flag ? "true" : "false") }

  mutating func null() { raw("null") }

  mutating func value(_ string: String) {
    comma()
    appendString(string)
    needsComma = true
  }

  /// A value that is JSON already.
  mutating func raw(_ json: String) {
    comma()
    bytes.append(contentsOf: json.utf8)
    needsComma = true
  }

  mutating func member(_ name: StaticString, _ number: Int64) {
    key(name)
    value(number)
  }

  /// A member whose name is made of letters and underscores, known only when it runs.
  mutating func member(named name: String, _ number: Int) {
    comma()
    bytes.append(contentsOf: "\"\(name)\":".utf8)
    needsComma = false
    value(number)
  }

  mutating func member(_ name: StaticString, _ number: Int) {
    key(name)
    value(number)
  }

  mutating func member(_ name: StaticString, _ string: String) {
    key(name)
    value(string)
  }

  /// Microseconds with the nanoseconds as decimals, exact: `12.345`.
  mutating func microseconds(_ name: StaticString, _ nanoseconds: Int64) {
    key(name)
    if nanoseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000)
    appendDigits(Int64(whole))
    if rest > 0 {
      var fraction = String(rest + 1_000).utf8.dropFirst()
      while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
      bytes.append(UInt8(ascii: "."))
      bytes.append(contentsOf: fraction)
    }
    needsComma = true
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func appendDigits(_ number: Int64) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func appendString(_ string: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
      case 0..<0x20:
        let digits = String(UInt32(byte) + 0x10000, radix: 16).dropFirst()
        bytes.append(contentsOf: #"\u"#.utf8)
        bytes.append(contentsOf: digits.utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
