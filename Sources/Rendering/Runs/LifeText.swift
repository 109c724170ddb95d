import Mechanisms

/// One task's life in a few words.
enum LifeText {
  /// "waited 100 ms, ran 50 ms, finished at 150 ms".
  ///
  /// `now` is the moment of a run under way: "waited 100 ms, in service 20 ms so far, has not ended".
  static func line(_ life: TaskLife, now: Int64? = nil) -> String {
    guard life.arrived != nil else { return words(for: life, now: now) }
    var pieces: [String] = []
    if let waiting = life.waiting {
      pieces.append(waiting == 0 ? "did not wait" : "waited \(DurationText.text(waiting))")
    } else if let waiting = life.waiting(by: now) {
      pieces.append("has waited \(DurationText.text(waiting)) so far")
    }
    if let service = life.service(by: now) {
      let soFar = life.service == nil ? " so far" : ""
      pieces.append("in service \(DurationText.text(service))\(soFar)")
    }
    if let ended = life.ended {
      pieces.append("\(words(for: life.end)) at \(DurationText.text(ended))")
      if let error = life.error { pieces.append(error.text) }
    } else {
      pieces.append("has not ended")
    }
    return pieces.joined(separator: ", ")
  }

  /// How it ended, or where it stands now in a run under way.
  static func words(for life: TaskLife, now: Int64?) -> String {
    if life.end == nil, now != nil {
      return life.arrived == nil
        ? "has not arrived yet" : life.admitted == nil ? "still waits" : "still runs"
    }
    return life.arrived == nil ? "never arrived" : words(for: life.end)
  }

  private static func words(for end: TaskLife.End?) -> String {
    switch end {
    case .finished: "finished"
    case .failed: "failed"
    case .cancelledWhileWaiting: "cancelled while waiting"
    case .cancelledWhileRunning: "cancelled while running"
    case .rejected: "rejected"
    case nil: "never ended"
    }
  }
}
