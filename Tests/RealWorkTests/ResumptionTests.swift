import Foundation
import RealWork
import TestSupport
import Testing

/// What is asked for when a part of a file is there, and what an answer does to it: every rule by itself.
@Suite(.watched) struct `Going on with a file that was cut off` {
  private let tag = "\"v1\""

  private func origin(
    url: String = "/a",
    _ validator: Validator? = .tag("\"v1\""),
    length: Int? = 100
  ) -> Origin { Origin(url: url, validator: validator, length: length) }

  private func resumption(there: Int = 40) -> Resumption {
    Resumption(url: "/a", there: there, from: origin())
  }

  private func part(_ range: String?, length: Int? = nil, tag: String? = "\"v1\"") -> AnswerHead {
    AnswerHead(status: 206, contentRange: range, contentLength: length, tag: tag)
  }

  @Test func `asks for the rest of the version that is there, and for the whole otherwise`() {
    #expect(resumption().fields?.range == "bytes=40-")
    #expect(resumption().fields?.ifRange == "\"v1\"")
    #expect(resumption().start == 40)
    let date = Validator.date("Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(
      Resumption(url: "/a", there: 1, from: origin(date)).fields?.ifRange
        == "Sun, 06 Nov 1994 08:49:37 GMT"
    )
    let others = [
      Resumption(url: "/a", there: 0, from: origin()), Resumption(url: "/a", there: 40, from: nil),
      Resumption(url: "/b", there: 40, from: origin()),
      Resumption(url: "/a", there: 40, from: origin(nil)),
    ]
    for other in others {
      #expect(other.fields == nil)
      #expect(other.start == 0)
    }
  }

