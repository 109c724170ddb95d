internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

extension Grader {
  /// Lesson 11: in order, one at a time, none lost, whoever sends.
  package static func outbox<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook {
    GradeBook([
      comesBack(type),
      inARow(type, "two", ["s", "sw"]),
      inARow(type, "order", ["s", "sw", "swi"]),
      inARow(type, "empty", ["", "s"]),
      inARow(type, "equal", ["s", "s", "s"]),
      texts(type),
      sentLater(type),
      sentTwiceLater(type),
      sentAfterMany(type),
      senders(type, "at_once", [["a"], ["b"]], preemptions: 2),
      // Those in order change the end first: of the two sends themselves the first thousands have nothing.
      senders(type, "at_once_drawn", [["a"], ["b"]], preemptions: 2, isDrawn: true),
      senders(type, "two_senders", [["a1", "a2"], ["b1", "b2"]], preemptions: onePreemption),
      urgentSender(type),
      cancelledSender(type),
      sentMeanwhile(type),
      letGo(type),
      outboxesApart(type),
      nextWaits(type),
      sendReturns(type),
      manyWait(type),
      manySenders(type),
      onThreads(type),
      outboxGone(type),
      messagesKept(type),
      longMessagesKept(type),
      keptInLine(type),
      keptOneByOne(type),
    ])
  }

