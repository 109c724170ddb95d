internal import Foundation

/// An earlier run, read back from its folder.
package struct EarlierRun: Sendable {
  package enum Failure: Error, CustomStringConvertible {
    case unreadable(String, String)

    package var description: String {
      switch self {
      case .unreadable(let folder, let reason):
        "--baseline \(folder) is not the folder of a run: \(reason). Name one such as "
          + "Results/2026-11-20-quick-1"
      }
    }
  }

  package let figures: PublishedFigures
  private let environment: EnvironmentRecord

  package init(folder: String) throws(Failure) {
    func text(_ name: String) -> String? {
      try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    guard let results = text("results.csv") else {
      throw .unreadable(folder, "it has no results.csv")
    }
    guard let environment = text("env.json"),
      let record = try? EnvironmentRecord(json: environment)
    else { throw .unreadable(folder, "it has no readable env.json") }
    self.environment = record
    do {
      figures = try PublishedFigures(csv: results)
    } catch {
      throw .unreadable(folder, "\(error)")
    }
  }

  /// Whether the processors were as far apart, as far as that is known.
  func isOfSameDistance(as current: EnvironmentRecord) -> Bool {
    guard let then = environment.distance, let now = current.distance else { return true }
    return max(then, now) <= CountedBlocks.reach * min(then, now)
  }

  /// What was not the same when it was measured, as lines for people: reasons to doubt a comparison.
  package func differences(from current: EnvironmentRecord) -> [String] {
    let pairs: [(String, String?, String?)] = [
      ("processor", environment.processor, current.processor),
      (
        "processors", environment.processorsOnline.map { String($0) },
        current.processorsOnline.map { String($0) }
      ),
      ("toolchain", environment.toolchain, current.toolchain),
      ("kernel", environment.kernel, current.kernel),
      ("optimised", String(environment.optimised), String(current.optimised)),
    ]
    let differences = pairs.compactMap { name, then, now in
      then == now ? nil : "\(name) was \(then ?? "unknown"), is \(now ?? "unknown")"
    }
    guard !isOfSameDistance(as: current), let then = environment.distance,
      let now = current.distance
    else { return differences }
    return differences + [
      "a word of memory took \(Quantity.digits(then)) ns from one processor to another and back, and takes "
        + "\(Quantity.digits(now)) ns now; no regression is judged"
    ]
  }
}
