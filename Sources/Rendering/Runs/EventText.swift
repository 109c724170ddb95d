package import Mechanisms

/// The names of events, in files and in texts.
package enum EventText {
  /// The name as the files have it: `arrived`, `cancelled`.
  package static func name(of kind: TraceEvent.Kind) -> String {
    switch kind {
    case .arrived: "arrived"
    case .blocked: "blocked"
    case .unblocked: "unblocked"
    case .answered(let answer): answer.rawValue
    case .holds: "holds"
    case .admitted: "admitted"
    case .progress: "progress"
    case .suspended: "suspended"
    case .resumed: "resumed"
    case .finished: "finished"
    case .error: "error"
    case .failed: "failed"
    case .cancelled: "cancelled"
    case .rejected: "rejected"
    case .limit: "limit"
    }
  }

  /// The name with what belongs to it: `progress 40 %`, `cancelled while waiting`.
  package static func words(for kind: TraceEvent.Kind) -> String {
    switch kind {
    case .progress(let percent): "progress \(percent) %"
    case .limit(let limit): "limit \(limit)"
    case .holds(let permit): permit.words
    case .error(let error): "error: \(error.text)"
    case .cancelled(let phase): "cancelled while \(phase.rawValue)"
    default: name(of: kind)
    }
  }
}
