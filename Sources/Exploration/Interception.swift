internal import CExplorable
internal import ExplorableSynchronization

/// What the code under study does without a word to the exploration: it is taken over by `CInterception`, which
/// only explored programs link, and told here.
///
/// Locks and atomics are known by their addresses. The exploration's own code may use the same calls, so points
/// are open on a thread while code under study runs there, and closed in between.
enum Interception {
  /// Whether calls are taken over in this program.
  static var isLinked: Bool { interception_is_linked() }

  /// Whether some of this program's code was compiled with the instrumentation.
  static var hasInstrumentedCode: Bool { has_instrumented_code() }

  /// Has calls that are taken over ask the carrier on whose thread they are made.
  static func install() { _ = installed }

  private static let installed: Void = {
    precondition(
      SynchronizationOperation.Kind.register.rawValue == UInt8(point_register.rawValue),
      "the points of CExplorable and the kinds of operations have other numbers"
    )
    var answers = exploration_answers()
    answers.stand = { kind, address in
      guard let me = Carrier.current,
        let kind = SynchronizationOperation.Kind(rawValue: kind)
      else { return true }
      return me.stand(before: kind, at: address)
    }
    answers.note_outcome = { Carrier.current?.noteOutcome(hasWritten: $0) }
    answers.wants_values = { Carrier.current != nil }
    answers.note_values = { values in
      guard let values = values?.pointee, let me = Carrier.current else { return }
      me.carriers.run.found = values.found
      guard me.wantsValues else { return }
      me.note(
        OperationValues(
          found: text(values.found, bytes: values.bytes),
          left: values.has_left ? text(values.left, bytes: values.bytes) : nil,
          hasWritten: values.has_written
        )
      )
    }
    answers.note_release = { address in
      guard let me = Carrier.leading else { return }
      me.noteRelease(of: me.carriers.number(at: address))
    }
    answers.note_shared_release = { address in
      guard let me = Carrier.leading else { return }
      me.carriers.noteSharedRelease(of: me.carriers.number(at: address), by: me)
    }
    answers.holds = { address in
      guard let me = Carrier.leading else { return false }
      return me.carriers.holds(me, me.carriers.number(at: address))
    }
    answers.begin_wait = { condition, lock in
      guard let me = Carrier.leading else { return }
      me.carriers.beginWait(for: me.carriers.number(at: condition), by: me)
      me.noteRelease(of: me.carriers.number(at: lock))
    }
    answers.is_tried = { Carrier.leading?.carriers.isTried($0) ?? false }
    answers.limit_wait = { time in
      guard let me = Carrier.leading else { return }
      me.deadline = me.carriers.run.executor.deadline(in: time)
    }
    answers.now = { Carrier.leading?.carriers.run.executor.now ?? 0 }
    answers.chance = { Carrier.leading?.carriers.chance() ?? 0 }
    answers.give_work = { line, work in
      guard let line = line?.pointee, let me = Carrier.leading else { return }
      me.carriers.give(Work(work), to: line)
    }
    answers.join_line = { line in
      guard let line = line?.pointee, let me = Carrier.leading else { return true }
      return me.carriers.join(line, by: me)
    }
    answers.leave_line = {
      guard let me = Carrier.leading else { return }
      me.carriers.leaveLine(me)
    }
    answers.is_in_line = { queue in Carrier.current?.turns.contains { $0.queue == queue } ?? false }
    answers.current_line = { Carrier.current?.turns.last?.queue ?? 0 }
    answers.await_group = { group, line, work in
      guard let line = line?.pointee, let me = Carrier.leading else { return }
      me.carriers.give(Work(work), to: line, atEndOf: group)
    }
    answers.end_group = { Carrier.leading?.carriers.endGroup($0) }
    answers.begin_continuation = { task, isExplored in
      Continuations.begin(task, by: isExplored ? Carrier.leading : nil)
    }
    answers.end_continuation = { task, isExplored in
      guard let agent = Continuations.endTwice(task), isExplored, let me = Carrier.leading else {
        return true
      }
      me.carriers.run.executor.onDoubleResume?(agent)
      return false
    }
    answers.note_unseen = { name in
      guard let name, let me = Carrier.leading else { return }
      me.carriers.run.noteUnseenCall(String(cString: name))
    }
    answers.end_program = { function, status in
      guard let function else { return status }
      return ScheduleUnderWay.tellEnd(by: function, status)
    }
    set_exploration_answers(answers)
  }()

  /// What an atomic of so many bytes holds: whether the code takes it for a number with a sign is not known.
  private static func text(_ value: UInt64, bytes: UInt8) -> String {
    switch bytes {
    case 8: "\(Int64(bitPattern: value))"
    case 4: "\(Int32(truncatingIfNeeded: value))"
    default: "\(value)"
    }
  }
}

/// Runs the exploration's own code in the middle of code under study: what it does is no point.
func withoutPoints<Result, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let wereOpen = points_close()
  defer { points_reopen(wereOpen) }
  return try body()
}
