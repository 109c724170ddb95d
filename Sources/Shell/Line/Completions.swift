internal import Experiments
internal import Foundation
internal import LessonBook
internal import Mechanisms
internal import Synchronization

/// What could stand at the cursor of a line: read from the table of commands.
package struct Completions: Hashable, Sendable {
  package struct Candidate: Hashable, Sendable {
    package var text: String
    package var description: String?
    /// Whether the word is finished by it: `limit=` is not, nor is a folder.
    package var isWhole: Bool
  }

  /// The characters that a candidate would replace.
  package var range: Range<Int>
  package var candidates: [Candidate]
  /// What the runs in the background are called by.
  private let runs: [String]

  /// The completions of `line` with the cursor after its first `cursor` characters.
  ///
  /// `tasks` is how many tasks the views could be asked about, `runs` what those in the background are called.
  package init(
    of line: String,
    cursor: Int,
    tasks: Int,
    runs: [String] = [],
    lessons: [String] = []
  ) {
    self.runs = runs
    let (words, currentWord) = Lexer.beginning(of: String(line.prefix(cursor)))
    range = currentWord.range.lowerBound..<cursor
    candidates = []
    offer(currentWord.text, behind: words, cursor: cursor, tasks, lessons)
  }

  private mutating func offer(
    _ current: String,
    behind words: [String],
    cursor: Int,
    _ tasks: Int,
    _ lessons: [String]
  ) {
    guard let name = words.first else {
      candidates = CommandTable.commands(beginning: current).map {
        Candidate(text: $0.name, description: $0.summary, isWhole: true)
      }
      return
    }
    let word = Word(name, at: 0..<name.count)
    if let sign = words.last, sign == ">" || sign == ">>" {
      candidates = Self.files(current)
      return
    }
    guard let command = try? CommandTable.resolve(word) else { return }
    if let inner = Self.line(in: words, of: command) {
      return offer(current, behind: inner, cursor: cursor, tasks, lessons)
    }
    if let sign = current.firstIndex(of: "="), !command.takesAnyWords || !command.keys.isEmpty {
      let key = String(current[..<sign])
      let value = String(current[current.index(after: sign)...])
      range = (cursor - value.count)..<cursor
      candidates = Self.values(of: key, in: command, beginning: value)
      return
    }
    let places = words.dropFirst().filter { !$0.contains("=") }.count
    let given = Set(words.compactMap { $0.split(separator: "=").first.map(String.init) })
    let keys = command.keys.filter { !given.contains($0.name) }
      .map { Candidate(text: $0.name + "=", description: $0.help, isWhole: false) }
    let parameter =
      places < command.parameters.count
      ? command.parameters[places] : command.parameters.last { $0.repeats }
    var offered = parameter.map { self.words(for: $0, beginning: current, tasks, lessons) } ?? []
    // A run may come behind tasks, and tasks behind each other.
    if places > 0, let repeated = command.parameters.firstIndex(where: \.repeats) {
      let others = command.parameters[repeated...].filter { $0.kind != parameter?.kind }
      offered += others.flatMap { self.words(for: $0, beginning: current, tasks, lessons) }
    }
    if parameter?.kind == .text, command.name == "set", let key = words.dropFirst().first {
      offered += Self.values(of: key, in: command, beginning: current)
    }
    // A key can come wherever a word may be left out.
    if parameter == nil || parameter?.isOptional == true || parameter?.kind == .count
      || command.parameters.contains(where: { $0.kind == .runInBackground })
    {
      offered += keys
    }
    candidates = Self.fitting(current, offered).map { candidate in
      var candidate = candidate
      candidate.text = Lexer.quoted(candidate.text, isWhole: candidate.isWhole)
      return candidate
    }
  }

  /// The words of the command that is another's parameter, once it is named.
  private static func line(in words: [String], of command: Command) -> [String]? {
    let place = command.parameters.firstIndex { if case .line = $0.kind { true } else { false } }
    guard let place else { return nil }
    let own = words.dropFirst().filter { word in
      !command.keys.contains { word.hasPrefix($0.name + "=") }
    }
    return own.count > place ? Array(own.dropFirst(place)) : nil
  }

  private static func fitting(_ beginning: String, _ all: [Candidate]) -> [Candidate] {
    all.filter { $0.text.hasPrefix(beginning) }
  }

  private static func values(
    of key: String,
    in command: Command,
    beginning: String
  ) -> [Candidate] {
    let keys = command.keys.filter { $0.name.hasPrefix(key) }
    let exact = keys.first { $0.name == key } ?? (keys.count == 1 ? keys[0] : nil)
    let all = (exact?.candidates ?? []).map {
      Candidate(text: $0, description: nil, isWhole: true)
    }
    return fitting(beginning, all)
  }

  private func words(
    for parameter: Parameter,
    beginning: String,
    _ tasks: Int,
    _ lessons: [String]
  ) -> [Candidate] {
    func plain(_ words: [String]) -> [Candidate] {
      words.map { Candidate(text: $0, description: nil, isWhole: true) }
    }
    switch parameter.kind {
    case .count, .text: return []
    case .specimenOrMechanism:
      // The specimens are offered once somebody begins to name one.
      let specimens = beginning.hasPrefix("s") ? Catalogue.specimens + Catalogue.misuses : []
      return Self.entries(Catalogue.mechanisms + specimens)
    case .task:
      return plain((0..<min(tasks, 200)).map { TaskID($0 + 1).label(amongst: tasks) })
    case .command:
      let topics = HelpTopic.all.map {
        Candidate(text: $0.name, description: $0.summary, isWhole: true)
      }
      return CommandTable.commands.map {
        Candidate(text: $0.name, description: $0.summary, isWhole: true)
      } + topics
    case .setting:
      return Command.settingKeys.map {
        Candidate(text: $0.name, description: $0.help, isWhole: true)
      }
    case .lesson: return plain(lessons)
    case .metric: return plain(RunMetrics.forms)
    case .choice(let words), .line(let words): return plain(words)
    case .taskOrAll:
      return words(for: Parameter("", .task), beginning: beginning, tasks, lessons)
        + plain(["all"])
    case .runInBackground: return plain(runs.isEmpty ? [] : runs + [Session.allRuns])
    case .file: return Self.files(beginning)
    }
  }

  private static func entries(_ entries: [CatalogueEntry]) -> [Candidate] {
    entries.map { Candidate(text: $0.id, description: $0.profile.summary, isWhole: true) }
  }

  private static func files(_ beginning: String) -> [Candidate] {
    let slash = beginning.lastIndex(of: "/")
    let folder = slash.map { String(beginning[...$0]) } ?? ""
    let name = slash.map { String(beginning[beginning.index(after: $0)...]) } ?? beginning
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder))
    return (names ?? []).sorted().filter { name.hasPrefix(".") || !$0.hasPrefix(".") }.map {
      entry in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: folder + entry, isDirectory: &isFolder)
      return Candidate(
        text: folder + entry + (isFolder.boolValue ? "/" : ""),
        description: nil,
        isWhole: !isFolder.boolValue
      )
    }
  }
}

extension Session {
  /// What could stand at the cursor; may be asked while a command is being carried out.
  package nonisolated func completions(of line: String, cursor: Int) -> Completions {
    Completions(
      of: line,
      cursor: cursor,
      tasks: knownTasks.load(ordering: .relaxed),
      runs: knownNames.withLock { $0 },
      lessons: lessonsFolder.map(Course.numbers)?.map(String.init) ?? []
    )
  }
}
