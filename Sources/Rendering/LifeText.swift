import Tracing

/// One task's life in a few words.
enum LifeText {
  /// "waited 100 ms, ran 50 ms, finished at 150 ms".
  static func line(_ life: TaskLife) -> String {
    guard life.arrived != nil else { return "never arrived" }
    var pieces: [String] = []
    if let waiting = life.waiting {
      pieces.append(waiting == 0 ? "did not wait" : "waited \(DurationText.text(waiting))")
    }
    if let service = life.service { pieces.append("in service \(DurationText.text(service))") }
    if let ended = life.ended {
      pieces.append("\(words(for: life.end)) at \(DurationText.text(ended))")
    } else {
      pieces.append("has not ended")
    }
    return pieces.joined(separator: ", ")
  }

  static func words(for end: TaskLife.End?) -> String {
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
