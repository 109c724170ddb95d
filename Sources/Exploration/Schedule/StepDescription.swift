internal import ExplorableSynchronization

/// Steps in words.
extension StepRecord {
  /// Who acts: `t02`, `t02's task` for what it has started, `·` for the driver that cancels, `helper` for
  /// what serves nobody in particular.
  package var actor: String {
    if choice.isInterference { return "·" }
    if task != 0 { return PropertyMonitor.name(task) }
    return starter == 0 ? "helper" : "\(PropertyMonitor.name(starter))'s task"
  }

  /// Who acts in a step of which no more is known than the choice.
  package static func actor(of choice: Choice) -> String {
    choice.isInterference ? "·" : PropertyMonitor.name(Int(choice.agent))
  }

  /// What happened, in one line: "arrives; waits".
  package var description: String { words(of: reports[...], isEnd: true) }

  /// The reports as moments that a person must see one after the other: a body that begins and ends in one step
  /// is seen in service before it is seen to depart.
  package var moments: [ArraySlice<Report>] {
    var parts: [ArraySlice<Report>] = []
    var start = 0
    for (index, report) in reports.enumerated()
    where report.observation.isDeparture
      && reports[start..<index].contains(where: {
        $0.task == report.task && $0.observation == .admitted
      })
    {
      parts.append(reports[start..<index])
      start = index
    }
    return parts + [reports[start...]]
  }

  /// What a moment of the step brought, in one line; its beginning has the reason of the step, and its end what
  /// came of it.
  package func words(of reports: ArraySlice<Report>, isEnd: Bool) -> String {
    var parts = reports.startIndex == 0 ? beginning : []
    for report in reports {
      parts.append(subject(of: report) + report.observation.description)
    }
    if isEnd {
      if !choice.isInterference, isParked {
        parts.append(
          self.reports.contains { $0.observation == .arrived } ? "waits" : "parks"
        )
      }
      // Who acts stands before it: "t01  lets t02 go on".
      if let woken = wokenNames {
        parts.append(parts.isEmpty ? "lets \(woken) go on" : "\(woken) can go on")
      }
    }
    if parts.isEmpty { parts.append(choice.kind == .turn ? "gets its turn" : "goes on") }
    return parts.joined(separator: "; ")
  }

  /// Who did what is reported, where it is not the step's own task; a probe is said to be one where it comes.
  private func subject(of report: Report) -> String {
    if report.task == task { return "" }
    let name = PropertyMonitor.name(report.task)
    guard report.isProbe, report.observation == .arrived else { return "\(name) " }
    return "at the end \(name) is sent to see whether every permit is back: it "
  }

  /// What the step is, besides what was reported in it.
  private var beginning: [String] {
    var parts: [String] = []
    switch choice.kind {
    case .cancel where goesOn, .limit where goesOn: parts.append("\(choice.actorName) goes on")
    case .cancel: parts.append("\(PropertyMonitor.name(Int(choice.agent))) is cancelled")
    case .limit: parts.append("the limit becomes \(choice.agent)")
    case .wake: parts.append("its time has come: it wakes")
    case .run, .turn: break
    }
    if let operation {
      let text = operation.text(of: objectName, values)
      parts.append(text + (place.map { " at \($0)" } ?? ""))
    }
    return parts
  }

  /// Whether nothing of it can be seen from outside: the step led from one suspension to the next, and
  /// touched no lock and no atomic.
  package var isUneventful: Bool {
    !choice.isInterference && preempted == nil && operation == nil && reports.isEmpty
      && woke.isEmpty && !isParked && violation == nil
  }

  private var wokenNames: String? {
    guard !woke.isEmpty, choice.kind != .cancel else { return nil }
    return woke.map { PropertyMonitor.name($0) }.joined(separator: " and ")
  }
}

extension Observation {
  /// Whether a body's service ends with it.
  var isDeparture: Bool { self == .finished || self == .failed || self == .cancelledRunning }

  /// What the task does.
  package var description: String {
    switch self {
    case .arrived: "arrives"
    case .holdsConnection: "holds a connection and wants a file"
    case .holdsFile: "holds a file and wants a connection"
    case .admitted: "is admitted; its body runs"
    case .finished: "departs"
    case .failed: "fails and departs"
    case .cancelledRunning: "departs, cancelled in service"
    case .cancelledWaiting: "leaves the line, cancelled"
    case .rejected: "is turned away"
    case .lostResult: "is told something else than how its body ended"
    }
  }
}

