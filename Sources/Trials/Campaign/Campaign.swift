/// Runs a plan block by block, and drops the blocks that other processes disturbed.
package struct Campaign {
  package let plan: Plan
  /// The program that runs a trial when started with `--trial`.
  package let program: String
  /// Whether a disturbed block is dropped and measured again, a bounded number of times.
  package let dropsDisturbedBlocks: Bool

  package init(plan: Plan, program: String, dropsDisturbedBlocks: Bool) {
    self.plan = plan
    self.program = program
    self.dropsDisturbedBlocks = dropsDisturbedBlocks
  }

  /// How often the blocks of one plan may be measured again, as a share of their number.
  private static let repeatShare = 0.25
  /// Seconds beyond what a trial should take after which it counts as hung.
  private static let grace = 30.0

  package enum Ending: Sendable {
    case complete([BlockRecord])
    /// The user asked to stop; `keep` was given everything measured until then.
    case interrupted(trialsKept: Int)
  }

  /// Measures what `resumed`, the records of an earlier run of the same plan, does not have yet.
  ///
  /// Each new record goes to `keep` at once.
  package func run(
    resumed: [BlockRecord],
    progress: inout Progress,
    isInterrupted: @escaping @Sendable () -> Bool,
    keep: (BlockRecord) throws -> Void
  ) async throws -> Ending {
    var records = resumed
    for record in records { progress.skip(plan.entries[record.entry], of: record) }

    var (queue, repeatsLeft) = left(after: records)
    queue.reverse()
    while let block = queue.popLast() {
      progress.begin(plan.entries[block.entry])
      guard let record = try await measure(block, number: records.count + 1, isInterrupted) else {
        return .interrupted(trialsKept: records.map(\.trials.count).reduce(0, +))
      }
      records.append(record)
      try keep(record)
      progress.finish(plan.entries[block.entry], record)
      if record.dropReason != nil, repeatsLeft > 0 {
        // Not at once: what disturbed it probably still runs.
        repeatsLeft -= 1
        queue.insert(block, at: 0)
        progress.expectAgain(plan.entries[block.entry])
      }
    }
    return .complete(records)
  }

  /// The blocks to measure when there are `records`, and how many repeats may follow.
  ///
  /// A block that was dropped, and not measured again before the run was stopped, is among them while there
  /// are repeats.
  func left(after records: [BlockRecord]) -> (blocks: [Plan.Block], repeats: Int) {
    struct Place: Hashable { var fork, entry: Int }
    let blocks = plan.blocks()
    let repeats = Int((Double(blocks.count) * Self.repeatShare).rounded(.up))
    let measured = Set(
      records.filter { $0.dropReason == nil }.map { Place(fork: $0.fork, entry: $0.entry) }
    )
    let dropped = records.filter { $0.dropReason != nil }
    // The last ones dropped came when the repeats were used up.
    let given = Set(dropped.dropFirst(repeats).map { Place(fork: $0.fork, entry: $0.entry) })
    let left = blocks.filter { block in
      let place = Place(fork: block.fork, entry: block.entry)
      return !measured.contains(place) && !given.contains(place)
    }
    return (left, max(0, repeats - dropped.count))
  }

  /// Nil where the user interrupted.
  private func measure(
    _ block: Plan.Block,
    number: Int,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> BlockRecord? {
    let entry = plan.entries[block.entry]
    let before = MachineLoad.now()
    var trials: [BlockRecord.Entry] = []
    for contestant in block.order {
      let request = TrialRequest(
        cell: entry.cell,
        mechanism: entry.contestants[contestant].mechanism,
        seed: plan.seed(of: block.entry, fork: block.fork),
        budget: plan.scale.budget,
        executor: entry.contestants[contestant].executor,
        keepsStamps: block.fork == 1 && block.entry == plan.stampedEntry
      )
      guard
        let report = try await TrialProcess.start(
          request,
          program: program,
          deadline: entry.expectedSeconds * 10 + Self.grace,
          isInterrupted: isInterrupted
        )
      else { return nil }
      trials.append(BlockRecord.Entry(contestant: contestant, report: report))
    }
    let disturbance = before.flatMap { before in
      MachineLoad.now().flatMap { Disturbance(from: before, to: $0) }
    }
    return BlockRecord(
      number: number,
      fork: block.fork,
      entry: block.entry,
      trials: trials,
      disturbance: disturbance,
      dropReason: dropsDisturbedBlocks ? disturbance?.reason : nil
    )
  }
}
