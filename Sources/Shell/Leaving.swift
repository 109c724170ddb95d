internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

// Leaving while tasks go on in the background takes two: whoever types asks to leave, is told what would be
// cancelled, and asks again. Nobody else is asked: a script, a file, what is read from a pipe.

/// Whether a person who asks to leave is told first what goes on.
struct LeaveRequest: Sendable {
  private var wasTold = false
  private var wasToldBefore = false

  /// A line, or the end of input, begins: what was told with the one just before it still counts.
  mutating func begin() { (wasToldBefore, wasTold) = (wasTold, false) }

  /// Whether they are to be told now; who was told just before is not.
  mutating func tells() -> Bool {
    wasTold = !wasToldBefore
    return wasTold
  }
}

extension Session {
  /// Leaves, unless a person is to hear first what leaving would cancel, or has typed the key once more that closes
  /// a view.
  func leaveIfMeant(typed: String = "quit") -> Outcome {
    guard mayAsk else { return .quit }
    let told =
      whatGoesOn ?? (typed == "q" ? "nothing is open here: 'q' once more leaves the lab." : nil)
    guard let told, mustTellBeforeLeaving() else { return .quit }
    output.complain(sentence(told))
    return .failed
  }

  /// What runs on the wall clock, for in virtual time nothing goes on by itself; nil where nothing does.
  private var whatGoesOn: String? {
    let runs = backgrounds.all.filter { $0.virtual == nil }
      .map { ($0.label, unended: $0.run.plan.count - $0.board.ended) }
      .filter { $0.unended > 0 }
    guard !runs.isEmpty else { return nil }
    let tasks = runs.enumerated().map { place, run in
      place == 0
        ? "\(NumberText.count(run.unended, "task")) of \(run.0)"
        : "\(NumberText.grouped(run.unended)) of \(run.0)"
    }
    let have = runs.count == 1 && runs[0].unended == 1 ? "has" : "have"
    return
      "\(ListText.all(tasks)) \(have) not ended. 'quit' or Ctrl-D right after this cancels what runs, and leaves."
  }

  /// Ends the runs in the background, if there are any, before the program does.
  package func leave() async {
    let all = backgrounds.all
    let unended = all.map { $0.run.plan.count - $0.board.ended }
    for (background, unended) in zip(all, unended) {
      // What simulated tasks leave goes with the program, and so many take long to be cancelled.
      if background.experiment.workload.kind.isReal || unended < LargeRuns.tooManyToClear {
        background.run.stop(because: Self.interrupted)
        _ = await background.run.finish()
      }
      takeFromBackground(background)
    }
    let tasks = unended.reduce(0, +)
    if tasks > 0, !json {
      let were = tasks == 1 ? "was" : "were"
      let runs = unended.count { $0 > 0 }
      let whose = runs > 1 ? " of \(runs) runs" : ""
      output.write(
        "\(NumberText.count(tasks, "task"))\(whose) had not ended and \(were) cancelled.\n"
      )
    }
  }
}
