/// A small JSON object on one line.
package enum JSONObject {
  package enum Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case string(String)
    case number(Int)
    /// One that `Int` may not hold.
    case unsigned(UInt64)
    case flag(Bool)
    case null
    case object([(StaticString, Value)])
    case array([Value])

    package init(stringLiteral value: String) { self = .string(value) }

    package init(integerLiteral value: Int) { self = .number(value) }
  }

  /// The object with these members, in this order, and a line end.
  package static func line(_ members: [(StaticString, Value)]) -> String {
    var json = JSONText()
    write(members, to: &json)
    json.newline()
    return json.text
  }

  private static func write(_ members: [(StaticString, Value)], to json: inout JSONText) {
    json.object { json in
      for (key, value) in members {
        json.key(key)
        write(value, to: &json)
      }
    }
  }

  private static func write(_ value: Value, to json: inout JSONText) {
    switch value {
    case .string(let text): json.value(text)
    case .number(let number): json.value(Int64(number))
    case .unsigned(let number): json.raw(String(number))
    case .flag(let flag): json.value(flag)
    case .null: json.null()
    case .object(let members): write(members, to: &json)
    case .array(let values): json.array(values) { json, value in write(value, to: &json) }
    }
  }
}
