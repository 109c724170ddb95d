import Basics
import Foundation
import TestSupport
import Testing

@testable import Shell

/// What 'exercise take' writes; `.ci/long taken` builds it.
@Suite(.watched) struct `A package taken home` {
  private let code = """
    import Grading
    import Limiters

    final class MyLimiter: LearnerLimiter {
      init(limit: Int) {}
    }

    """

  private func text(_ path: String, of package: TakenPackage) throws -> String {
    try #require(package.files.first { $0.path == path }?.text)
  }

  @Test func `has the learner's file without what graded it, and depends on this package`() throws {
    let package = TakenPackage(name: "my-limiter", root: #"/a "lab"\here"#, code: code)
    let limiter = try text("Sources/Limit/MyLimiter.swift", of: package)
    #expect(limiter == code.replacing("import Grading\n", with: ""))
    let manifest = try text("Package.swift", of: package)
    #expect(manifest.contains(#"path: "/a \"lab\"\\here")"#))
    #expect(manifest.contains(#"name: "my-limiter","#))
    #expect(package.files.allSatisfy { !$0.text.contains("{{") && $0.text.hasSuffix("\n") })
  }

  @Test func `builds the file by the settings that the lab builds it by`() throws {
    let manifest = try text(
      "Package.swift",
      of: TakenPackage(name: "my-limiter", root: "/lab", code: code)
    )
    let ours = try String(contentsOfFile: packageFolder + "/Package.swift", encoding: .utf8)
    let settings = ours.split(separator: "\n").filter { $0.contains(".enableUpcomingFeature(") }
    #expect(!settings.isEmpty)
    for setting in settings { #expect(manifest.contains(setting), "\(setting)") }
  }

  @Test func `is written whole into a folder of its own`() throws {
    let scratch = try ScratchFolder()
    let package = TakenPackage(name: "my-limiter", root: "/lab", code: code)
    try package.write(to: scratch.path + "/my-limiter")
    for (path, text) in package.files {
      let written = try String(
        contentsOfFile: scratch.path + "/my-limiter/" + path,
        encoding: .utf8
      )
      #expect(written == text)
    }
  }
}
