import Basics
import Experiments
import Foundation
import LessonBook
import Mechanisms
import TestSupport
import Testing

@testable import Shell

/// Lines that nobody would type, and lines that somebody nearly typed.
///
/// Every one comes from a seed that is printed when something is wrong with it. In an optimised build
/// there are a million, else enough to be quick; `FUZZ_SEED` begins elsewhere.
@Suite(.watched) struct FuzzTests {
  #if DEBUG
  static let count = longTestsRun ? 10_000 : searchesRun ? 4_000 : 1_000
  #else
  static let count = 1_000_000
  #endif

  private static let firstSeed =
    ProcessInfo.processInfo.environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 0

  @Test
  func `no line stops the reading of lines, and what is refused is refused with a reason`() async {
    let session = Lab().session
    for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.count) {
      var maker = LineMaker(seed: seed)
      let line = maker.line()
      if let fault = await session.faultInReading(line) {
        Issue.record("seed \(seed), \(line.debugDescription): \(fault)")
        return
      }
    }
  }

  @Test
  func `no cursor in no line stops completion`() {
    for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.count / 20) {
      var maker = LineMaker(seed: seed)
      let line = maker.line()
      let cursor = Int(maker.random.next() % UInt64(line.count + 1))
      let completions = Completions(of: line, cursor: cursor, tasks: 12, lessons: ["1"])
      #expect(
        completions.range.upperBound == cursor && completions.range.lowerBound >= 0,
        "\(seed)"
      )
    }
  }

  /// Carried out by a real session, where that takes no time.
  @Test
  func `a session takes any line, and one that fails changes nothing`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    var done = 0
    var failed = 0
    for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.count / 10) {
      var maker = LineMaker(seed: seed)
      let line = maker.smallLine(in: scratch.path)
      guard await lab.session.isQuick(line) else { continue }
      let before = await lab.session.fingerprint
      let outcome = await lab.outcome(of: line)
      if !outcome.contains(.failed) {
        done += 1
      } else {
        failed += 1
        let after = await lab.session.fingerprint
        #expect(after == before, "seed \(seed), \(line.debugDescription)")
        #expect(!lab.output.takeComplaints().isEmpty, "seed \(seed), \(line.debugDescription)")
      }
      _ = lab.output.takeText()
    }
    await lab.session.leave()
    #expect(done > Self.count / 500 && failed > Self.count / 500, "\(done) done, \(failed) failed")
  }
}

/// Makes a line from a seed.
private struct LineMaker {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private static let words: [String] =
    CommandTable.commands.map(\.name) + Catalogue.mechanisms.map(\.id)
    + Catalogue.specimens.map(\.id) + HelpTopic.all.map(\.name)
    + CommandTable.commands.flatMap(\.keys).flatMap { key in
      [key.name + "="] + key.candidates.map { "\(key.name)=\($0)" }
    }
    + [
      "0", "1", "3", "12", "-1", "+5", "1e9", "99999999999999999999", "t01", "t99", "all", "force",
      "=", "<=", "makespan", "waiting(t02)", "400ms", "10%", "200/s", "..", "1.5.5s", "5%..", "@",
      "t03@", "t03@5ms", "\"", "\\", "#", ";", "日本", "e\u{301}", "\u{1F9EA}", "\u{0}", "\u{7}",
      "'", "--specimens", "on", "off", "v3:limiter-2-1-none:0:1,2",
    ]
  private static let examples = CommandTable.commands.flatMap(\.examples)
  private static let characters = Array(
    "abcdefgilmnoprstwy0123456789=;:,.%@/#\"\\ \t\n\r'-_<>()日é\u{0}\u{1F9EA}\u{301}"
  )

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int(random.next() % UInt64(values.count))]
  }

  mutating func line() -> String {
    switch random.next() % 4 {
    case 0:
      // Characters.
      return String((0..<random.next() % 40).map { _ in pick(Self.characters) })
    case 1:
      // Words.
      return (0..<random.next() % 9).map { _ in pick(Self.words) }.joined(separator: " ")
    case 2:
      // A right line, somewhat wrong.
      var line = Array(pick(Self.examples))
      for _ in 0...random.next() % 4 { mutate(&line) }
      return String(line)
    default:
      // A right line, or nearly.
      var line = Array(pick(Self.examples))
      if random.next() % 2 == 0 { mutate(&line) }
      return String(line)
    }
  }

  private mutating func mutate(_ line: inout [Character]) {
    let place = Int(random.next() % UInt64(line.count + 1))
    switch random.next() % 6 {
    case 0: line.insert(pick(Self.characters), at: place)
    case 1 where place < line.count: line.remove(at: place)
    case 2 where place < line.count: line[place] = pick(Self.characters)
    case 3: line.insert(contentsOf: pick(Self.words) + " ", at: place)
    case 4 where place + 1 < line.count: line.swapAt(place, place + 1)
    default: line = Array(line.prefix(place)) + Array(line.suffix(line.count - place).reversed())
    }
  }

  /// A single command, and files only in the folder.
  mutating func smallLine(in folder: String) -> String {
    let line = String(line().map { ";>|".contains($0) || $0.isNewline ? " " : $0 })
    return line.replacing("/", with: "").replacing("run.svg", with: folder + "/run.svg")
  }
}

