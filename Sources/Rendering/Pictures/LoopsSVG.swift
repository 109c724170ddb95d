internal import Basics
package import Experiments
internal import Mechanisms

/// What an open and a closed loop saw of the same stall, as one picture over one axis of time.
package enum LoopsSVG {
  /// The whole file.
  package static func text(_ open: Run, _ closed: Run) -> String {
    let (came, sent) = (requests(of: open), requests(of: closed))
    let end = max(open.timeline.end, closed.timeline.end)
    let most = (came + sent).map(\.response).max() ?? 0
    func during(_ requests: [Request]) -> Int {
      requests.dropFirst().count { $0.at < Stall.length }
    }
    let stall = DurationText.text(Stall.length)
    let notes = [
      "area: an open loop, requests come when they are due; \(during(came)) of them came during the stall",
      "crosses: a closed loop, a client waits for each answer; it sent \(during(sent)) into the stall, "
        + "at the upper left, and the others when it was over",
    ]
    var sheet = SVGSheet(
      title: "A server stands still for \(stall): how long each request took, by when it was sent",
      notes: notes,
      description: "The server stands still for \(stall).\n"
        + "Of the open loop, \(during(came)) requests came meanwhile, and one took "
        + "\(DurationText.text(came.map(\.response).max() ?? 0)).\n"
        + "Of the closed loop, \(during(sent)) came meanwhile: the client waited for its answer.",
      height: 340
    )
    let x = sheet.timeAxis(until: end)
    let y = sheet.durationAxis(until: most)
    sheet.turnedLabel("response time")
    let outline = came.map { (x: x($0.at), y: y($0.response)) }
    let edges = [(x: x(came.first?.at ?? 0), y: sheet.bottom)]
    let last = [(x: x(came.last?.at ?? 0), y: sheet.bottom)]
    sheet.path("count", through: edges + outline + last, closed: true, words: "open loop")
    for request in sent {
      let (x, y) = (x(request.at), y(request.response))
      let words =
        "closed loop: sent at \(DurationText.text(request.at)), took "
        + DurationText.text(request.response)
      sheet.path("end", through: [(x - 4, y - 4), (x + 4, y + 4)], words: words)
      sheet.path("end", through: [(x - 4, y + 4), (x + 4, y - 4)])
    }
    sheet.line("limit", from: (x(Stall.length), sheet.top), to: (x(Stall.length), sheet.bottom))
    sheet.label("the stall ends", x(Stall.length) + 8, sheet.top + 16, "s")
    return sheet.finished(below: 20)
  }

  private struct Request {
    var at: Int64
    var response: Int64
  }

  private static func requests(of run: Run) -> [Request] {
    TaskLife.all(in: run.events, tasks: run.facts.tasks).compactMap { life in
      guard let arrived = life.arrived, let ended = life.ended else { return nil }
      return Request(at: arrived, response: ended - arrived)
    }.sorted { ($0.at, -$0.response) < ($1.at, -$1.response) }
  }
}
