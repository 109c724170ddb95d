internal import Basics
internal import Experiments
internal import Foundation
internal import Mechanisms
internal import Rendering

/// Runs that take more memory, or more time to give up, than anybody expects of a line.
enum LargeRuns {
  /// So many take a while, in virtual time too, and a person wants to know what is going on.
  static let manyTasks = 50_000

  /// So many take more than a second to be cancelled, one by one.
  static let tooManyToClear = 200_000

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

  /// Runs a large run to its end and tells it; an interrupt gives it up.
  ///
  /// It is given its tasks, waited for and made into a text elsewhere. What had not ended is cleared away there
  /// too: two million tasks take many seconds to be cancelled, and nobody waits for it.
  func finishOrGiveUp(
    _ background: Background,
    submitting workload: Workload? = nil,
    _ notes: [Note] = []
  ) async -> Outcome {
    let manner = manner(of: background, notes)
    let report = await unlessInterrupted(background.run) { run in
      if let workload {
        run.submit(workload)
        run.expectEnd()
      }
      return RunReport(await run.finish(), manner)
    }
    if let report { return tell(report, name: background.name) }
    return answer(json: "", Self.gaveUp(workload?.count ?? background.run.plan.count))
  }

  static func gaveUp(_ tasks: Int) -> String {
    "interrupted: the run of \(NumberText.count(tasks, "task")) was given up, and is not kept.\n"
  }

  /// What `body` makes of a run; nil if an interrupt came before: the run is stopped, and `body` goes on for
  /// nobody.
  func unlessInterrupted<Value: Sendable>(
    _ run: any LiveRun,
    _ body: @escaping @Sendable (any LiveRun) async -> Value,
    thenForNobody clear: @escaping @Sendable (any LiveRun) async -> Void = { _ in }
  ) async -> Value? {
    await unlessInterrupted([run]) {
      await body($0[0])
    } thenForNobody: {
      await clear($0[0])
    }
  }

  /// The same of several that go on together.
  ///
  /// After an interrupt `clear` comes when `body` has ended, and nobody waits for either: two threads cannot drive
  /// one run.
  func unlessInterrupted<Value: Sendable>(
    _ runs: [any LiveRun],
    _ body: @escaping @Sendable ([any LiveRun]) async -> Value,
    thenForNobody clear: @escaping @Sendable ([any LiveRun]) async -> Void = { _ in }
  ) async -> Value? {
    await unlessInterrupted {
      await body(runs)
    } onInterrupt: {
      // The thread that calls this is the one that hears of the next Ctrl-C.
      OSThread("stopping") { for run in runs { run.stop(because: Self.interrupted) } }.detach()
    } thenForNobody: {
      await clear(runs)
    }
  }

  /// What a view or an export makes of a run; nil if that takes long and an interrupt came before.
  func unlessInterrupted<Value: Sendable>(
    of run: Run,
    _ make: @escaping @Sendable (Run) -> Value
  ) async -> Value? {
    guard run.plan.count >= LargeRuns.manyTasks else { return make(run) }
    return await unlessInterrupted {
      make(run)
    } onInterrupt: {
    }
  }

  /// What is said where nothing is shown.
  func gaveUpView() -> Outcome { answer(json: "", "interrupted: nothing is shown.\n") }

  func unlessInterrupted<Value: Sendable>(
    _ make: @escaping @Sendable () async -> Value,
    onInterrupt stop: @escaping @Sendable () -> Void,
    thenForNobody clear: @escaping @Sendable () async -> Void = {}
  ) async -> Value? {
    let (results, continuation) = AsyncStream<Value?>.makeStream()
    let aside = Aside()
    let making = await aside.begin { continuation.yield(await make()) }
    let result: Value? = await interruption.whileRunning {
      for await result in results { return result }
      return nil
    } onInterrupt: {
      continuation.yield(nil)
      stop()
    }
    if result == nil {
      await aside.begin {
        await making.value
        await clear()
      }
    }
    return result
  }
}

/// A thread of its own for what takes long and may be given up: a run may block every thread of the pool.
private actor Aside {
  private let thread = ThreadExecutor("aside")
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// Begins, and does not wait for the end.
  @discardableResult
  func begin(_ make: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task { await perform(make) }
  }

  private func perform(_ make: @Sendable () async -> Void) async { await make() }
}
