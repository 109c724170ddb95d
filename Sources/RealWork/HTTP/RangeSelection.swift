/// Which bytes of a file a server sends, as strict as RFC 9110 asks (14.1.2, 14.2, 13.1.5).
///
/// Decisions only, so that each rule can be tried without a server.
package struct RangeSelection: Hashable, Sendable {
  /// The bytes to send; nil if those asked for are not there.
  package let bytes: Range<Int>?
  /// The field of the answer; nil if the whole file is sent.
  package let contentRange: String?

  /// - Parameters:
  ///   - range: the request's `Range`.
  ///   - ifRange: its `If-Range`.
  ///   - tag: the strong `ETag` of the file now.
  ///   - length: its length now.
  package init(range: String?, ifRange: String?, tag: String, length: Int) {
    // Of another version, of a form that is not understood, or of several parts: the whole file.
    guard let range, ifRange == nil || ifRange == tag, let asked = Asked(range) else {
      bytes = 0..<length
      contentRange = nil
      return
    }
    let part: Range<Int> =
      switch asked {
      case .from(let first): min(first, length)..<length
      case .between(let first, let last):
        min(first, length)..<max(min(first, length), min(last, length - 1) + 1)
      case .last(let count): max(0, length - count)..<length
      }
    if part.isEmpty {
      bytes = nil
      contentRange = "bytes */\(length)"
    } else {
      bytes = part
      contentRange = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
    }
  }

  /// `bytes=500-`, `bytes=500-999`, `bytes=-500`.
  private enum Asked {
    case from(Int)
    case between(Int, Int)
    case last(Int)

    init?(_ text: String) {
      guard text.hasPrefix("bytes=") else { return nil }
      let ends = text.dropFirst("bytes=".count).split(
        separator: "-",
        omittingEmptySubsequences: false
      )
      guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else {
        return nil
      }
      switch (Int(ends[0]), Int(ends[1])) {
      case (let first?, nil) where ends[1].isEmpty: self = .from(first)
      case (let first?, let last?) where first <= last: self = .between(first, last)
      case (nil, let count?) where ends[0].isEmpty: self = .last(count)
      default: return nil
      }
    }
  }
}
