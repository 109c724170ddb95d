/// One thing that may happen next in an exploration.
///
/// Named by who does it, not by its place in a queue: the name means the same in a schedule that was
/// shortened or reordered, and can be read.
package struct Choice: Hashable, Sendable {
  package enum Kind: UInt8, Hashable, Sendable {
    /// An agent takes its next step.
    case run
    /// A job that belongs to no task runs: the turn of an actor or half a yield. Named after the
    /// agent that made it ready.
    case turn
    /// A simulated task is cancelled.
    case cancel
    /// A sleeper's time comes: it can go on.
    case wake
    /// The limit becomes what stands in the agent's place.
    case limit

    /// Whether it is a step of an agent's own.
    var isOwn: Bool { self == .run || self == .turn }
  }

  package var kind: Kind
  /// Simulated tasks are the agents 1 to N; whatever else runs (child tasks, the drain task of a
  /// queue) gets the next number when it first appears.
  package var agent: Int32
  /// Which of several ready turns of one agent, the oldest being 0.
  package var ordinal: Int32

  /// Whether it comes from outside: it gives no agent a step.
  var isInterference: Bool { kind == .cancel || kind == .limit }

  /// Whether an agent goes on by it, which a cancellation, a new limit or a sleeper's waking is not.
  var isTurn: Bool { kind.isOwn }

  /// Who does it: `t02`, or what comes from outside, as a noun.
  var actorName: String {
    switch kind {
    case .cancel: "the cancelling of \(PropertyMonitor.name(Int(agent)))"
    case .limit: "the change of the limit"
    case .run, .turn, .wake: PropertyMonitor.name(Int(agent))
    }
  }

  /// One number for all of it.
  var code: UInt64 {
    UInt64(kind.rawValue) << 48 | UInt64(UInt32(bitPattern: agent)) << 16
      | UInt64(truncatingIfNeeded: ordinal) & 0xFFFF
  }

  package init(_ kind: Kind, _ agent: Int, ordinal: Int = 0) {
    self.kind = kind
    self.agent = Int32(agent)
    self.ordinal = Int32(ordinal)
  }
}
