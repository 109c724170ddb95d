import Basics
import Foundation
import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct ProgressStoreTests {
  /// A folder of the test's own, gone afterwards.
  private final class Folder {
    let path = NSTemporaryDirectory() + "progress-" + UUID().uuidString
    var store: ProgressStore { ProgressStore(file: path + "/state/progress.json") }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private func pass(_ section: String, in progress: inout LearnerProgress) {
    var record = SectionRecord()
    record.passed = "2026-01-01T00:00:00Z"
    progress.lessons["a-gate", default: LessonRecord()].sections[section] = record
  }

  @Test func `what is kept is there again, as text people can read`() throws {
    let folder = Folder()
    #expect(folder.store.load().progress == LearnerProgress())
    #expect(folder.store.update { pass("one", in: &$0) } == nil)
    #expect(folder.store.update { pass("two", in: &$0) } == nil)
    let (progress, notice) = folder.store.load()
    #expect(notice == nil)
    #expect(progress.lessons["a-gate"]?.sections.keys.sorted() == ["one", "two"])
    let text = try String(contentsOfFile: folder.store.file, encoding: .utf8)
    #expect(text.contains("\"schema\" : \"lab-progress/1\""))
    #expect(text.hasSuffix("}\n"))
  }

  @Test func `labs open at once keep each other's progress`() async {
    let folder = Folder()
    let store = folder.store
    await withTaskGroup { group in
      for number in 1...20 {
        group.addTask {
          // Waits for the file's lock: not on a thread of the pool.
          let notice = await onOwnThread {
            store.update { $0.lessons["lesson-\(number)"] = LessonRecord() }
          }
          #expect(notice == nil)
        }
      }
    }
    #expect(folder.store.load().progress.lessons.count == 20)
  }

  @Test(arguments: [
    "", "{", "[]", "nonsense", "{\"schema\": 1}", "{\"schema\": \"lab-progress/1\"}",
    "{\"schema\": \"lab-progress/1\", \"lessons\": {\"a\": 3}}",
  ])
  func `a damaged file is set aside and said so`(_ contents: String) throws {
    let folder = Folder()
    let store = folder.store
    try FileManager.default.createDirectory(
      atPath: folder.path + "/state",
      withIntermediateDirectories: true
    )
    try contents.write(toFile: store.file, atomically: true, encoding: .utf8)
    let notice = try #require(store.update { pass("one", in: &$0) })
    #expect(notice.contains("is damaged; it is kept as \(store.file).set-aside-1"))
    let kept = try String(contentsOfFile: store.file + ".set-aside-1", encoding: .utf8)
    #expect(kept == contents)
    #expect(store.load().progress.lessons["a-gate"]?.sections["one"]?.passed != nil)
    // A second damaged file does not overwrite the first.
    try "{".write(toFile: store.file, atomically: true, encoding: .utf8)
    #expect(store.load().notice?.contains("set-aside-2") == true)
  }

  @Test func `a file that cannot be read is set aside, not lost`() throws {
    let folder = Folder()
    let store = folder.store
    // What nobody can read, a superuser neither.
    let inside = store.file + "/kept"
    try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
    let notice = try #require(store.update { pass("one", in: &$0) })
    #expect(notice.contains("cannot be read; it is kept as \(store.file).set-aside-1"))
    #expect(FileManager.default.fileExists(atPath: store.file + ".set-aside-1/kept"))
    #expect(store.load().progress.lessons["a-gate"]?.sections["one"]?.passed != nil)
  }

  @Test func `a file of another version is set aside, not lost`() throws {
    let folder = Folder()
    let store = folder.store
    _ = store.update { $0.schema = "lab-progress/9" }
    let notice = try #require(store.load().notice)
    #expect(notice.contains("another version ('lab-progress/9')"))
    #expect(FileManager.default.fileExists(atPath: store.file + ".set-aside-1"))
    #expect(store.load().notice == nil)
  }

  @Test func `fields left out have their defaults`() throws {
    let folder = Folder()
    let store = folder.store
    _ = store.update { _ in }
    let text = """
      {"schema": "lab-progress/1", "lessons": {"a-gate": {"sections": {"one": {}}}}}
      """
    try text.write(toFile: store.file, atomically: true, encoding: .utf8)
    let (progress, notice) = store.load()
    #expect(notice == nil)
    #expect(progress.lessons["a-gate"]?.sections["one"] == SectionRecord())
  }

  @Test func `a folder that cannot be written to is said so, with what to do`() throws {
    let folder = Folder()
    // A file where the folder should be: refused even to the superuser.
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try "".write(toFile: folder.path + "/state", atomically: true, encoding: .utf8)
    let notice = try #require(folder.store.update { pass("one", in: &$0) })
    #expect(notice.contains("cannot be kept in"))
    #expect(notice.contains("XDG_STATE_HOME"))
  }
}
