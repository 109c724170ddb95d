import Foundation
import RealWork
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The fields by which client and server agree on a part of a file.
@Suite(.watched) struct `Fields of HTTP` {
  @Test func `a part is taken if it lies in the file and does not end before it begins`() {
    for first in 0...4 {
      for last in 0...4 {
        for total in 0...4 {
          let range = ContentRange("bytes \(first)-\(last)/\(total)")
          let isRight = first <= last && last < total
          #expect((range != nil) == isRight, "\(first)-\(last)/\(total)")
          if isRight { #expect(range?.bytes == first...last && range?.total == total) }
        }
        #expect((ContentRange("bytes \(first)-\(last)/*") != nil) == (first <= last))
      }
    }
    #expect(ContentRange("bytes */7")?.total == 7)
    #expect(ContentRange("bytes */7")?.bytes == nil)
    #expect(ContentRange("BYTES 0-0/1")?.bytes == 0...0)
    for wrong in [
      "", "bytes", "bytes */*", "bytes 0-1", "bytes 0-1/", "bytes -1/2", "bytes 0-/2",
      "bytes +0-1/2", "bytes 0-+1/2", "bytes 0-1/+2", "bytes 0-1/2/3", "bytes 0-1-2/3",
      "items 0-1/2", "bytes=0-1/2", "bytes 0-1/2 3", "bytes 0-99999999999999999999/*",
    ] {
      #expect(ContentRange(wrong) == nil, "\(wrong)")
    }
  }

  @Test func `a server sends the bytes that are asked for and there, or says that none is`() {
    for length in 0...4 {
      let all = Array(0..<length)
      func ask(_ range: String, _ wanted: [Int]) {
        let selection = RangeSelection(range: range, ifRange: nil, tag: "\"1\"", length: length)
        let sent = selection.bytes.map(Array.init)
        #expect(sent == (wanted.isEmpty ? nil : wanted), "\(range) of \(length)")
        let named =
          wanted.isEmpty
          ? "bytes */\(length)" : "bytes \(wanted[0])-\(wanted[wanted.count - 1])/\(length)"
        #expect(selection.contentRange == named, "\(range) of \(length)")
      }
      for first in 0...5 {
        ask("bytes=\(first)-", all.filter { $0 >= first })
        ask("bytes=-\(first)", all.suffix(first))
        for last in first...5 {
          ask("bytes=\(first)-\(last)", all.filter { (first...last).contains($0) })
        }
      }
    }
  }

  @Test func `a server sends the whole where it does not understand, or has another version`() {
    for range in [
      nil, "", "bytes", "bytes=", "bytes=-", "bytes=2-1", "bytes=a-1", "bytes=0-1,3-4", "items=0-1",
      "bytes=+0-1", "bytes=0-1-2",
    ] {
      let selection = RangeSelection(range: range, ifRange: nil, tag: "\"1\"", length: 9)
      #expect(selection.bytes == 0..<9 && selection.contentRange == nil, "\(range ?? "none")")
    }
    for (condition, isPart) in [("\"1\"", true), ("\"2\"", false), ("W/\"1\"", false)] {
      let part = RangeSelection(range: "bytes=3-", ifRange: condition, tag: "\"1\"", length: 9)
      #expect(part.bytes == (isPart ? 3..<9 : 0..<9), "\(condition)")
    }
  }

  @Test func `a pause is in seconds, or to a date, and never less than nothing`() throws {
    let now = try #require(httpDate("Sun, 06 Nov 1994 08:49:37 GMT"))
    #expect(now.timeIntervalSince1970 == 784_111_777)
    #expect(retryAfter("120", now: now) == .seconds(120))
    #expect(retryAfter(" 7 ", now: now) == .seconds(7))
    #expect(retryAfter("Sun, 06 Nov 1994 08:50:07 GMT", now: now) == .seconds(30))
    // Not a moment before.
    #expect(
      retryAfter("Sun, 06 Nov 1994 08:50:07 GMT", now: now.addingTimeInterval(0.4)) == .seconds(30)
    )
    #expect(retryAfter("Sun, 06 Nov 1994 08:49:07 GMT", now: now) == .zero)
    for wrong in [nil, "", "-1", "+1", "1.5", "soon", "Sun, 31 Feb 1994 08:49:37 GMT"] {
      #expect(retryAfter(wrong, now: now) == nil, "\(wrong ?? "none")")
    }
  }

  @Test func `a date is one of the calendar, in the one form that a sender may use`() {
    for wrong in [
      "", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 06 Nov 1994 08:49:37 CET",
      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 nov 1994 08:49:37 GMT",
    ] {
      #expect(httpDate(wrong) == nil, "\(wrong)")
    }
    #expect(httpDate("Thu, 29 Feb 2024 00:00:00 GMT") != nil)
  }

  @Test func `errors of the network may pass, and those of the request do not`() {
    for code in [
      .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
      .notConnectedToInternet, .badServerResponse, .cannotParseResponse, .unknown,
    ] as [URLError.Code] {
      #expect(isWorthRetrying(URLError(code)), "\(code)")
    }
    for code in [
      .badURL, .unsupportedURL, .cancelled, .userAuthenticationRequired, .httpTooManyRedirects,
      .cannotWriteToFile,
    ] as [URLError.Code] {
      #expect(!isWorthRetrying(URLError(code)), "\(code)")
    }
  }

  @Test func `a pause that a server asks for is kept up to the longest one, and never shortened`() {
    func pause(_ asked: Duration) -> Duration? {
      var backoff = Backoff(first: .seconds(2), most: .seconds(8), seed: 1)
      let url = URL(fileURLWithPath: "/file")
      return backoff.pause(after: BadStatus(status: 503, url: url, pauseAskedFor: asked))
    }
    #expect(pause(.seconds(7)) == .seconds(7))
    #expect(pause(.seconds(8)) == .seconds(8))
    #expect(pause(.milliseconds(8_001)) == nil)
  }

  @Test func `where a tag is weak its date is no validator either`() {
    let made = "Sun, 06 Nov 1994 08:49:37 GMT"
    let later = "Sun, 06 Nov 1994 08:59:37 GMT"
    #expect(Validator(tag: nil, lastModified: made, date: later) == .date(made))
    #expect(Validator(tag: "W/\"1\"", lastModified: made, date: later) == nil)
    #expect(Validator(tag: "\"1\"", lastModified: made, date: later) == .tag("\"1\""))
  }
}
