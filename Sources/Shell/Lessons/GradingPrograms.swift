internal import Experiments
internal import Foundation
internal import LessonBook
internal import Synchronization

/// The grading programs that share the questions of an exercise.
final class GradingPrograms: Sendable {
  private let program: String
  private let folder: String
  private let count: Int
  private let shared: Mutex<SharedGrading>

  /// - Parameters:
  ///   - count: how many there are.
  ///   - program: the file of the program.
  ///   - folder: where what they write is put.
  init(_ count: Int, of program: String, in folder: String) {
    self.count = count
    self.program = program
    self.folder = folder
    shared = Mutex(SharedGrading(count))
  }

  /// What they have told so far.
  var told: SharedGrading { shared.withLock { $0 } }

  private func journal(_ number: Int) -> String { folder + "/journal\(number)" }
  private func answers(_ number: Int) -> String { folder + "/answers\(number)" }
  private var taken: String { folder + "/taken" }

  /// Runs them to their ends.
  ///
  /// - Returns: how each ended.
  /// - Throws: `ChildProcess.CannotStart`.
  func ask(
    _ seed: UInt64,
    telling progress: GradingProgress,
    _ interruption: Interruption
  ) async throws -> [ChildProcess] {
    for file in [taken] + (0..<count).map(answers) {
      try? FileManager.default.removeItem(atPath: file)
    }
    let endings = try await withThrowingTaskGroup(of: (Int, ChildProcess).self) { group in
      for number in 0..<count {
        group.addTask {
          (number, try await self.ask(seed, by: number, telling: progress, interruption))
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    return (0..<count).compactMap { endings[$0] }
  }

  private func ask(
    _ seed: UInt64,
    by number: Int,
    telling progress: GradingProgress,
    _ interruption: Interruption
  ) async throws -> ChildProcess {
    defer { read(number, hasEnded: true) }
    return try await ChildProcess.run(
      program,
      ["\(seed)"],
      environment: [GradeLine.journalVariable: journal(number), GradeLine.takenVariable: taken],
      timeLimit: .seconds(300),
      holdsLifeline: true,
      outputFile: answers(number),
      isInterrupted: { [self] in
        read(number, hasEnded: false)
        let told = told
        let asking = told.asking
        progress.note(.asking(asking?.asked ?? asking?.asking, before: asking?.question ?? 0))
        return interruption.hasCome || told.isNeedless(number)
      }
    )
  }

  private func read(_ number: Int, hasEnded: Bool) {
    let text = (try? String(contentsOfFile: answers(number), encoding: .utf8)) ?? ""
    var program = SharedGrading.Program(hasEnded: hasEnded)
    for line in text.split(separator: "\n") {
      // A line of which a part is written is read the next time.
      if line.hasPrefix("{"),
        let told = try? JSONDecoder().decode(GradeLine.self, from: Data(line.utf8))
      {
        program.lines.append(told)
        if told.asking != nil { program.printed = PrintedLines() }
      } else {
        program.printed.add(line)
      }
    }
    shared.withLock { shared in
      // Whoever looks whether it is to be ended may come late.
      if shared.programs[number].hasEnded { return }
      shared.programs[number] = program
    }
  }
}
