internal import Basics
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

  /// Has calls that are taken over ask the worker on whose thread they are made.
  static func install() { _ = installed }

  private static let installed: Void = {
    precondition(
      SynchronizationOperation.Kind.sleep.rawValue == UInt8(point_sleep.rawValue),
      "the points of CExplorable and the kinds of operations have other numbers"
    )
    var answers = exploration_answers()
    answers.pause = { kind, address in
      guard let me = Worker.current,
        let kind = SynchronizationOperation.Kind(rawValue: kind)
      else { return true }
      return me.pause(before: kind, at: address)
    }
    answers.note_outcome = { Worker.current?.noteOutcome(hasWritten: $0) }
    answers.wants_values = { Worker.current != nil }
    answers.note_values = { values in
      guard let values = values?.pointee, let me = Worker.current else { return }
      me.workers.run.found = values.found
      guard me.wantsValues else { return }
      me.note(
        OperationValues(
          found: text(values.found, bytes: values.bytes),
          left: values.has_left ? text(values.left, bytes: values.bytes) : nil,
          hasWritten: values.has_written
        )
      )
    }
    answers.note_lock = { address in
      guard let me = Worker.leading else { return }
      me.workers.noteLock(at: address)
    }
    answers.note_release = { address in
      guard let me = Worker.leading, !me.workers.noteReleaseInside(at: address) else { return }
      me.noteRelease(of: me.workers.objects.number(at: address))
    }
    answers.note_shared_release = { address in
      guard let me = Worker.leading else { return }
      me.workers.noteSharedRelease(of: me.workers.objects.number(at: address), by: me)
    }
    answers.note_writer = { address, waits in
      guard let me = Worker.leading else { return }
      me.workers.noteWriter(of: me.workers.objects.number(at: address), waits: waits)
    }
    answers.holds = { address in
      guard let me = Worker.leading else { return false }
      return me.workers.holds(me, me.workers.objects.number(at: address))
    }
    answers.begin_wait = { condition, lock in
      guard let me = Worker.leading else { return }
      me.workers.beginWait(for: me.workers.objects.number(at: condition), by: me)
      if !me.workers.noteReleaseInside(at: lock) {
        me.noteRelease(of: me.workers.objects.number(at: lock))
      }
    }
    answers.must_let_others_take = { address in
      Worker.leading.map { $0.workers.mustLetOthersTake(address, after: $0) } ?? false
    }
    answers.stands_before_release = { address in
      guard let me = Worker.leading, let object = me.workers.objects.knownNumber(at: address)
      else { return false }
      return me.workers.standsBeforeRelease(of: object, by: me)
    }
    answers.limit_wait = { time in
      guard let me = Worker.leading else { return }
      me.deadline = me.workers.run.executor.deadline(in: time)
    }
    answers.now = { Worker.leading?.workers.time() ?? 0 }
    answers.pass = { time in
      guard let executor = Worker.leading?.workers.run.executor else { return }
      executor.advance(to: executor.deadline(in: time))
    }
    answers.chance = { Worker.leading?.workers.chance() ?? 0 }
    answers.give_work = { line, work in
      guard let line = line?.pointee, let me = Worker.leading else { return }
      me.workers.give(me.workers.told(work), to: line)
    }
    answers.give_later = { time, line, work in
      guard let line = line?.pointee, let me = Worker.leading else { return }
      me.workers.give(me.workers.told(work), to: line, in: time)
    }
    answers.give_timed = { timer, time, isRepeated, line, work in
      guard let me = Worker.leading else { return }
      let line = line?.pointee
      me.workers.give(
        line == nil ? nil : me.workers.told(work),
        to: line,
        by: timer,
        in: time,
        again: isRepeated
      )
    }
    answers.is_left = { Worker.leading.map { !$0.workers.run.isLive } ?? true }
    answers.schedule = { UInt64(Worker.leading?.workers.schedule ?? 0) }
    answers.join_line = { line in
      guard let line = line?.pointee, let me = Worker.leading else { return true }
      return me.workers.join(line, by: me)
    }
    answers.leave_line = {
      guard let me = Worker.leading else { return }
      me.workers.leaveLine(me)
    }
    answers.suspend_line = { queue, isSuspended in
      guard let me = Worker.leading else { return }
      me.workers.suspend(queue, isSuspended)
    }
    answers.is_in_line = { queue in
      Worker.current?.turns.contains { $0.queue == queue || $0.root == queue } ?? false
    }
    answers.current_line = { Worker.current?.turns.last?.queue ?? 0 }
    answers.await_group = { group, line, work in
      guard let line = line?.pointee, let me = Worker.leading else { return }
      me.workers.give(me.workers.told(work), to: line, atEndOf: group)
    }
    answers.end_group = { Worker.leading?.workers.endGroup($0) }
    answers.note_made = { Worker.current?.workers.run.executor.onMade?(UnownedJob(address: $0)) }
    answers.begin_continuation = { task, isExplored in
      Continuations.begin(task, by: isExplored ? Worker.leading : nil)
    }
    answers.end_continuation = { task, isExplored in
      guard let agent = Continuations.endTwice(task), isExplored, let me = Worker.leading else {
        return true
      }
      me.workers.run.executor.onDoubleResume?(agent)
      return false
    }
    answers.make_thread = { thread in
      guard let me = Worker.leading else { return nil }
      if thread != nil { me.workers.run.sawThread = true }
      return Workers.known(me.workers.makeThread(as: thread))
    }
    answers.name_thread = { known, thread, isJoinable in
      guard let me = Worker.leading, let known else { return }
      me.workers.name(Workers.worker(known), at: thread, isJoinable: isJoinable)
    }
    answers.start_thread = { known in
      guard let me = Worker.leading, let known else { return }
      me.workers.start(Workers.worker(known))
    }
    answers.begin_thread = { known in
      guard let known else { return }
      let worker = Workers.worker(known)
      worker.workers.begin(worker)
    }
    answers.end_thread = { known in
      guard let known else { return }
      Workers.end(known)
    }
    answers.may_join = { Worker.leading?.workers.mayJoin($0) ?? false }
    answers.forget_thread = { Worker.leading?.workers.forget(thread: $0) }
    answers.await_blocked = { Worker.leading?.workers.awaitBlocked() }
    answers.note_unseen = { name in
      guard let name, let me = Worker.leading else { return }
      me.workers.run.noteUnseenCall(String(cString: name))
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
