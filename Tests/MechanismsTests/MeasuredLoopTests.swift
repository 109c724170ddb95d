import Foundation
import Mechanisms
import TestSupport
import Testing

/// What the bench measures is the call as users write it: how the loops are written, not how long they take.
@Suite(.watched) struct `The measured loops` {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.sources.appendingPathComponent(path), encoding: .utf8)
  }

  /// The functions of a file that the bench times, each with its body.
  private func loops(_ text: String) -> [String] {
    text.components(separatedBy: "package func ").dropFirst()
      .filter { $0.hasPrefix("passes(") || $0.hasPrefix("visits<Body: VisitBody>(") }
      .map { String($0[..<($0.range(of: "\n  }\n")?.upperBound ?? $0.endIndex)]) }
  }

  @Test(arguments: Catalogue.mechanisms.map(\.id))
  func `stand in the adapter's own file, without counters, closures or existentials`(
    id: String
  ) throws {
    let words = id == "none" ? ["No", "Limit"] : id.split(separator: "-").map(\.capitalized)
    let name = words.joined().replacing("Gcd", with: "GCD").replacing("Fifo", with: "FIFO")
    let loops = loops(try text("Mechanisms/\(name)Mechanism.swift"))
    #expect(loops.contains { $0.hasPrefix("visits") }, "\(id)")
    for loop in loops {
      #expect(loop.contains("0..<times") || loop.contains("visits(times"), "\(loop)")
      for word in ["any ", "@escaping", "increment", "withLock", "Atomic", "carry(", "tracer"] {
        #expect(!loop.contains(word), "\(id): \(word)")
      }
    }
  }

  /// So the rows of `call-*` and of the adapters in `uncontended` are of one call.
  @Test(arguments: [
    ("Limiter", "limiter.run {}"), ("Pool", "pool.withElement { _ in }"),
    ("FIFOQueue", "queue.enqueueAndWait {}"),
  ])
  func `make the very calls that are measured without an adapter`(
    adapter: String,
    call: String
  ) throws {
    let loop = "for _ in 0..<times { try? await \(call) }"
    #expect(try text("Mechanisms/\(adapter)Mechanism.swift").contains(loop))
    #expect(try text("Benchmarking/Measure/BenchWorkloads/Calls.swift").contains(loop))
  }
}
