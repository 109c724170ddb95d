import Foundation
import TestSupport
import Testing

@Suite(.watched) struct `The public interface` {
  private static let records = "Tests/PublicInterfaces"

  /// To change an interface deliberately, run this test with RECORD_INTERFACES set, and commit the record.
  @Test func `of each recorded library is the recorded one`() throws {
    let records = try SourceTree.files(in: Self.records, withExtensions: ["txt"])
    try #require(!records.isEmpty)
    for record in records {
      let sources = try SourceTree.files(in: "Sources/\(record.name)", withExtensions: ["swift"])
      let interface = PublicInterface(of: sources)
      if ProcessInfo.processInfo.environment["RECORD_INTERFACES"] != nil {
        let text = interface.lines.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: SourceTree.root.appending(path: record.path))
        continue
      }
      let recorded = record.lines.filter { !$0.isEmpty }
      for line in interface.missing(from: recorded) {
        Issue.record("\(record.name) lost what other packages may use: \(line)")
      }
      for line in PublicInterface(of: sources).lines where !recorded.contains(line) {
        Issue.record(
          "\(record.name) has something public that \(record.path) does not list: \(line)"
        )
      }
    }
  }

  @Test func `is read from declarations on one line or several, with what they stand in`() {
    let file = SourceFile(
      path: "Sources/A/B.swift",
      text: """
        public import C

        /// A public thing.
        public final class Thing<Element: Sendable>: Sendable {
          public enum Order: Sendable {
            case first
            case bounded(by: Duration)
          }
          enum Inner {
            case hidden
          }

          public var count: Int { lock.withLock { $0 } }

          @inlinable
          public func run<Value>(
            weight: Int = 1,
            _ body: () async throws -> Value
          ) async throws -> Value {
            switch weight {
            case 1: 2
            }
          }
        }

        extension Thing where Element: Actor {
          public func stop() {}
        }
        """
    )
    #expect(
      PublicInterface(of: [file]).lines == [
        "Thing.Order: case bounded(by: Duration)",
        "Thing.Order: case first",
        "Thing: public enum Order: Sendable",
        "Thing: public func run<Value>(weight: Int = 1, _ body: () async throws -> Value) async throws -> Value",
        "Thing: public func stop()",
        "Thing: public var count: Int",
        "public final class Thing<Element: Sendable>: Sendable",
      ]
    )
  }
}
