import Synchronization
import Testing

// Helpers that stand once.
//
// Each of these was written twice or more before it got a place of its own. A second one works just as
// well, until one of the two is mended. So each helper names what gives it away in code; where
// that stands in two files, one of them should use the other.

struct Helper: CustomTestStringConvertible {
  var name: String
  /// What its code contains: all strings of one of these, within a few lines.
  ///
  /// Compared without case and without the underscores of numbers.
  var signs: [[String]]
  /// How many lines the strings of a sign may span.
  var reach = 1

  var testDescription: String { name }

  static let all = [
    Helper(name: "the monotonic clock", signs: [["clock_gettime("], ["uptimeNanoseconds"]]),
    Helper(
      name: "a thread of one's own",
      signs: [["pthread_create("], [" Thread {"], [" Thread("], ["detachNewThread"]]
    ),
    Helper(name: "SplitMix64", signs: [["0xBF58476D1CE4E5B9"], ["0x94D049BB133111EB"]]),
    Helper(name: "the escaping of XML", signs: [["\"&amp;\""]]),
    Helper(
      name: "the starting of child processes",
      signs: [["posix_spawn("], [" Process()"], ["import Subprocess"], ["popen("]]
    ),
    // Only what reads durations knows both ways to type a microsecond.
    Helper(name: "durations read from text", signs: [["\"us\"", "\"µs\""]], reach: 3),
    Helper(name: "a list cut short: 'a, b and 3 more'", signs: [["and \\(", " more\""]]),
    Helper(
      name: "the label of a task",
      signs: [["\"t\" + "], ["\"t\\("], ["\"t0\\("]]
    ),
  ]

  /// Those that stand more than once to this day; an entry goes when the second one does.
  static let known: Set = ["a thread of one's own", "the starting of child processes"]

  /// The places where `files` write the helper, one a file.
  func places(in files: [SourceFile]) -> [Finding] {
    let signs = signs.map { $0.map(Self.plain) }
    return files.compactMap { file in
      // Most files have none of it: one look at the whole text says so.
      let text = Self.plainText(of: file)
      guard signs.contains(where: { text.holds($0[0]) }) else { return nil }
      let code = file.lines.map(Self.code)
      let line = code.indices.first { index in
        // The first string on this very line, so that the line reported is the one to look at.
        let begun = signs.filter { code[index].holds($0[0]) }
        if begun.isEmpty { return false }
        let near = code[index..<min(index + reach, code.count)].joined(separator: "\n")
        return begun.contains { $0.allSatisfy(near.holds) }
      }
      return line.map { Finding(path: file.path, line: $0 + 1, message: "writes \(name)") }
    }
  }

  /// What is found where a helper stands more than once.
  func findings(in files: [SourceFile]) -> [Finding] {
    let places = places(in: files)
    return places.dropFirst().map { place in
      Finding(
        path: place.path,
        line: place.line,
        message:
          "writes \(name) again, as \(places[0].path):\(places[0].line ?? 0) does; use one for both"
      )
    }
  }

  /// The line without its comment, for comparing.
  private static func code(_ line: String) -> String {
    let isComment = line.trimmingPrefix { $0 == " " }.hasPrefix("//")
    return isComment ? "" : plain(line)
  }

  /// What was made plain before: each helper looks at the same files.
  private static let plainTexts = Mutex<[String: String]>([:])

  private static func plainText(of file: SourceFile) -> String {
    plainTexts.withLock { texts in
      if let text = texts[file.text] { return text }
      let text = plain(file.text)
      texts[file.text] = text
      return text
    }
  }

  private static func plain(_ text: String) -> String {
    text.replacing("_", with: "").lowercased()
  }
}
