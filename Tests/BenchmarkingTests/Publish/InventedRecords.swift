import Benchmarking

/// One trial of a run that was never run.
struct InventedTrial {
  /// Of its block among the plan's, from 0.
  let index: Int
  let block: Plan.Block
  let entry: Plan.Entry
  /// Of the contestant among the entry's.
  let place: Int

  var fork: Int { block.fork }
  var contestant: Contestant { entry.contestants[place] }
}

extension Plan {
  /// A record for each block, in the plan's order, with what `report` says of each of its trials.
  func records(_ report: (InventedTrial, inout TrialReport) -> Void) -> [BlockRecord] {
    blocks().enumerated().map { index, block in
      BlockRecord(
        number: index + 1,
        fork: block.fork,
        entry: block.entry,
        trials: block.order.map { place in
          let entry = entries[block.entry]
          var said = TrialReport()
          report(InventedTrial(index: index, block: block, entry: entry, place: place), &said)
          return BlockRecord.Entry(contestant: place, report: said)
        }
      )
    }
  }
}
