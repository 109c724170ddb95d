internal import Basics

/// Runs a plan block by block within its time: measures longer where other processes disturbed it or the processors were
/// moved, and leaves out each cell's last blocks where the machine is slower than the plan expects.
package struct Campaign {
  package let plan: Plan
  /// The program that measures when started with `--trial`.
  package let program: String
  /// Whether cells that were disturbed, or whose processors were moved, get more blocks, while there is time.
  package let measuresLonger: Bool
  /// Whether last blocks are left out when the time is over.
  package let leavesOut: Bool

  package init(plan: Plan, program: String, measuresLonger: Bool, leavesOut: Bool) {
    self.plan = plan
    self.program = program
    self.measuresLonger = measuresLonger
    self.leavesOut = leavesOut
  }

  /// Seconds beyond what a process should take after which it counts as hung.
  private static let grace = 30.0
  /// Each cell has so many blocks, however slow the machine is: with fewer a difference can hardly be told from chance.
  static let fewestForks = 6

  package enum Ending: Sendable {
    case complete([BlockRecord])
    /// The user asked to stop, with everything measured until then.
    case interrupted([BlockRecord])
  }

  /// Measures what `resumed`, the records of an earlier run of the same plan, does not have yet.
  ///
  /// Each new record goes to `keep` at once. `onFront` is told when the cells of the front page have been measured.
  package func run(
    resumed: [BlockRecord],
    progress: inout Progress,
    isInterrupted: @escaping @Sendable () -> Bool,
    keep: (BlockRecord) throws -> Void,
    onFront: ([BlockRecord], inout Progress) -> Void = { _, _ in }
  ) async throws -> Ending {
    let start = MachineClock.monotonic()
    var records = resumed
    for record in records { progress.skip(plan.entries[record.entry]) }
    let left = plan.blocks().filter { block in
      !resumed.contains { $0.fork == block.fork && $0.entry == block.entry }
    }
    func elapsed() -> Double { Double(MachineClock.monotonic() - start) / 1e9 }
    /// Measures one block and keeps it; false where the user interrupted.
    func take(_ block: Plan.Block) async throws -> Bool {
      progress.begin(plan.entries[block.entry])
      guard let record = try await measure(block, number: records.count + 1, isInterrupted)
      else { return false }
      records.append(record)
      try keep(record)
      progress.finish(plan.entries[block.entry], record)
      return true
    }
    var frontLeft = left.count { plan.front.contains($0.entry) }
    for block in left {
      if isLeftOut(block, after: elapsed()) {
        progress.leaveOut(plan.entries[block.entry])
        continue
      }
      guard try await take(block) else { return .interrupted(records) }
      if plan.front.contains(block.entry) {
        frontLeft -= 1
        if frontLeft == 0, left.count > records.count - resumed.count {
          onFront(records, &progress)
        }
      }
    }
    guard measuresLonger else { return .complete(records) }
    for block in more(after: records) {
      if isTooLate(block, after: elapsed()) { break }
      progress.expectAgain(plan.entries[block.entry])
      guard try await take(block) else { return .interrupted(records) }
    }
    return .complete(records)
  }

  /// Whether the time that the scale promises would be over before the block is.
  private func isTooLate(_ block: Plan.Block, after elapsed: Double) -> Bool {
    guard let limit = plan.scale.limit else { return false }
    return elapsed + plan.entries[block.entry].expectedSeconds > limit
  }

  /// Whether a planned block is not measured, so that the run ends in time.
  func isLeftOut(_ block: Plan.Block, after elapsed: Double) -> Bool {
    leavesOut && block.fork > Self.fewestForks && isTooLate(block, after: elapsed)
  }

  /// The blocks that are added where others disturbed what was measured, or the processors were at another distance
  /// than in most blocks: for each two that were, one more, up to half as many as were planned, those of all cells in
  /// turn.
  func more(after records: [BlockRecord]) -> [Plan.Block] {
    let distances = CountedBlocks(records, plan)
    var disturbed: [Int: Int] = [:]
    var last: [Int: Int] = [:]
    for record in records {
      last[record.entry] = max(last[record.entry] ?? 0, record.fork)
      if record.isDisturbed || distances.isElsewhere(record) {
        disturbed[record.entry, default: 0] += 1
      }
    }
    return (1...plan.forks.upperBound).flatMap { round in
      plan.entries.indices.compactMap { entry in
        let planned = plan.entries[entry].forks
        let fork = planned + round
        guard round <= min(((disturbed[entry] ?? 0) + 1) / 2, planned / 2), fork > last[entry] ?? 0
        else { return nil }
        return plan.block(fork: fork, entry: entry)
      }
    }
  }

  /// Nil where the user interrupted.
  private func measure(
    _ block: Plan.Block,
    number: Int,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> BlockRecord? {
    let entry = plan.entries[block.entry]
    let before = MachineLoad.now()
    let distanceBefore = await onOwnThread { ProcessorDistance.now() }
    let requests = block.order.map { contestant in
      TrialRequest(
        cell: entry.cell,
        mechanism: entry.contestants[contestant].mechanism,
        seed: plan.seed(of: block.entry, fork: block.fork),
        budget: plan.scale.budget,
        round: plan.scale.round,
        executor: entry.contestants[contestant].executor,
        isFirst: block.fork == 1 && !entry.contestants[contestant].isAgain,
        keepsStamps: block.fork == 1 && block.entry == plan.stampedEntry
      )
    }
    var trials: [BlockRecord.Entry] = []
    for part in entry.isPaired ? [requests] : requests.map({ [$0] }) {
      guard
        let reports = try await TrialProcess.start(
          ProcessRequest(trials: part, rounds: plan.scale.rounds),
          program: program,
          deadline: entry.expectedSeconds * 10 + Self.grace,
          isInterrupted: isInterrupted
        )
      else { return nil }
      for report in reports {
        trials.append(BlockRecord.Entry(contestant: block.order[trials.count], report: report))
      }
    }
    let distanceAfter = await onOwnThread { ProcessorDistance.now() }
    return BlockRecord(
      number: number,
      fork: block.fork,
      entry: block.entry,
      trials: trials,
      disturbance: before.flatMap { before in
        MachineLoad.now().flatMap { Disturbance(from: before, to: $0) }
      },
      distance: distanceBefore.flatMap { before in
        distanceAfter.map { ProcessorDistance(before: before, after: $0) }
      }
    )
  }
}
