import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.watched) struct `A scratch folder` {
  /// A prefix that no other test uses.
  private let prefix = "scratch-\(UUID().uuidString)"
  private let parent = FileManager.default.temporaryDirectory.path

  private var there: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [])
      .filter { $0.hasPrefix(prefix) }
  }

  private func write(in folder: String) throws {
    let inner = folder + "/inner"
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
    try Data("bytes".utf8).write(to: URL(fileURLWithPath: inner + "/file"))
    try FileManager.default.createSymbolicLink(atPath: inner + "/out", withDestinationPath: "/etc")
  }

  @Test func `goes with the object, and with all that is in it`() throws {
    do {
      let folder = try ScratchFolder(prefix)
      try write(in: folder.path)
      #expect(there.count == 1)
      withExtendedLifetime(folder) {}
    }
    #expect(there.isEmpty)
    #expect(FileManager.default.fileExists(atPath: "/etc/passwd"))
  }

  @Test func `of a process that ended goes when the next is made, and one in use stays`() throws {
    // As a process leaves it that was killed: there, and locked by nobody.
    let left = "\(parent)/\(prefix)-left"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
    try write(in: left)
    try Data().write(to: URL(fileURLWithPath: left + "/.scratch-folder"))
    let first = try ScratchFolder(prefix)
    #expect(there.count == 1)
    let second = try ScratchFolder(prefix)
    #expect(there.count == 2)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `of somebody else stays, though its name begins alike`() throws {
    let notes = "\(parent)/\(prefix)-notes"
    defer { try? FileManager.default.removeItem(atPath: notes) }
    try write(in: notes)
    // A link with such a name leads into a folder that is not to be touched either.
    let link = "\(parent)/\(prefix)-link"
    defer { unlink(link) }
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: notes)
    let folder = try ScratchFolder(prefix)
    #expect(FileManager.default.fileExists(atPath: notes + "/inner/file"))
    #expect(there.count == 3)
    withExtendedLifetime(folder) {}
  }

  @Test func `is told with its path and the reason where it cannot be made`() {
    let error = #expect(throws: ScratchFolder.Unavailable.self) {
      try ScratchFolder("no/such/folder/\(prefix)")
    }
    #expect(error?.description.contains("No such file or directory") == true)
    #expect(error?.description.contains("TMPDIR") == true)
  }
}
