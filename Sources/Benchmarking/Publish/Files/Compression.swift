internal import Experiments
internal import Foundation

/// Files that `gzip` has packed, which every system of this kind has, and which programs that read tables open by name.
package enum Compression {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package static let suffix = ".gz"

  /// Packs the files, each of which then is where it was with `.gz` behind its name.
  package static func pack(_ names: [String], in folder: String) async throws {
    guard !names.isEmpty else { return }
    // Without names and times: the same figures give the same bytes.
    _ = try await gzip(["-9", "-n", "-f", "--"] + names.map { "\(folder)/\($0)" })
  }

  /// What a packed file holds.
  package static func text(of path: String) async throws -> String {
    try await gzip(["-d", "-c", "--", path])
  }

  private static func gzip(_ arguments: [String]) async throws -> String {
    let result = try await ChildProcess.run(
      "/usr/bin/env",
      ["gzip"] + arguments,
      timeLimit: .seconds(600)
    )
    guard result.ending == .exited(0) else {
      let said = result.errors.trimmingCharacters(in: .whitespacesAndNewlines)
      throw Failure(description: "gzip could not do it: \(said). Is it installed?")
    }
    return result.output
  }
}
