internal import Basics
internal import Experiments
internal import Rendering

extension Command {
  static let stall = Command(
    "stall",
    summary: "an open and a closed loop measure the same stalled server, side by side",
    details: """
      One permit, which the first request holds for two seconds. In the open loop 400 requests come \
      when they are due, one every 10 ms. In the closed loop one client sends the same 400, each when \
      it has the answer to the one before.

      Both runs are kept: 'runs' lists them, 'timeline' and 'stats' show the last, the closed loop.
      """,
    examples: ["stall", "stall; stats of open-loop"]
  ) { session, _ in
    let open = await Stall(.open).run()
    let closed = await Stall(.closed).run()
    for run in [open, closed] {
      session.keep(run)
      if session.json { RunJSONLines.write(run) { session.output.write($0) } }
    }
    if !session.json {
      session.output.write(StallText.text(open, closed, session.output.format))
    }
    return .done
  }
}
