internal import Foundation

/// Files that are there whole or not at all.
package enum WholeFile {
  /// Writes beside the file and moves it into place.
  static func write(_ text: String, to file: Word, replacing: Bool) throws(ShellError) {
    // What a link leads to is written, and the link stays.
    let url = URL(fileURLWithPath: file.text).resolvingSymlinksInPath()
    let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type]
    if type as? FileAttributeType == .typeDirectory {
      throw ShellError("'\(file.text)' cannot be written: it is a folder", at: file)
    }
    let isFile = type == nil || type as? FileAttributeType == .typeRegular
    if !replacing, type != nil, isFile {
      throw ShellError("'\(file.text)' exists. Add 'force' to replace it", at: file)
    }
    do {
      // A device or a pipe is written to: a file in its place would be the end of it.
      try Data(text.utf8).write(to: url, options: isFile ? .atomic : [])
    } catch {
      throw ShellError("'\(file.text)' cannot be written: \(reason(error))", at: file)
    }
  }

  /// Fails if the file's folder is not there or it is a folder itself, before anything long is done for it.
  static func checkFolder(of file: Word) throws(ShellError) {
    let url = URL(fileURLWithPath: file.text).resolvingSymlinksInPath()
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue
    {
      throw ShellError("'\(file.text)' cannot be written: it is a folder", at: file)
    }
    let parent = url.deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue
    else {
      throw ShellError("'\(file.text)' cannot be written: there is no folder \(parent)", at: file)
    }
  }

  /// Writes behind what is in a file, which is made if it is not there.
  static func add(_ text: String, to file: Word) throws(ShellError) {
    do {
      let old =
        FileManager.default.fileExists(atPath: file.text) ? try Self.text(of: file.text) : ""
      try write(old + text, to: file, replacing: true)
    } catch let error as ShellError {
      throw error
    } catch {
      throw ShellError("'\(file.text)' cannot be read: \(reason(error))", at: file)
    }
  }

  /// The text of a file, or of a device or a pipe until its end.
  package static func text(of path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    let data = try file.readToEnd() ?? Data()
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CocoaError(.fileReadInapplicableStringEncoding)
    }
    return text
  }

  /// Why a file cannot be read.
  package static func reason(_ error: any Error, reading path: String) -> String {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    )
    let isFolder = attributes?[.type] as? FileAttributeType == .typeDirectory
    return isFolder ? "it is a folder" : reason(error)
  }

  /// What the system says went wrong.
  package static func reason(_ error: any Error) -> String {
    let error = error as NSError
    if error.domain == NSPOSIXErrorDomain {
      // A part of a sentence, as those below are.
      let text = String(cString: strerror(Int32(error.code)))
      return text.prefix(1).lowercased() + text.dropFirst()
    }
    if let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError {
      return reason(underlying)
    }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file or directory"
    case .fileReadNoPermission, .fileWriteNoPermission: return "permission denied"
    case .fileWriteOutOfSpace: return "the disk is full"
    case .fileReadInapplicableStringEncoding, .fileReadCorruptFile, .fileReadUnknownStringEncoding:
      return "it is not UTF-8 text"
    default:
      // A sentence of Foundation's; the one that it becomes a part of has a full stop of its own.
      let text = error.localizedDescription
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
  }
}
