internal import ArgumentParser
internal import Basics
internal import Foundation
internal import Synchronization

/// The bench: measures every mechanism beside the others, in processes of their own, and writes what it found.
public enum Bench {
  /// How the program ends.
  enum Status: Int32 {
    case measured = 0
    case regression = 1
    case wrongUsage = 2
    /// The results or the output could not be written, or the release build failed.
    case failed = 3
    case invalid = 4
    /// The shell's own number for a program ended by Ctrl-C.
    case interrupted = 130
  }

  /// The whole program: reads the command line, measures, writes, and ends the process.
  ///
  /// It measures in processes of their own, each of which is this program started anew; so call it first, before
  /// anything else that the program does.
  ///
  /// - Parameter limiters: limiters of one's own, measured and named as the mechanisms of this package are.
  public static func main(measuring limiters: [any MeasuredLimiter.Type] = []) async -> Never {
    StandardStreams.fill()
    // A write to a reader that has left says so instead of ending the process before its comparison.
    signal(SIGPIPE, SIG_IGN)
    for limiter in limiters {
      if let complaint = Contestants.add(limiter.entry) {
        print("bench: \(complaint)", to: .standardError)
        exit(Status.wrongUsage.rawValue)
      }
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let options: BenchOptions
    do {
      options = try BenchOptions.parse(arguments)
    } catch {
      let isHelp = BenchOptions.exitCode(for: error) == .success
      print(BenchOptions.fullMessage(for: error), to: isHelp ? .standardOutput : .standardError)
      exit(status(isHelp ? .measured : .wrongUsage).rawValue)
    }
    if let request = options.trial { await runTrial(request) }
    exit(status(await run(options, arguments)).rawValue)
  }

  /// The child's side: one trial, its report on standard output.
  private static func runTrial(_ request: String) async -> Never {
    Lifeline.hold()
    do {
      print(try await TrialProcess.run(request), to: .standardOutput)
      exit(status(.measured).rawValue)
    } catch {
      print("\(error)", to: .standardError)
      exit(Status.failed.rawValue)
    }
  }

  private static func run(_ options: BenchOptions, _ arguments: [String]) async -> Status {
    if let folder = options.republish { return await republish(folder) }
    let plan: Plan
    do {
      plan = try Plan(options.selection)
    } catch {
      print("bench: \(error)", to: .standardError)
      return .wrongUsage
    }
    let baseline: EarlierRun?
    do {
      baseline = try options.baseline.map { try EarlierRun(folder: $0) }
    } catch {
      print("bench: \(error)", to: .standardError)
      return .wrongUsage
    }
    if options.list || options.dryRun {
      let text = options.json ? nil : PlanText(plan)
      let lines = PlanLines(plan)
      print(
        options.list ? text?.list ?? lines.list : text?.dryRun ?? lines.dryRun,
        to: .standardOutput
      )
      return .measured
    }

    Interruption.watch()
    do {
      if ReleaseBuild.isNeeded, !options.unoptimised {
        print(
          "this is a debug build; building for release once (about a minute) and continuing there",
          to: .standardError
        )
        try await ReleaseBuild.continue(
          arguments: arguments,
          isInterrupted: { Interruption.isRequested }
        )
      }
      return try await measure(plan, options, baseline)
    } catch let error as RunFolderError {
      print("bench: \(error)", to: .standardError)
      if case .cannotCreate = error { return .wrongUsage }
      return .failed
    } catch {
      if Interruption.isRequested {
        print("interrupted before anything was measured; nothing was written", to: .standardError)
        return .interrupted
      }
      print("bench: \(error)", to: .standardError)
      return .failed
    }
  }

  /// Writes anew what is derived from the figures of a run.
  private static func republish(_ folder: String) async -> Status {
    do {
      let command = try PublishedRun.command(of: folder)
      let plan = try Plan(BenchOptions.parse(command).selection)
      let names = try await PublishedRun(folder: folder, plan: plan).rewrite()
      print("written anew in \(folder)/: \(names.count) files", to: .standardError)
      return .measured
    } catch {
      print("bench: \(error)", to: .standardError)
      if case PublishedRun.Failure.cannotWrite = error { return .failed }
      return .wrongUsage
    }
  }

  private static func measure(
    _ plan: Plan,
    _ options: BenchOptions,
    _ baseline: EarlierRun?
  ) async throws -> Status {
    let executable = ReleaseBuild.executable
    let parent =
      options.out
      ?? ReleaseBuild.packageRoot(of: executable).map { "\($0)/Results" }
      ?? "Results"
    let folder = try RunFolder(
      parent: parent,
      mode: options.scale.rawValue,
      fingerprint: plan.fingerprint(
        executable: EnvironmentRecord.fingerprint(ofFile: executable)
      ),
      date: Date().formatted(.iso8601.year().month().day())
    )
    var environment = EnvironmentRecord(
      runID: folder.runID,
      command: CommandLine.arguments,
      seed: plan.seed,
      forks: plan.forks.upperBound,
      toolchain: await EnvironmentRecord.swiftVersion()
    )
    if let root = ReleaseBuild.packageRoot(of: executable) {
      environment.commit = await EnvironmentRecord.commit(of: root)
    }
    let before = await Disturbance.now()
    environment.loadBefore = before?.foreignCores
    var progress = Progress(plan)
    progress.say(PlanText(plan).headline)
    if !folder.resumed.isEmpty {
      progress.say(
        "going on with \(folder.runID), which was interrupted after \(folder.resumed.count) blocks"
      )
    }
    for id in RunFolder.interruptedRuns(in: parent) {
      progress.say(
        "an interrupted run waits in \(RunFolder.partialPath(of: id, in: parent)): the command it was "
          + "started with goes on from there if the program is still the same; delete it to forget it"
      )
    }
    if !options.ci, let warning = before?.warning { progress.say(warning) }
    let campaign = Campaign(
      plan: plan,
      program: executable,
      measuresLonger: !options.ci,
      leavesOut: !options.ci && options.forks == nil
    )
    let start = MachineClock.monotonic()
    let ending = try await campaign.run(
      resumed: folder.resumed,
      progress: &progress,
      isInterrupted: { Interruption.isRequested },
      keep: folder.append,
      onFront: { records, progress in
        if options.json || options.ci { return }
        progress.erase()
        let table = Digest(Summary(plan: plan, records: records)).table
        print(table, terminator: "\n", to: .standardOutput)
      }
    )
    progress.erase()
    environment.seconds = (Double(MachineClock.monotonic() - start) / 1e9).rounded()

    switch ending {
    case .interrupted(let records):
      if records.isEmpty {
        folder.discard()
        progress.say("interrupted before anything was measured; nothing was written")
        return .interrupted
      }
      environment.interrupted = "\(records.count) of \(plan.blocks().count) blocks"
      environment.note(plan, records)
      let summary = Summary(plan: plan, records: records)
      let files = RunFiles(runID: folder.runID, plan: plan, records: records, summary: summary)
      let path = try await folder.publish(
        files.all(environment),
        suffix: RunFolder.interruptedSuffix
      )
      tell(files, summary, environment, options)
      progress.say(
        "interrupted after \(environment.interrupted ?? ""); what there is: \(path)/. The same command goes on "
          + "from there; delete \(folder.partialPath) to forget it"
      )
      return .interrupted
    case .complete(let records):
      environment.note(plan, records)
      environment.noteLeftOut(plan, records)
      if let leftOut = environment.leftOut {
        progress.say("slower than the plan expects: to end in time, \(leftOut) were left out")
      }
      let summary = Summary(plan: plan, records: records)
      let files = RunFiles(runID: folder.runID, plan: plan, records: records, summary: summary)
      let path = try await folder.publish(files.all(environment))
      tell(files, summary, environment, options)
      let comparison = try baseline.map { baseline in
        for difference in baseline.differences(from: environment) {
          progress.say("the baseline was measured elsewhere: \(difference)")
        }
        return BaselineComparison(
          baseline: baseline.figures,
          current: try PublishedFigures(csv: files.results()),
          seed: plan.seed
        )
      }
      if let comparison {
        print(
          options.json ? comparison.jsonLines() : comparison.text,
          terminator: "",
          to: .standardOutput
        )
      }
      progress.say("written: \(path)/ (\(RunFiles.names.joined(separator: ", ")))")
      if options.strict, !summary.tooNoisy.isEmpty {
        let names = summary.tooNoisy.map { plan.entries[$0].cell.name }
        let which = names.count == plan.entries.count ? "every cell" : names.joined(separator: "; ")
        progress.say("too busy: others disturbed more than half of the blocks of \(which)")
      }
      let isInvalid = options.strict ? !summary.isValid : !summary.violations.isEmpty
      if isInvalid { return .invalid }
      // A machine whose processors are further apart is another machine.
      let isComparable = baseline?.isOfSameDistance(as: environment) != false
      return isComparable && comparison?.regressions.isEmpty == false ? .regression : .measured
    }
  }

  /// All tables and what can be pasted; in checks that only.
  private static func tell(
    _ files: RunFiles,
    _ summary: Summary,
    _ environment: EnvironmentRecord,
    _ options: BenchOptions
  ) {
    let text =
      options.json
      ? files.jsonLines()
      : (options.ci ? "" : SummaryTable(summary).text + "\n") + Digest(summary).text(environment)
    print(text, terminator: "", to: .standardOutput)
  }

  /// The first reason for which standard output could not be written; nil while it can.
  private static let outputFailure = Mutex<OutputWriter.Failure?>(nil)

  /// What cannot be written ends nothing: the run is published and compared all the same.
  private static func print(_ text: String, terminator: String = "\n", to output: OutputWriter) {
    // With standard error gone there is nobody left to tell.
    guard output == .standardOutput else {
      try? output.write(text + terminator)
      return
    }
    // A part of the output after a part that is missing would mislead.
    guard outputFailure.withLock({ $0 }) == nil else { return }
    do {
      try output.write(text + terminator)
    } catch {
      outputFailure.withLock { $0 = error }
      // A reader that has left is no reason to say anything: it has what it wanted.
      if error != .closed { print("bench: \(error).", to: .standardError) }
    }
  }

  /// The exit status, of which a good one is none where the output was cut short.
  ///
  /// What else a run has to tell, such as a regression, outweighs that.
  private static func status(_ status: Status) -> Status {
    switch outputFailure.withLock({ $0 }) {
    case nil, .closed: status
    case .full, .failed: status == .measured ? .failed : status
    }
  }
}