extension SynchronizationOperation {
  /// `takes lock 1 (free)`, `reads atomic 2 (inUse = 0)`, `changes atomic 2 (inUse = 0, then 1)`,
  /// `compares atomic 2 (inUse = 1)`.
  ///
  /// - Parameters:
  ///   - name: what the source calls the object, if that is known.
  ///   - values: what the operation found and left, if that is known.
  /// - Returns: what the agent does, to what, and with which values.
  func text(of name: String? = nil, _ values: OperationValues? = nil) -> String {
    let found = Self.told(values?.found).map {
      [name, "= \($0)"].compactMap(\.self).joined(separator: " ")
    }
    let inside = [found ?? name, Self.told(values?.left).map { "then \($0)" }].compactMap(\.self)
    let verb = kind == .compare && values?.hasWritten == false ? "compares" : kind.verb
    if !kind.hasObject { return verb }
    return "\(verb) \(objectName)"
      + (inside.isEmpty ? "" : " (\(inside.joined(separator: ", ")))")
      + (kind == .readLock || kind == .tryReadLock ? " for reading" : "")
  }

  /// A value, if it says something: of several figures packed into one word nobody reads a sum.
  private static func told(_ value: String?) -> String? {
    value.flatMap { text in
      text.count > 9 && text.allSatisfy { $0.isNumber || $0 == "-" } ? nil : text
    }
  }

  /// `lock 1`.
  var objectName: String {
    switch kind {
    case .lock, .tryLock, .readLock, .tryReadLock: "lock \(object)"
    case .load, .store, .update, .compare, .exchange: "atomic \(object)"
    case .park, .parkAWhile, .unpark: "parker \(object)"
    case .start, .join: "thread \(object)"
    case .wait, .waitAWhile, .signal, .broadcast, .beginWait: "condition \(object)"
    case .takePermit, .tryPermit, .takePermitInTime, .givePermit: "semaphore \(object)"
    case .enqueue, .turn, .giveWork, .suspendQueue: "queue \(object)"
    case .changeTimer: "timer \(object)"
    case .enterGroup, .leaveGroup, .awaitGroup, .tryGroup, .awaitGroupInTime: "group \(object)"
    case .hop: "an actor"
    case .check, .cancel, .begin, .goOn, .register, .sleep: "a task"
    case .loadWeak: "an object"
    }
  }
}

extension SynchronizationOperation.Kind {
  /// What an agent does to the object.
  var verb: String {
    switch self {
    case .lock, .readLock: "takes"
    case .tryLock, .tryReadLock: "tries"
    case .load: "reads"
    case .store: "writes"
    case .update, .exchange: "changes"
    case .compare: "compares and changes"
    case .park: "wakes up at"
    case .parkAWhile: "wakes up, or has slept long enough, at"
    case .unpark: "wakes"
    case .start: "starts"
    case .join: "sees the end of"
    case .wait: "is woken by a signal of"
    case .waitAWhile: "is woken, or has waited long enough, at"
    case .signal: "signals"
    case .broadcast: "wakes all that wait for"
    case .takePermit: "takes a permit of"
    case .tryPermit: "tries to take a permit of"
    case .takePermitInTime: "takes a permit, or has waited long enough, at"
    case .givePermit: "gives a permit to"
    case .hop: "enters an actor"
    case .check: "looks whether a task is cancelled"
    case .cancel: "cancels a task"
    case .begin: "begins on this thread"
    case .goOn: "goes on"
    case .register: "registers a cancellation handler"
    case .enqueue: "asks for its turn on"
    case .giveWork: "gives work to"
    case .suspendQueue: "suspends or resumes"
    case .changeTimer: "sets, begins or ends"
    case .loadWeak: "looks for the object of a weak reference"
    case .turn: "has its turn on"
    case .leaveGroup: "leaves"
    case .enterGroup: "enters"
    case .beginWait: "begins to wait at"
    case .sleep: "has slept long enough"
    case .awaitGroup: "sees the end of"
    case .tryGroup: "looks for the end of"
    case .awaitGroupInTime: "sees the end, or has waited long enough, of"
    }
  }
}
