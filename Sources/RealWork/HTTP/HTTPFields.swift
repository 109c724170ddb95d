package import Foundation

// The fields of an answer that a client must understand to go on with a file that was cut off (RFC 9110).

/// `Content-Range: bytes 500-999/1234`, or `bytes */1234` of an answer that no byte can be given (14.4).
package struct ContentRange: Hashable, Sendable {
  /// The bytes that the answer holds; nil if none of those asked for is there.
  package private(set) var bytes: ClosedRange<Int>?
  /// The length of the whole file; nil if the server does not know.
  package private(set) var total: Int?

  /// Nil for anything that is not of this form, or contradicts itself.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[1] != "*" {
      guard let total = Self.number(parts[1]) else { return nil }
      self.total = total
    }
    guard parts[0] != "*" else {
      // Neither the bytes nor the length would say nothing.
      if total == nil { return nil }
      return
    }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, total.map({ last < $0 }) ?? true
    else { return nil }
    bytes = first...last
  }

  /// Digits only: `Int` would take a sign too.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
  }
}

/// What tells one version of a file from the next, so that a client can ask for the rest of *that* one.
package enum Validator: Hashable, Sendable, Codable {
  /// The server's own name for the version.
  case tag(String)
  /// When the version was made.
  case date(String)

  /// The validator of an answer, if it has one that is strong: one that changes with every byte (8.8.1).
  ///
  /// A tag that begins with `W/` is weak. A date is weak too, unless the answer was made a minute later or
  /// more: the file may have changed twice in the second that the date names (8.8.2.2).
  package init?(tag: String?, lastModified: String?, date: String?) {
    if let tag, tag.hasPrefix("\""), tag.hasSuffix("\""), tag.count >= 2 {
      self = .tag(tag)
    } else if tag == nil, let lastModified, let date, let made = httpDate(lastModified),
      let sent = httpDate(date), sent.timeIntervalSince(made) >= 60
    {
      self = .date(lastModified)
    } else {
      return nil
    }
  }

  /// As `If-Range` has it.
  package var text: String {
    switch self {
    case .tag(let text), .date(let text): text
    }
  }
}

/// `Retry-After`: seconds, or a date (10.2.3).
package func retryAfter(_ text: String?, now: Date = Date()) -> Duration? {
  guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
  if text.allSatisfy({ $0.isASCII && $0.isNumber }) { return Int(text).map { .seconds($0) } }
  return httpDate(text).map { .seconds(max(0, $0.timeIntervalSince(now).rounded(.up))) }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that a sender may use (5.6.7).
package func httpDate(_ text: String) -> Date? {
  let words = text.split(separator: " ")
  guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
    let day = Int(words[1]), let year = Int(words[3]),
    let month = months.firstIndex(of: words[2])
  else { return nil }
  let clock = words[4].split(separator: ":").compactMap { Int($0) }
  guard clock.count == 3 else { return nil }
  var calendar = Calendar(identifier: .gregorian)
  calendar.timeZone = .gmt
  let parts = DateComponents(
    year: year,
    month: month + 1,
    day: day,
    hour: clock[0],
    minute: clock[1],
    second: clock[2]
  )
  return parts.isValidDate(in: calendar) ? calendar.date(from: parts) : nil
}

private let months: [Substring] = [
  "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]