  @Test func `a whole file begins anew, with what the answer says of it`() {
    let head = AnswerHead(status: 200, contentLength: 7, tag: "\"v2\"")
    let anew = Resumption.Verdict.beginAnew(
      Origin(url: "/a", validator: .tag("\"v2\""), length: 7)
    )
    #expect(resumption().verdict(on: head) == anew)
    #expect(Resumption(url: "/a", there: 0, from: nil).verdict(on: head) == anew)
    #expect(
      resumption().verdict(on: AnswerHead(status: 200))
        == .beginAnew(Origin(url: "/a", validator: nil, length: nil))
    )
  }

  @Test(arguments: ["bytes 40-99/100", "bytes 40-99/*", "BYTES 40-99/100"])
  func `the part that was asked for goes behind what is there`(_ range: String) {
    #expect(resumption().verdict(on: part(range)) == .goOn(origin()))
    #expect(resumption().verdict(on: part(range, length: 60)) == .goOn(origin()))
  }

  @Test func `a part says how long the file is, if that was not known`() {
    let unknown = Resumption(url: "/a", there: 40, from: origin(length: nil))
    #expect(unknown.verdict(on: part("bytes 40-99/100")) == .goOn(origin(length: 100)))
  }

  @Test func `a part of which nobody knows whether it is all of the rest is refused`() {
    let unknown = Resumption(url: "/a", there: 40, from: origin(length: nil))
    for range in ["bytes 40-99/*", "bytes 40-40/*"] {
      #expect(
        unknown.verdict(on: part(range))
          == .refuse(.fault(.range(range, askedFrom: 40)), keeping: false)
      )
    }
  }

  @Test(
    arguments: [
      "bytes 0-99/100", "bytes 39-99/100", "bytes 41-99/100", "bytes 40-98/100", "bytes 40-98/*",
      "bytes 40-100/100", "bytes 99-40/100", "bytes */100", "bytes", "", "bytes 40-99", "40-99/100",
      "bytes 40-/100", "bytes -40/100", "bytes +40-99/100", "bytes 40-99/1e2", "items 40-99/100",
    ]
  )
  func `another part than was asked for is refused, and what is there goes`(_ range: String) {
    #expect(
      resumption().verdict(on: part(range))
        == .refuse(.fault(.range(range, askedFrom: 40)), keeping: false)
    )
  }

  @Test func `a part that nobody asked for is refused`() {
    #expect(
      Resumption(url: "/a", there: 0, from: nil).verdict(on: part("bytes 0-99/100"))
        == .refuse(.fault(.range("bytes 0-99/100", askedFrom: 0)), keeping: false)
    )
    #expect(
      resumption().verdict(on: part(nil))
        == .refuse(.fault(.range("", askedFrom: 40)), keeping: false)
    )
  }

  @Test func `the rest of another version is refused, by its tag, its date or its length`() {
    let other = Resumption.Verdict.refuse(.fault(.otherVersion), keeping: false)
    #expect(resumption().verdict(on: part("bytes 40-99/100", tag: "\"v2\"")) == other)
    #expect(resumption().verdict(on: part("bytes 40-99/100", tag: "W/\"v1\"")) == other)
    #expect(resumption().verdict(on: part("bytes 40-99/100", tag: nil)) == other)
    #expect(resumption().verdict(on: part("bytes 40-100/101")) == other)
    let dated = Resumption(
      url: "/a",
      there: 40,
      from: origin(.date("Sun, 06 Nov 1994 08:49:37 GMT"))
    )
    var head = part("bytes 40-99/100", tag: nil)
    head.lastModified = "Sun, 06 Nov 1994 08:49:38 GMT"
    #expect(dated.verdict(on: head) == other)
    head.lastModified = nil
    #expect(
      dated.verdict(on: head) == .goOn(origin(.date("Sun, 06 Nov 1994 08:49:37 GMT")))
    )
    head.lastModified = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(
      dated.verdict(on: head) == .goOn(origin(.date("Sun, 06 Nov 1994 08:49:37 GMT")))
    )
  }

  @Test func `a part whose length contradicts its range is refused`() {
    #expect(
      resumption().verdict(on: part("bytes 40-99/100", length: 59))
        == .refuse(.fault(.length(received: 59, expected: 60)), keeping: false)
    )
  }

  @Test
  func `no byte behind what is there: all is there, if it is the same version, or it is discarded`()
  {
    let all = Resumption(url: "/a", there: 100, from: origin())
    func nothing(_ range: String?, tag: String? = "\"v1\"") -> AnswerHead {
      AnswerHead(status: 416, contentRange: range, tag: tag)
    }
    #expect(all.verdict(on: nothing("bytes */100")) == .isComplete)
    // Announced too long when it was cut off: the server says now how long it is.
    let announcedLonger = Resumption(url: "/a", there: 100, from: origin(length: 200))
    #expect(announcedLonger.verdict(on: nothing("bytes */100")) == .isComplete)
    for range in ["bytes */99", "bytes */101", "bytes */*", "", nil] {
      #expect(all.verdict(on: nothing(range)) == .discard)
    }
    #expect(all.verdict(on: nothing("bytes */100", tag: "\"v2\"")) == .discard)
    #expect(all.verdict(on: nothing("bytes */100", tag: nil)) == .discard)
    // To a request for the whole it is an error like any other, and not asked again.
    #expect(
      Resumption(url: "/a", there: 0, from: nil).verdict(on: nothing("bytes */100"))
        == .refuse(.status, keeping: true)
    )
  }

  @Test(arguments: [204, 301, 302, 304, 400, 404, 429, 500, 503])
  func `another status leaves what is there`(_ status: Int) {
    #expect(
      resumption().verdict(on: AnswerHead(status: status)) == .refuse(.status, keeping: true)
    )
  }

  @Test func `bytes that are encoded are not those of the file`() {
    for status in [200, 206] {
      var head = AnswerHead(status: status, contentRange: "bytes 40-99/100", tag: tag)
      head.contentEncoding = "GZIP"
      #expect(
        resumption().verdict(on: head) == .refuse(.fault(.encoding("gzip")), keeping: true)
      )
    }
    #expect(
      resumption().verdict(
        on: AnswerHead(status: 200, contentLength: 1, contentEncoding: "identity", tag: tag)
      ) == .beginAnew(origin(length: 1))
    )
  }

  @Test func `a validator is strong, or none`() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(Validator(tag: "\"\"", lastModified: nil, date: nil) == .tag("\"\""))
    for tag in ["W/\"v1\"", "v1", "\"", "\"v1"] {
      #expect(Validator(tag: tag, lastModified: date, date: nil) == nil)
    }
    func dated(_ sent: String?) -> Validator? {
      Validator(tag: nil, lastModified: date, date: sent)
    }
    #expect(dated("Sun, 06 Nov 1994 08:50:37 GMT") == .date(date))
    #expect(dated("Sun, 06 Nov 1994 08:50:36 GMT") == nil)
    #expect(dated(nil) == nil)
    #expect(dated("yesterday") == nil)
  }

  @Test func `when to come again is read as seconds or as a date`() throws {
    let now = try #require(httpDate("Sun, 06 Nov 1994 08:49:37 GMT"))
    #expect(now.timeIntervalSince1970 == 784_111_777)
    #expect(retryAfter("120", now: now) == .seconds(120))
    #expect(retryAfter(" 0 ", now: now) == .zero)
    #expect(retryAfter("Sun, 06 Nov 1994 08:51:37 GMT", now: now) == .seconds(120))
    #expect(retryAfter("Sun, 06 Nov 1994 08:00:00 GMT", now: now) == .zero)
    for text in ["-1", "1.5", "soon", "", "99999999999999999999", "Sun, 31 Feb 1994 08:49:37 GMT"] {
      #expect(retryAfter(text, now: now) == nil, "\(text)")
    }
    #expect(retryAfter(nil, now: now) == nil)
  }

  @Test func `a server sends the part that is asked for, of the version that is asked for`() {
    func selection(_ range: String?, _ ifRange: String? = nil, length: Int = 100) -> RangeSelection
    {
      RangeSelection(range: range, ifRange: ifRange, tag: tag, length: length)
    }
    func expect(_ range: String, _ bytes: Range<Int>?, _ field: String?, length: Int = 100) {
      let selection = selection(range, length: length)
      #expect(selection.bytes == bytes, "\(range)")
      #expect(selection.contentRange == field, "\(range)")
    }
    expect("bytes=0-", 0..<100, "bytes 0-99/100")
    expect("bytes=99-", 99..<100, "bytes 99-99/100")
    expect("bytes=100-", nil, "bytes */100")
    expect("bytes=9223372036854775807-", nil, "bytes */100")
    expect("bytes=10-19", 10..<20, "bytes 10-19/100")
    expect("bytes=10-9223372036854775807", 10..<100, "bytes 10-99/100")
    expect("bytes=-10", 90..<100, "bytes 90-99/100")
    expect("bytes=-1000", 0..<100, "bytes 0-99/100")
    expect("bytes=-0", nil, "bytes */100")
    expect("bytes=0-", nil, "bytes */0", length: 0)
    for range in [
      "bytes=20-10", "bytes=", "bytes=-", "bytes=a-", "bytes=0-1,5-6", "items=0-1", "bytes=+1-",
      "bytes=99999999999999999999-",
    ] {
      expect(range, 0..<100, nil)
    }
    #expect(selection("bytes=10-", tag).bytes == 10..<100)
    #expect(selection("bytes=10-", "\"v2\"").bytes == 0..<100)
    #expect(selection("bytes=100-", "\"v2\"").contentRange == nil)
    #expect(selection(nil).bytes == 0..<100)
  }
}
