internal import Basics

/// Reads a log against the rules every run must keep, and says in words which were broken.
///
/// Each kind of violation gives one line, with its first case and how many there are. A line begins
/// with the violation's name, as the explorer uses it where it knows it too.
package struct LogCheck: Hashable, Sendable {
  /// The largest number of tasks in service at once.
  package private(set) var peakRunning = 0
  /// The limit in force when that many were first in service.
  package private(set) var limitAtPeak: Int?
  /// Whether as many were in service, at some moment, as the limit of that moment allowed.
  package private(set) var reachedLimit = false
  /// The largest number that waited at once for longer than an instant.
  package private(set) var peakWaiting = 0
  /// For how many nanoseconds somebody waited although fewer were in service than the limit allowed.
  package private(set) var waitedBesideRoom: Int64 = 0
  /// The number of admissions that took the number in service above the limit.
  package private(set) var overAdmissions = 0
  /// The tasks that arrived and never ended, in the order of their numbers.
  package private(set) var unended: [TaskID] = []
  /// The permits that these tasks hold, as far as the log tells.
  package private(set) var permitsHeld = 0
  package private(set) var violations: [String] = []

  private enum State {
    case absent
    case waiting
    /// Needs no permit: what it came for is there, or on its way for another.
    case apart
    case running
    case ended
  }

  /// Of a run that was stopped, tasks that never arrived are no fault: nobody let them.
  ///
  /// Of one under way those that have not ended are none either.
  ///
  /// - Complexity: O(n) for n events.
  package init(
    events: [TraceEvent],
    facts: RunFacts,
    lives: [TaskLife],
    order: ArrivalOrder,
    ending: RunSummary.Ending
  ) {
    var states = [State](repeating: .absent, count: lives.count)
    var running = 0
    var waiting = 0
    var faults = Faults(tasks: lives.count)
    var bound = AdmissionBound(facts.limit)
    var time = Int64.min
    for event in events {
      // A task that is admitted at once waits for no time at all, and does not count.
      if event.time > time, waiting > 0 {
        peakWaiting = max(peakWaiting, waiting)
        if let limit = bound.limit, running < limit { waitedBesideRoom += event.time - time }
      }
      time = event.time
      if case .limit(let limit) = event.kind { bound.change(to: limit) }
      guard event.task > .run else { continue }
      let index = Int(event.task.number) - 1
      switch (event.kind, states[index]) {
      case (.arrived, .absent):
        states[index] = .waiting
        waiting += 1
      case (.arrived, _): faults.note("arrived-twice", event, "arrived again")
      case (.answered(.hit), .waiting), (.answered(.joined), .waiting):
        states[index] = .apart
        waiting -= 1
      case (.admitted, let state):
        switch state {
        case .waiting: waiting -= 1
        case .apart: break
        case .absent: faults.note("never-arrived", event, "was admitted without having arrived")
        case .running:
          faults.note("admitted-twice", event, "was admitted again")
          continue
        case .ended where lives[index].end == .cancelledWhileWaiting:
          faults.note("ran-after-cancel", event, "ran although it had been cancelled while waiting")
        case .ended: faults.note("ran-after-end", event, "ran again after its end")
        }
        states[index] = .running
        running += 1
        if let limit = bound.limit, let most = bound.most {
          if running > most {
            overAdmissions += 1
            faults.overLimit(running, limit, at: event.time)
          }
          reachedLimit = reachedLimit || running >= limit
        }
        if running > peakRunning { (peakRunning, limitAtPeak) = (running, bound.limit) }
      case (let kind, .ended) where kind.isEnd: faults.note("double-end", event, "ended twice")
      case (.cancelled(.waiting), .running):
        faults.note("wrong-phase", event, "was cancelled as waiting although it had been admitted")
        states[index] = .ended
        running -= 1
        bound.depart()
      case (.finished, .waiting), (.failed, .waiting), (.cancelled(.running), .waiting):
        faults.note("never-admitted", event, "ended its service without having been admitted")
        states[index] = .ended
        waiting -= 1
      case (let kind, .absent) where kind.isEnd:
        faults.note("never-arrived", event, "ended without having arrived")
        states[index] = .ended
      case (let kind, let state) where kind.isEnd:
        if state == .running {
          running -= 1
          bound.depart()
        } else if state == .waiting {
          waiting -= 1
        }
        states[index] = .ended
      default: break
      }
    }
    peakWaiting = max(peakWaiting, waiting)
    if let now = ending.now, now > time, waiting > 0, let limit = bound.limit, running < limit {
      waitedBesideRoom += now - time
    }
    for life in lives {
      switch states[Int(life.task.number) - 1] {
      case .waiting, .apart, .running:
        unended.append(life.task)
        if states[Int(life.task.number) - 1] == .running { permitsHeld += 1 }
      case .absent, .ended: break
      }
    }
    permitsHeld += events.count { event in
      guard case .holds = event.kind else { return false }
      return states[Int(event.task.number) - 1] != .ended
    }
    violations = faults.lines
    if facts.promisesOrder, let first = order.firstBreak {
      let one = first.task.label(amongst: lives.count)
      let other = first.overtaken.label(amongst: lives.count)
      violations.append(
        "order: \(one) was admitted before \(other) at \(DurationText.text(first.time)), "
          + "although \(other) had arrived earlier" + faults.more(order.breaks)
      )
    }
    if ending.now == nil, let line = unendedLine(lives) { violations.append(line) }
    let absent = states.prefix(facts.tasks).count { $0 == .absent }
    if absent > 0, ending == .byItself {
      violations.append("never-arrived: \(absent) of \(facts.tasks) tasks never arrived")
    }
  }

  private func unendedLine(_ lives: [TaskLife]) -> String? {
    guard !unended.isEmpty else { return nil }
    let named = unended.map { task in
      let name = task.label(amongst: lives.count)
      let life = lives[Int(task.number) - 1]
      if let admitted = life.admitted {
        return "\(name) (in service since \(DurationText.text(admitted)))"
      }
      return "\(name) (waiting since \(DurationText.text(life.arrived ?? 0)))"
    }
    return "never-ended: " + ListText.first(3, of: named)
  }
}

/// The first case and the number of each kind of fault, in the order in which they turned up.
private struct Faults {
  private struct Fault {
    var name: String
    var first: String
    var count = 1
  }

  private let tasks: Int
  private var found: [Fault] = []

  init(tasks: Int) { self.tasks = tasks }

  mutating func note(_ name: String, _ event: TraceEvent, _ what: String) {
    let task = event.task.label(amongst: tasks)
    add(name, "\(task) \(what) at \(DurationText.text(event.time))")
  }

  mutating func overLimit(_ running: Int, _ limit: Int, at time: Int64) {
    add("over-admission", "\(running) running at \(DurationText.text(time)), limit \(limit)")
  }

  private mutating func add(_ name: String, _ first: @autoclosure () -> String) {
    if let index = found.firstIndex(where: { $0.name == name }) {
      found[index].count += 1
    } else {
      found.append(Fault(name: name, first: first()))
    }
  }

  var lines: [String] { found.map { "\($0.name): \($0.first)\(more($0.count))" } }

  /// What to add to a line whose first case stands for `count` of them.
  func more(_ count: Int) -> String { count > 1 ? " (the first of \(count))" : "" }
}
