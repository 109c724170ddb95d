internal import Foundation

/// What a learner takes home: a package of their limiter, with tests that explore it and a bench that measures it.
///
/// Its files are in the folder of the same name; only the learner's own comes from elsewhere.
struct TakenPackage {
  /// What the package is called.
  let name: String
  /// The folder of this package, on which it depends.
  let root: String
  /// The learner's file, as it stands.
  let code: String

  /// The texts, by their paths in the folder.
  var files: [(path: String, text: String)] {
    [
      ("Package.swift", filled(PackageResources.Manifest_txt)),
      ("README.md", filled(PackageResources.ReadMe_txt)),
      ("Sources/Limit/MyLimiter.swift", limiter),
      ("Sources/Limit/Limit.swift", filled(PackageResources.Limit_txt)),
      ("Sources/limit-bench/LimitBench.swift", filled(PackageResources.LimitBench_txt)),
      ("Tests/LimitTests/LimitTests.swift", filled(PackageResources.LimitTests_txt)),
    ]
  }

  /// Writes all of it into a folder that is made for it.
  func write(to folder: String) throws {
    for (path, text) in files {
      let url = URL(fileURLWithPath: folder + "/" + path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try Data(text.utf8).write(to: url, options: .atomic)
    }
  }

  /// The learner's file without the import of what grades it: its protocol is declared in the package.
  private var limiter: String {
    code.replacing(#/(?m)^\s*import\s+Grading\s*\n/#, with: "")
  }

  private func filled(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
      .replacing("{{NAME}}", with: Self.quoted(name))
      .replacing("{{LAB}}", with: Self.quoted(root))
  }

  /// As it stands in a string of a manifest.
  private static func quoted(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }
}