  /// `send` returns before its message has been taken.
  ///
  /// Asked first, and on a thread that may be held: an exploration waits a second for each thread that is blocked.
  private static func comesBack<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked = "'s', whose receiver is done when 'send' has returned"
    let question = GradeBook.Question.task("comes_back", asked, seconds: 10) { _ in
      let inbox = Inbox()
      let (mayEnd, ends) = Condition.makeCondition()
      let outbox = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) { try? await mayEnd.waitUncancellably() }
        }
      )
      outbox.send("s")
      ends.signal()
      await inbox.settle(for: 1)
      withExtendedLifetime(outbox) {}
      return GradeItem("comes_back", passed: true, "\(asked): it does not wait")
    }
    return GradeBook.Question(name: "comes_back") { terms in
      let item = question.ask(terms)
      if item.passed { return item }
      return GradeItem(
        "comes_back",
        passed: false,
        "\(asked): it does not return. Whoever calls it cannot wait, so it may not block its thread either: let a "
          + "task wait"
      )
    }
  }

  /// One task sends some, without a break.
  private static func inARow<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ name: String,
    _ messages: [String]
  ) -> GradeBook.Question {
    let sent = ListText.all(messages.map { "'\($0)'" })
    return promised(name, "\(sent), sent one after the other") {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      for message in messages { outbox.send(message) }
      await inbox.wait(for: messages.count)
      try judge(inbox, [messages])
      withExtendedLifetime(outbox) {}
    }
  }

  /// One is sent while another may just have been taken, and more when all have been.
  private static func sentLater<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised("later", "'s', a moment later 'sw', and 'x' when both have been taken") {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      outbox.send("s")
      await Task.yield()
      outbox.send("sw")
      await inbox.wait(for: 2)
      outbox.send("x")
      await inbox.wait(for: 3)
      try judge(inbox, [["s", "sw", "x"]])
      withExtendedLifetime(outbox) {}
    }
  }

  /// Two are sent, a moment apart, as what was taken before is about to be forgotten.
  private static func sentTwiceLater<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised(
      "two_later",
      "'s'; when it has been taken 'sw', and a moment later 'swi'",
      schedules: 1_500
    ) {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      outbox.send("s")
      await inbox.wait(for: 1)
      outbox.send("sw")
      await Task.yield()
      outbox.send("swi")
      await inbox.wait(for: 3)
      try judge(inbox, [["s", "sw", "swi"]])
      withExtendedLifetime(outbox) {}
    }
  }

  /// One is sent just as all that were sent have been taken, however many in one go.
  private static func sentAfterMany<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let messages = (1...20).map { "\($0)" }
    return promised(
      "later_after_many",
      "20 messages, and 'x' when all have been taken",
      preemptions: 1,
      schedules: 400
    ) {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      for message in messages { outbox.send(message) }
      await inbox.wait(for: messages.count)
      outbox.send("x")
      await inbox.wait(for: messages.count + 1)
      try judge(inbox, [messages + ["x"]])
      withExtendedLifetime(outbox) {}
    }
  }

  /// What stands in a message is no matter of the outbox.
  private static func texts<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook.Question {
    let asked = "messages of one line and of several, with spaces at their ends, short and long"
    return .task("texts", asked, seconds: 30) { _ in
      let messages: [(words: String, text: String)] = [
        ("of two lines", "a\nb"), ("that ends with a new line", "c\n"),
        ("with spaces around it", "  d "), ("of a space", " "), ("with a tab", "e\tf"),
        ("with commas and quotes", "g, \"h\"; i|j"), ("with a zero in it", "k\0l"),
        ("of two lines as Windows writes them", "u\r\nv\r\n"),
        ("with a lone carriage return", "w\rx"),
        ("with a mark of byte order", "\u{FEFF}y"), ("of one flag", "\u{1F1E6}\u{1F1FA}"),
        ("in capitals", "M"), ("with an accent of its own", "e\u{301}"),
        ("of 300 characters", (0..<100).map { "\($0 % 7)n " }.joined()),
        ("of a million characters", String(repeating: "opqrs", count: 200_000) + "t"),
        ("of one letter", "t"),
      ]
      let inbox = Inbox()
      let (mayEnd, ends) = Condition.makeCondition()
      let outbox = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) { try? await mayEnd.waitUncancellably() }
        }
      )
      for message in messages { outbox.send(message.text) }
      ends.signal()
      await Moment.pass(until: messages.count) { inbox.count }
      withExtendedLifetime(outbox) {}
      let taken = inbox.texts
      // Strings are equal if they look the same.
      let wrong = messages.enumerated().first { place, message in
        place >= taken.count || !taken[place].utf8.elementsEqual(message.text.utf8)
      }
      return GradeItem(
        "texts",
        passed: wrong == nil && taken.count == messages.count,
        "\(asked): "
          + (wrong.map { "a message \($0.element.words) was taken as another, or never" }
            ?? (taken.count > messages.count
              ? "\(messages.count) were sent, and \(taken.count) taken"
              : "each is taken as it was sent"))
      )
    }
  }

  /// Each of some tasks has its own order.
  private static func senders<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ name: String,
    _ senders: [[String]],
    preemptions: Int,
    isDrawn: Bool = false
  ) -> GradeBook.Question {
    let sent = senders.map { ListText.all($0.map { "'\($0)'" }) }
    return promised(
      name,
      "two tasks, of which one sends \(sent[0]) and the other \(sent[1])",
      tasks: sent.map { "the one that sends \($0)" },
      preemptions: preemptions,
      schedules: isDrawn ? 600 : 2_000,
      isDrawn: isDrawn
    ) {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      let send: @Sendable ([String]) -> Void = { for message in $0 { outbox.send(message) } }
      let tasks = senders.enumerated().map { number, messages in
        Task(priority: .inTurn(number)) { send(messages) }
      }
      for task in tasks { await task.value }
      await inbox.wait(for: senders.joined().count)
      try judge(inbox, senders)
      withExtendedLifetime(outbox) {}
    }
  }

  /// The order is that in which they were sent, however urgent who sends is.
  private static func urgentSender<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised(
      "urgent",
      "'s'; while it is taken, a task of low priority sends 'sw', and then one of high priority 'swi'",
      preemptions: onePreemption,
      schedules: 1_000
    ) {
      let inbox = Inbox()
      let (mayEnd, ends) = Condition.makeCondition()
      let outbox = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) {
            if message == "s" { try? await mayEnd.waitUncancellably() }
          }
        }
      )
      let send: @Sendable (String) -> Void = { outbox.send($0) }
      send("s")
      await Task(priority: .low) { send("sw") }.value
      await Task(priority: .high) { send("swi") }.value
      ends.signal()
      await inbox.wait(for: 3)
      try judge(inbox, [["s", "sw", "swi"]])
      withExtendedLifetime(outbox) {}
    }
  }

  /// What was sent is taken, whatever becomes of who sent it.
  private static func cancelledSender<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised(
      "cancelled",
      "a task that sends 's', is cancelled, and sends 'sw'",
      preemptions: onePreemption,
      schedules: 2_000
    ) {
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      let send: @Sendable (String) -> Void = { outbox.send($0) }
      let sender = Task {
        send("s")
        withUnsafeCurrentTask { $0?.cancel() }
        send("sw")
      }
      await sender.value
      await inbox.wait(for: 2)
      try judge(inbox, [["s", "sw"]])
      withExtendedLifetime(outbox) {}
    }
  }

  /// What the receiver sends itself stands in line as all else.
  private static func sentMeanwhile<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised(
      "sent_meanwhile",
      "'s', and 'sw' and 'swi', which the receiver sends to the same outbox while it takes 's'",
      preemptions: onePreemption
    ) {
      let inbox = Inbox()
      let outbox = Lock<Outbox?>(nil)
      let made = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) {
            if message == "s", let outbox = outbox.withLock({ $0 }) {
              outbox.send("sw")
              outbox.send("swi")
            }
            await Task.yield()
          }
        }
      )
      outbox.withLock { $0 = made }
      made.send("s")
      await inbox.wait(for: 3)
      outbox.withLock { $0 = nil }
      try judge(inbox, [["s", "sw", "swi"]])
    }
  }

  /// What was sent is taken, also when nobody has the outbox any more.
  private static func letGo<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook.Question {
    promised("let_go", "'s' and 'sw', and nobody has the outbox any more", schedules: 2_000) {
      let inbox = Inbox()
      send(type, ["s", "sw"], to: inbox.receiver)
      await inbox.wait(for: 2)
      try judge(inbox, [["s", "sw"]])
    }
  }

  private static func send<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ messages: [String],
    to receiver: Receiver
  ) {
    let outbox = Outbox(receiver: receiver)
    for message in messages { outbox.send(message) }
  }

  /// A message whose turn has not come waits: it does not ask again and again.
  ///
  /// While the first never ends, nothing should run; a task that asks again and again always runs.
  private static func nextWaits<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked = "'s' and 'sw', while the first is being taken"
    return GradeBook.Question(name: "waits") { _ in
      do throws(ExplorationFailure) {
        _ = try explore("yours", preemptions: 0, schedules: 100, besides: Scenario.aroundAnswers) {
          let inbox = Inbox()
          let (never, signal) = Condition.makeCondition()
          let outbox = Outbox(
            receiver: Receiver { message in
              await inbox.take(message) { try? await never.waitUncancellably() }
            }
          )
          outbox.send("s")
          outbox.send("sw")
          await inbox.wait(for: 1)
          withExtendedLifetime((outbox, signal)) {}
        }
        return GradeItem("waits", passed: false, "\(asked): 's' was not handed over")
      } catch {
        switch error.kind {
        case .deadlock:
          return GradeItem("waits", passed: true, "\(asked): the other waits, and asks nobody")
        case .livelock, .tooManySteps:
          return GradeItem(
            "waits",
            passed: false,
            "\(asked): the other asks again and again whether its turn has come. Have it await something that "
              + "ends with the first",
            story: story(error, [])
          )
        default:
          return GradeItem(
            "waits",
            passed: false,
            "\(asked): \(what(error))",
            story: story(error, [])
          )
        }
      }
    }
  }

  /// A promise about messages: where nothing can go on, says of the messages what that means.
  private static func promised(
    _ name: String,
    _ asked: String,
    tasks: [String] = [],
    preemptions: Int = 2,
    schedules: Int = 4_000,
    isDrawn: Bool = false,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> GradeBook.Question {
    let question = promise(
      name,
      asked,
      tasks: tasks,
      preemptions: preemptions,
      schedules: schedules,
      isDrawn: isDrawn,
      body
    )
    return GradeBook.Question(name: name) { terms in
      var item = question.ask(terms)
      let standstill = "nothing can run any more, and "
      guard let place = item.sentence.firstRange(of: standstill) else { return item }
      let who = String(item.sentence[place.upperBound...])
      let waits = who.hasPrefix("task 1 ") || who.hasPrefix("task 1,")
      item.sentence.replaceSubrange(
        place.lowerBound...,
        with: waits
          ? "a message that was sent is never taken"
          : "all are taken, and \(who). Look for a task that waits for the next message when the outbox is gone, "
            + "and end it in 'deinit'"
      )
      return item
    }
  }

  private static func judge(_ inbox: Inbox, _ senders: [[String]]) throws {
    let fault = inbox.fault(senders)
    try require(fault == nil, fault ?? "")
  }

  /// `send` returns, however long the receiver takes.
  private static func sendReturns<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked = "20,000 messages, some of them equal, sent while the first is being taken"
    let question = GradeBook.Question.task("returns", asked, seconds: 30) { _ in
      let inbox = Inbox()
      let (mayEnd, ends) = Condition.makeCondition()
      let outbox = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) {
            if message == "first" { try? await mayEnd.waitUncancellably() }
          }
        }
      )
      let messages = ["first"] + (1..<20_000).map { "\($0 / 2 % 77)" }
      for message in messages { outbox.send(message) }
      ends.signal()
      await inbox.settle(for: messages.count)
      let fault = inbox.fault([messages])
      withExtendedLifetime(outbox) {}
      return GradeItem(
        "returns",
        passed: fault == nil,
        "\(asked): \(fault ?? "'send' does not wait, and none is lost")"
      )
    }
    return GradeBook.Question(name: "returns") { terms in
      let item = question.ask(terms)
      guard item.sentence.contains("no end within") else { return item }
      return GradeItem(
        "returns",
        passed: false,
        "\(asked): 'send' does not return, or a message is never taken. However many wait, 'send' cannot"
      )
    }
  }

  /// Hundreds wait, and the order is still that in which they were sent.
  private static func manyWait<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook.Question {
    let urgencies: [TaskPriority] = [.low, .high, .background, .medium, .high]
    let count = 600
    let asked =
      "\(count) messages, sent one after the other by tasks of every urgency, some of them cancelled, while the first is "
      + "being taken"
    return .task("many_wait", asked, seconds: 30) { _ in
      let inbox = Inbox()
      let (mayEnd, ends) = Condition.makeCondition()
      let messages = (1...count).map(String.init)
      let outbox = Outbox(
        receiver: Receiver { message in
          await inbox.take(message) {
            if message == messages[0] { try? await mayEnd.waitUncancellably() }
          }
        }
      )
      let send: @Sendable (String) -> Void = { outbox.send($0) }
      for (number, message) in messages.enumerated() {
        await Task(priority: urgencies[number % urgencies.count]) {
          if number % 7 == 6 { withUnsafeCurrentTask { $0?.cancel() } }
          send(message)
        }.value
      }
      ends.signal()
      await inbox.settle(for: count)
      let fault = inbox.fault([messages])
      withExtendedLifetime(outbox) {}
      return GradeItem(
        "many_wait",
        passed: fault == nil,
        "\(asked): \(fault ?? "they are taken in that order")"
      )
    }
  }

  /// Many tasks send on the machine's own threads.
  private static func manySenders<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked = "8 tasks that send 100 messages each, at once"
    return .task("many", asked, seconds: 30) { _ in
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      let senders = (1...8).map { sender in (1...100).map { "\(sender).\($0)" } }
      await withTaskGroup { group in
        for (number, messages) in senders.enumerated() {
          group.addTask(priority: .inTurn(number)) {
            for message in messages {
              outbox.send(message)
              if message.hasSuffix("7") { await Task.yield() }
            }
          }
        }
      }
      await inbox.settle(for: 800)
      let fault = inbox.fault(senders)
      withExtendedLifetime(outbox) {}
      return GradeItem(
        "many",
        passed: fault == nil,
        "\(asked): \(fault ?? "each task's are taken in its order, one at a time")"
      )
    }
  }

  /// Threads that send at the same moment: an exploration does not stop inside code that takes no lock.
  private static func onThreads<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook.Question {
    let (threads, messages) = (4, 20_000)
    let asked = "\(threads) threads that send \(messages) messages each, at once"
    return .task("threads", asked, seconds: 60) { _ in
      let inbox = Inbox()
      let outbox = Outbox(receiver: inbox.receiver)
      let senders = (1...threads).map { sender in (1...messages).map { "\(sender).\($0)" } }
      let all = senders.map { messages in
        OSThread { for message in messages { outbox.send(message) } }
      }
      for thread in all { thread.join() }
      await inbox.settle(for: threads * messages)
      withExtendedLifetime(outbox) {}
      guard let fault = inbox.fault(senders) else {
        return GradeItem(
          "threads",
          passed: true,
          "\(asked): each thread's are taken in its order, one at a time"
        )
      }
      // What goes wrong there too is no matter of threads.
      let alone = await faultOfLongLine(type, senders.flatMap(\.self))
      return GradeItem(
        "threads",
        passed: false,
        alone.map {
          "one thread that sends \(threads * messages) messages while the first is being taken: \($0). However many "
            + "wait, none is lost or overtaken"
        } ?? "\(asked): \(fault). Let one lock guard what several threads change"
      )
    }
  }

  /// What becomes of messages that all wait for the first to be taken; nil if nothing is wrong.
  private static func faultOfLongLine<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ messages: [String]
  ) async -> String? {
    let inbox = Inbox()
    let (mayEnd, ends) = Condition.makeCondition()
    let outbox = Outbox(
      receiver: Receiver { message in
        await inbox.take(message) {
          if message == messages[0] { try? await mayEnd.waitUncancellably() }
        }
      }
    )
    for message in messages { outbox.send(message) }
    ends.signal()
    await inbox.settle(for: messages.count)
    withExtendedLifetime(outbox) {}
    return inbox.fault([messages])
  }

  /// An outbox does not wait for another's receiver.
  private static func outboxesApart<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    promised(
      "apart",
      "two outboxes; the receiver of one takes its message when the other's has been taken",
      preemptions: onePreemption,
      schedules: 2_000
    ) {
      let (one, other) = (Inbox(), Inbox())
      let slow = Outbox(
        receiver: Receiver { message in await one.take(message) { await other.wait(for: 1) } }
      )
      let quick = Outbox(receiver: other.receiver)
      slow.send("slow")
      quick.send("quick")
      await one.wait(for: 1)
      try judge(one, [["slow"]])
      try judge(other, [["quick"]])
      withExtendedLifetime((slow, quick)) {}
    }
  }

  private final class Witness: Sendable {}

  private struct WeakWitness: Sendable { weak let object: Witness? }

  /// An outbox that is let go of leaves nothing undone and nothing behind.
  private static func outboxGone<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked = "an outbox that is let go of when three have been sent"
    return .task("gone", asked, seconds: 30) { _ in
      let inbox = Inbox()
      let messages = ["s", "sw", "swi"]
      let (mayEnd, ends) = Condition.makeCondition()
      let witness = sendOnce(type, messages, to: inbox, mayEnd)
      ends.signal()
      await inbox.settle(for: messages.count)
      if let fault = inbox.fault([messages]) {
        return GradeItem("gone", passed: false, "\(asked): \(fault)")
      }
      // What has ended may be let go of a little later.
      for _ in 1...2_000 where witness.object != nil { await Moment.pass() }
      let isGone = witness.object == nil
      return GradeItem(
        "gone",
        passed: isGone,
        "\(asked): all are taken, and "
          + (isGone
            ? "nothing is left behind"
            : "the receiver is still kept. Look for a task that waits for ever for the next message, and end it in "
              + "'deinit'; or for two objects that keep each other")
      )
    }
  }

  private static func sendOnce<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ messages: [String],
    to inbox: Inbox,
    _ mayEnd: Condition
  ) -> WeakWitness {
    let witness = Witness()
    let receiver = Receiver { [witness] message in
      await inbox.take(message) {
        if message == messages[0] { try? await mayEnd.waitUncancellably() }
      }
      withExtendedLifetime(witness) {}
    }
    send(type, messages, to: receiver)
    return WeakWitness(object: witness)
  }

  /// Nothing is kept of a message that has been taken: an outbox may live for months.
  private static func messagesKept<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    GradeBook.Question(name: "kept") { terms in judgeKept(type, terms.heap).ask(terms) }
  }

  private static func judgeKept<Outbox: LearnerOutbox>(
    _ type: Outbox.Type,
    _ heap: @escaping @Sendable () -> Int64
  ) -> GradeBook.Question {
    .task("kept", "thousands of messages", seconds: 120) { _ in
      let batch = 3_000
      let inbox = Inbox(remembers: false)
      let outbox = Outbox(receiver: inbox.receiver)
      func item(_ batches: Int, _ passed: Bool, _ words: String) -> GradeItem {
        GradeItem("kept", passed: passed, "\(batches * batch) messages to one outbox: \(words)")
      }
      var growth = GrowthWatch(perBatch: Int64(batch) * leastKept)
      for batches in 1...20 {
        for number in 1...batch {
          // Too long to be stored without memory of its own.
          outbox.send("message \(number) of a long day")
          if number.isMultiple(of: 100) { await Task.yield() }
        }
        await inbox.settle(for: batches * batch)
        if inbox.count < batches * batch {
          return item(batches, false, "\(inbox.count) were taken")
        }
        if growth.isOver(heap()) { return item(batches, true, "nothing is kept of them") }
      }
      withExtendedLifetime(outbox) {}
      return item(
        20,
        false,
        "memory grows with each batch of \(batch), so something is kept of each message when it has been taken. "
          + "Keep no message then, and of tasks the last one at most"
      )
    }
  }

  /// Of what was taken nothing is kept, not even of the last few.
  private static func longMessagesKept<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    // One or two may still be in the hands of the task that took them.
    let (count, size, most) = (160, 500_000, 5)
    let asked = "\(count) messages of half a million characters and a few more"
    return GradeBook.Question(name: "kept_long") { terms in
      let heap = terms.heap
      return GradeBook.Question.task("kept_long", asked, seconds: 60) { _ in
        let inbox = Inbox(remembers: false)
        let outbox = Outbox(receiver: inbox.receiver)
        let before = heap()
        for number in 1...count {
          outbox.send(String(repeating: "m", count: size + number))
        }
        await inbox.settle(for: count)
        let isKept = { heap() - before > most * size }
        // What has ended may be let go of a little later.
        for _ in 1...2_000 where isKept() { await Moment.pass() }
        let taken = inbox.count
        let kept = Int(heap() - before)
        withExtendedLifetime(outbox) {}
        let fault: String? =
          taken < count
          ? "\(taken) were taken"
          : kept > most * size
            ? "all have been taken, and \(kept / 1_000_000) MB more are in use than before. Keep nothing of what was taken"
            : nil
        return GradeItem(
          "kept_long",
          passed: fault == nil,
          "\(asked): \(fault ?? "nothing is kept of them")"
        )
      }.ask(terms)
    }
  }

  /// Sends a message that is like no other, each time.
  private static func distinctMessages(to outbox: some LearnerOutbox) -> @Sendable () -> Void {
    let count = Lock(0)
    return {
      let number = count.withLock { count in
        count += 1
        return count
      }
      outbox.send("message \(number) of a long day")
    }
  }

  /// Of what was taken nothing is kept, also while something always waits.
  private static func keptInLine<Outbox: LearnerOutbox>(_ type: Outbox.Type) -> GradeBook.Question {
    let asked = "\(HeapTrial.count) messages, each sent while another waits"
    return GradeBook.Question(name: "kept_in_line") { terms in
      let trial = HeapTrial(heap: terms.heap)
      return GradeBook.Question.task("kept_in_line", asked, seconds: 120) { _ in
        let grows = await trial.grows {
          let turns = Lock<[Signal]>([])
          let outbox = Outbox(
            receiver: Receiver { _ in
              let (condition, signal) = Condition.makeCondition()
              turns.withLock { $0.append(signal) }
              try? await condition.waitUncancellably()
            }
          )
          let send = distinctMessages(to: outbox)
          send()
          return {
            send()
            // The one before is being taken, or will be.
            var signal: Signal?
            while signal == nil {
              signal = turns.withLock { $0.popLast() }
              if signal == nil { await Task.yield() }
            }
            signal?.signal()
          }
        }
        return GradeItem(
          "kept_in_line",
          passed: !grows,
          "\(asked): "
            + (grows
              ? "memory grows with each. What has been taken must leave the line also if the line never runs empty"
              : "nothing is kept of them")
        )
      }.ask(terms)
    }
  }

  /// Of what was taken nothing is kept, also if nothing waits each time, and if who sends was cancelled.
  private static func keptOneByOne<Outbox: LearnerOutbox>(
    _ type: Outbox.Type
  ) -> GradeBook.Question {
    let asked =
      "\(HeapTrial.count) messages of a task that was cancelled, each sent when those before have been taken"
    return GradeBook.Question(name: "kept_one_by_one") { terms in
      let trial = HeapTrial(heap: terms.heap)
      return GradeBook.Question.task("kept_one_by_one", asked, seconds: 120) { _ in
        let sender = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return await trial.grows {
            let next = Lock<Signal?>(nil)
            let outbox = Outbox(receiver: Receiver { _ in next.withLock { $0.take() }?.signal() })
            let send = distinctMessages(to: outbox)
            return {
              let (isTaken, signal) = Condition.makeCondition()
              next.withLock { $0 = signal }
              send()
              try? await isTaken.waitUncancellably()
              // Who took it may look for another before it comes to rest.
              for _ in 1...3 { await Task.yield() }
            }
          }
        }
        let grows = await sender.value
        return GradeItem(
          "kept_one_by_one",
          passed: !grows,
          "\(asked): "
            + (grows
              ? "memory grows with each. Look what is put into an array or a dictionary and not taken out again"
              : "nothing is kept of them")
        )
      }.ask(terms)
    }
  }
}
