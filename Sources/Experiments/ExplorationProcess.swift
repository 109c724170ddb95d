internal import Basics
internal import Exploration
internal import Foundation

/// What a program does that is started to explore for a lab: another `lab`, or one built around a learner's
/// file.
package enum ExplorationProcess {
  /// Ends this process with the lab that waits for its answer: standard input closes when that goes away.
  package static func holdLifeline() {
    OSThread("lifeline") {
      var byte: UInt8 = 0
      while read(STDIN_FILENO, &byte, 1) > 0 {}
      _exit(1)
    }.detach()
  }

  /// Does what is requested, writes its answer as the last line of standard output, and ends.
  package static func run(_ request: String, journal: String?) async -> Never {
    guard let request = try? JSONDecoder().decode(ExplorationRequest.self, from: Data(request.utf8))
    else { exit(2) }
    holdLifeline()
    let leaving: ScheduleJournal.Leaving =
      switch request {
      case .explore: .nothing
      case .replay(_, _, _, ends: false): .everything
      case .replay, .look, .survive: .unfinished
      }
    journal.flatMap { ScheduleJournal(file: $0) }?.use(leaving: leaving)
    // Both programs have it in memory now. A name that is left to the lab stays for good where the lab is
    // killed, or its terminal closed.
    if let journal { unlink(journal) }
    let answer = await request.answer(ExplorationControl())
    guard let line = try? JSONEncoder().encode(answer) else { exit(2) }
    FileHandle.standardOutput.write(Data("\n".utf8) + line + Data("\n".utf8))
    // Not `exit`, which waits for what the code under study may hold.
    _exit(0)
  }
}