extension Session {
  /// Reads a line as far as can be done without carrying it out, and says what is wrong with that.
  fileprivate func faultInReading(_ line: String) -> String? {
    do {
      for words in try Lexer.commands(in: line) {
        guard let name = words.first else { return "a command without a word" }
        let command = try CommandTable.resolve(name)
        let arguments = try Arguments(command, name: name, words: words.dropFirst())
        switch command.name {
        case "run", "spawn": _ = try experiment(arguments)
        case "set", "use":
          var settings = settings
          try settings.apply(arguments)
        default: break
        }
      }
      return nil
    } catch let error as ShellError {
      if error.message.isEmpty { return "no reason" }
      guard let range = error.range else { return nil }
      // A missing value is told where it should stand, behind the line's end.
      return range.upperBound <= line.count ? nil : "\(range) is not in the line"
    } catch {
      return "\(error)"
    }
  }

  /// Whether carrying it out takes next to no time: a small run in virtual time.
  fileprivate func isQuick(_ line: String) -> Bool {
    guard let words = try? Lexer.commands(in: line).first, let name = words.first,
      let command = try? CommandTable.resolve(name),
      let arguments = try? Arguments(command, name: name, words: words.dropFirst())
    else { return true }
    switch command.name {
    case "run", "spawn":
      guard let experiment = try? experiment(arguments) else { return true }
      return experiment.resolvedClock == .virtual && experiment.workload.count <= 40
    case "compare", "race":
      let entries = arguments.places.compactMap { try? Names.mechanism($0) }
      // Without a name it would be all of them, on the wall clock.
      return !entries.isEmpty
        && entries.allSatisfy { entry in
          arguments.places.first { $0.text.first?.isNumber == true }.map { count in
            let experiment = try? experiment(arguments, count: count, mechanism: entry)
            return experiment.map { $0.resolvedClock == .virtual && $0.workload.count <= 40 }
              ?? true
          } ?? true
        }
    case "repeat":
      // As quick as what is repeated, where that is not often.
      let places = arguments.places
      guard let times = places.first.flatMap({ Int($0.text) }), times <= 5 else { return false }
      return isQuick(places.dropFirst().map(\.text).joined(separator: " "))
    // These look at thousands of schedules, start a process, or write a file.
    case "explore", "replay", "step", "puzzle", "starve", "exercise", "grade", "inversion",
      "visits":
      return false
    // Settings that make the next runs long.
    case "set": return !line.contains("clock") && !line.contains("real")
    case "use":
      return arguments.places.first.flatMap { try? Names.mechanism($0) }?.profile.clock == .any
    default: return true
    }
  }

  /// What a later command could build on.
  fileprivate var fingerprint: [String] {
    [
      "\(settings)", "\(runs.last?.events.count ?? -1)", "\(background?.run.plan.count ?? -1)",
      "\(background?.run.now ?? -1)", "\(classroom.visit.map { "\($0.section)" } ?? "")",
    ]
  }
}
