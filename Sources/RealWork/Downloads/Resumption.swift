// How a file that was cut off is gone on with: what to ask, and what to make of the answer.
//
// The danger is a mixture. Between two attempts the file may have changed on the server, and its first half
// from yesterday with its second half from today is a file that nobody ever made. So the client asks for the
// rest *of the version that it has a part of* (`If-Range`), and appends only what is said to begin where its
// part ends. Of a server that names no version, nothing is gone on with.
//
// Decisions only: what happens to the file is `PartialFile`'s.

/// Where the bytes of a partial file came from.
package struct Origin: Hashable, Sendable, Codable {
  package var url: String
  /// Which version it was; nil if the server did not say.
  package var validator: Validator?
  /// How long the whole is; nil if the server did not say.
  package var length: Int?

  package init(url: String, validator: Validator?, length: Int?) {
    self.url = url
    self.validator = validator
    self.length = length
  }
}

/// What an answer says of the file.
package struct AnswerHead: Hashable, Sendable {
  package var status: Int
  package var contentRange: String?
  /// Of the body; nil if the server did not say.
  package var contentLength: Int?
  package var contentEncoding: String?
  package var tag: String?
  package var lastModified: String?
  package var date: String?

  package init(
    status: Int,
    contentRange: String? = nil,
    contentLength: Int? = nil,
    contentEncoding: String? = nil,
    tag: String? = nil,
    lastModified: String? = nil,
    date: String? = nil
  ) {
    self.status = status
    self.contentRange = contentRange
    self.contentLength = contentLength
    self.contentEncoding = contentEncoding
    self.tag = tag
    self.lastModified = lastModified
    self.date = date
  }

  var validator: Validator? { Validator(tag: tag, lastModified: lastModified, date: date) }
}

/// One request for a file, of which a part may be there.
package struct Resumption: Hashable, Sendable {
  /// What to do with the partial file now that the head of the answer is there.
  package enum Verdict: Hashable, Sendable {
    /// Empty it: the whole file comes.
    case beginAnew(Origin)
    /// What comes belongs behind what is there.
    case goOn(Origin)
    /// All of it is there already; no byte comes.
    case isComplete
    /// What is there is of no use: empty it, and ask again.
    case discard
    /// The answer is of no use. What is there may be, or not.
    case refuse(Refusal, keeping: Bool)
  }

  package enum Refusal: Hashable, Sendable {
    case status
    case fault(BadAnswer.Fault)
  }

  package let url: String
  /// How many bytes of the file are there that may be gone on with.
  package let start: Int
  private let origin: Origin?

  /// A request for what is at `url`, with `there` bytes of it from `origin`.
  package init(url: String, there: Int, from origin: Origin?) {
    self.url = url
    let isUsable = there > 0 && origin?.url == url && origin?.validator != nil
    self.origin = isUsable ? origin : nil
    start = isUsable ? there : 0
  }

  /// `Range` and `If-Range`, if only the rest is asked for.
  package var fields: (range: String, ifRange: String)? {
    origin?.validator.map { ("bytes=\(start)-", $0.text) }
  }

  package func verdict(on head: AnswerHead) -> Verdict {
    if [200, 206].contains(head.status), let encoding = head.contentEncoding?.lowercased(),
      encoding != "identity"
    {
      return .refuse(.fault(.encoding(encoding)), keeping: true)
    }
    switch head.status {
    case 200:
      return .beginAnew(Origin(url: url, validator: head.validator, length: head.contentLength))
    case 206: return part(head)
    case 416: return nothingThere(head)
    default: return .refuse(.status, keeping: true)
    }
  }

  /// A part came: it has to be the one that was asked for, of the version that was asked for.
  private func part(_ head: AnswerHead) -> Verdict {
    let text = head.contentRange ?? ""
    guard let origin, let range = ContentRange(text), let bytes = range.bytes,
      bytes.lowerBound == start
    else { return .refuse(.fault(.range(text, askedFrom: start)), keeping: false) }
    // A server that takes no notice of `If-Range` is found out here.
    if isOtherVersion(head)
      || (origin.length != nil && range.total != nil && origin.length != range.total)
    {
      return .refuse(.fault(.otherVersion), keeping: false)
    }
    if let length = head.contentLength, length != bytes.count {
      return .refuse(.fault(.length(received: length, expected: bytes.count)), keeping: false)
    }
    // A server may send less than was asked for. Where nobody says how long the file is, nobody can tell.
    guard let total = range.total ?? origin.length, bytes.upperBound == total - 1 else {
      return .refuse(.fault(.range(text, askedFrom: start)), keeping: false)
    }
    var known = origin
    known.length = total
    return .goOn(known)
  }

  /// No byte of the file is behind what is there: all is there, or the file has become shorter.
  private func nothingThere(_ head: AnswerHead) -> Verdict {
    guard let origin else { return .refuse(.status, keeping: true) }
    guard let total = head.contentRange.flatMap(ContentRange.init)?.total, total == start,
      head.validator == origin.validator
    else { return .discard }
    return .isComplete
  }

  /// Whether a part is of another version, or may be.
  ///
  /// It has to name the tag of its version (15.3.7); of its date it need not speak.
  private func isOtherVersion(_ head: AnswerHead) -> Bool {
    switch origin?.validator {
    case .tag(let tag): head.tag != tag
    case .date(let date): head.lastModified != nil && head.lastModified != date
    case nil: true
    }
  }
}
