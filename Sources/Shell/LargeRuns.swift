internal import Experiments
internal import Foundation
internal import Rendering
internal import Workloads

/// Runs that take more memory, or more time to give up, than anybody expects of a line.
enum LargeRuns {
  /// So many take a while, in virtual time too, and a person wants to know what is going on.
  static let manyTasks = 50_000

  /// What a task takes, with its events and what is derived from them.
  ///
  /// Measured of the limiter: 3,200 bytes in an optimised build, 4,700 in a debug build.
  static let bytesPerTask = 4_000

  /// In gigabytes, rounded up.
  static func memory(_ tasks: Int) -> Int { (tasks * bytesPerTask + 999_999_999) / 1_000_000_000 }
}

/// A run that a person is asked about before it begins.
struct NeedsConsent: Error {
  var question: String
}

extension Session {
  /// Asks a person, or refuses a script, before so many tasks take the memory of the machine.
  func checkMemory(of tasks: Int, _ arguments: Arguments) throws {
    let needed = LargeRuns.memory(tasks)
    guard needed > settings.memory, !hasConsent else { return }
    let told = "\(NumberText.count(tasks, "task")) need about \(needed) GB of memory"
    guard mayAsk, !json else {
      throw ShellError(
        "\(told), and a script may use \(settings.memory) GB. Give it fewer tasks, or write before it: "
          + "set memory \(needed)",
        at: arguments.places.first(where: \.isNumeral) ?? arguments.name
      )
    }
    throw NeedsConsent(question: "\(told). Shall they run?")
  }

  /// Takes a line typed after a large run was asked about: yes runs it, anything else does not.
  ///
  /// - Returns: nil if the line is to be carried out as any other.
  func takesAsConsent(_ line: String) async -> Outcome? {
    guard let words = askedAbout else { return nil }
    ask(about: nil)
    let answer = line.trimmingCharacters(in: .whitespaces).lowercased()
    if ["yes", "y"].contains(answer) { return await carryOutWithConsent(words) }
    output.write("Nothing was run.\n")
    return ["no", "n", ""].contains(answer) ? .done : nil
  }

  /// Runs an experiment to its end; nil if an interrupt came before.
  ///
  /// The tasks of a large run are made elsewhere, and where it is interrupted, what had not ended is cleared
  /// away there too: two million tasks take many seconds to be cancelled, and nobody waits for it.
  func finishOrGiveUp(_ background: Background, _ workload: Workload) async -> Run? {
    let (results, continuation) = AsyncStream<Run?>.makeStream()
    Task.detached {
      background.run.submit(workload)
      background.run.expectEnd()
      continuation.yield(await background.run.finish())
    }
    return await interruption.whileRunning {
      for await result in results { return result }
      return nil
    } onInterrupt: {
      background.run.stop(because: Self.interrupted)
      continuation.yield(nil)
    }
  }
}
