import LessonBook
import TestSupport
import Testing

@testable import Grading

/// The exercise on coordinated omission: what it takes, and by which question it refuses.
@Suite(.watched, .serialized) struct `Meters` {
  private struct Open: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct Closed: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      var took: [Duration] = []
      for (number, time) in due.enumerated() {
        await clock.sleep(until: time)
        let start = clock.now
        try? await send(number)
        took.append(clock.now - start)
      }
      return took
    }
  }

  private struct InOrderOfAnswers: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: Duration.self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return clock.now - time
          }
        }
        var took: [Duration] = []
        for await time in group { took.append(time) }
        return took
      }
    }
  }

  private struct WithoutFailures: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration)?.self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            do { try await send(number) } catch { return nil }
            return (number, clock.now - time)
          }
        }
        var took: [Int: Duration] = [:]
        for await answer in group { if let answer { took[answer.number] = answer.took } }
        return due.indices.compactMap { took[$0] }
      }
    }
  }

  private struct AFewAtOnce: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        var took = due
        for (number, time) in due.enumerated() {
          // Two hundred and fifty-six at once are enough for a client.
          if number >= 256, let (number, time) = await group.next() { took[number] = time }
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct FromTheSending: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            let start = clock.now
            try? await send(number)
            return (number, clock.now - start)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct FromItsOwnBeginning: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      let start = clock.now
      return await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: start + time)
            try? await send(number)
            return (number, clock.now - start - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  /// Sends nothing for a task that was cancelled.
  private struct UnlessCancelled: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          _ = group.addTaskUnlessCancelled {
            await clock.sleep(until: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private protocol Beginning: SendableMetatype {
    /// From when on the wait is counted.
    static func time(_ due: Duration, at now: Duration) -> Duration
  }

  private enum WhenItIsAsked: Beginning {
    static func time(_ due: Duration, at now: Duration) -> Duration { max(due, now) }
  }

  private enum TheServersStart: Beginning {
    static func time(_ due: Duration, at now: Duration) -> Duration { max(due, .zero) }
  }

  /// Takes what is due before a time for due at that time: now, or the server's start.
  private struct From<B: Beginning>: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          let time = B.time(time, at: clock.now)
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  /// Gives requests that are due at the same time each other's times.
  private struct SwapsWithin: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (due: Duration, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return (time, clock.now - time)
          }
        }
        var took: [Duration: [Duration]] = [:]
        for await (time, answer) in group { took[time, default: []].append(answer) }
        return due.map { took[$0]?.removeFirst() ?? .zero }
      }
    }
  }

  private struct Sorted: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.sorted().enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct AskingAgain: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            do { try await send(number) } catch { try? await send(number) }
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct ByAnotherClock: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            try? await Task.sleep(for: time)
            try? await send(number)
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  /// Takes a request that is refused as a cancelled one is for none.
  private struct CancellationIsNoAnswer: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await withTaskGroup(of: (number: Int, took: Duration).self) { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            do {
              try await send(number)
            } catch is CancellationError {
              return (number, .zero)
            } catch {}
            return (number, clock.now - time)
          }
        }
        var took = due
        for await (number, time) in group { took[number] = time }
        return took
      }
    }
  }

  private struct AMillisecondAtLeast: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await Open().measure(due: due, on: clock, send: send).map { max($0, .milliseconds(1)) }
    }
  }

  /// Waits for a minute at most.
  private struct AMinuteAtMost: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await Open().measure(due: due.map { min($0, .seconds(60)) }, on: clock, send: send)
    }
  }

  /// Sends at whole milliseconds.
  private struct ByMilliseconds: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      let whole = due.map { Duration.milliseconds(Int64(($0 / .milliseconds(1)).rounded(.up))) }
      let took = await Open().measure(due: whole, on: clock, send: send)
      return zip(took, zip(whole, due)).map { $0 + ($1.0 - $1.1) }
    }
  }

  /// Tells what is left when it has gone through a unit that is too coarse.
  private struct Rounded<F: Rounding>: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await Open().measure(due: due, on: clock, send: send).map(F.rounded)
    }
  }

  private protocol Rounding: SendableMetatype {
    static func rounded(_ time: Duration) -> Duration
  }

  private enum ToMicroseconds: Rounding {
    static func rounded(_ time: Duration) -> Duration {
      .microseconds(Int64(time / .microseconds(1)))
    }
  }

  private enum ToSecondsOfADouble: Rounding {
    static func rounded(_ time: Duration) -> Duration { .seconds(time / .seconds(1)) }
  }

  private struct WithTasksOfItsOwn: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      let tasks = due.enumerated().map { number, time in
        Task {
          await clock.sleep(until: time)
          try? await send(number)
          return clock.now - time
        }
      }
      var took: [Duration] = []
      for task in tasks { took.append(await task.value) }
      return took
    }
  }

  /// Sends again what was refused in no time.
  private struct SendsAgain: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      await Open().measure(due: due, on: clock) { number in
        let start = clock.now
        do { try await send(number) } catch { if clock.now == start { try await send(number) } }
      }
    }
  }

  /// Tries the server before it measures.
  private struct TriesFirst: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      if due.isEmpty { try? await send(0) }
      return await Open().measure(due: due, on: clock, send: send)
    }
  }

  private func expect<Meter: LearnerMeter>(
    _ type: Meter.Type,
    refusedBy name: String,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let failed = await refusal(Grader.meter(type))
    #expect(failed?.name == name, "\(failed as Any)", sourceLocation: location)
    #expect(failed?.sentence.contains(part) == true, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `that send in an open loop pass`() async {
    #expect(await refusal(Grader.meter(Open.self)) == nil)
  }

  @Test(.long) func `that leave something out are refused by the request that shows it`() async {
    await expect(Closed.self, refusedBy: "stall", saying: "was sent at 2 s, 2 s late")
    await expect(AFewAtOnce.self, refusedBy: "together", saying: "request 256, due at 1 s,")
    await expect(
      InOrderOfAnswers.self,
      refusedBy: "overtaking",
      saying: "took 100 ms, and 'measure'"
    )
    await expect(WithoutFailures.self, refusedBy: "failures", saying: "and 20 times came back")
    await expect(
      SendsAgain.self,
      refusedBy: "at_once",
      saying: "request 1, due at 10 ms, was sent 2 times"
    )
    await expect(
      TriesFirst.self,
      refusedBy: "none",
      saying: "request 0 was sent, and there is no such request"
    )
    await expect(
      CancellationIsNoAnswer.self,
      refusedBy: "cancellation_errors",
      saying: "was refused with a CancellationError at"
    )
    await expect(
      AMillisecondAtLeast.self,
      refusedBy: "short",
      saying: "took 1 us, and 'measure' says 1 ms"
    )
    await expect(
      AMinuteAtMost.self,
      refusedBy: "long",
      saying: "request 2, due at 1 h, was sent too early"
    )
    await expect(
      Rounded<ToMicroseconds>.self,
      refusedBy: "short",
      saying: "so it took 1 us, and 'measure' says 1 ns less"
    )
    await expect(
      Rounded<ToSecondsOfADouble>.self,
      refusedBy: "stall",
      saying: "so it took 2.01 s, and 'measure' says 1 ns less"
    )
    await expect(ByMilliseconds.self, refusedBy: "drawn", saying: "late")
    await expect(AskingAgain.self, refusedBy: "failures", saying: "was sent 2 times")
    await expect(FromTheSending.self, refusedBy: "busy", saying: "and 'measure' says 5 ms")
    await expect(FromItsOwnBeginning.self, refusedBy: "later", saying: "was sent at 6.01 s")
    await expect(
      From<WhenItIsAsked>.self,
      refusedBy: "overdue",
      saying:
        "request 0, due at -1 s, was refused at 3.01 s, so it took 4.01 s, and 'measure' says 10 ms"
    )
    await expect(SwapsWithin.self, refusedBy: "same_time", saying: "and 'measure' says 19 ms")
    await expect(
      From<TheServersStart>.self,
      refusedBy: "overdue",
      saying:
        "request 0, due at -1 s, was refused at 3.01 s, so it took 4.01 s, and 'measure' says 3.01 s"
    )
    await expect(
      UnlessCancelled.self,
      refusedBy: "cancelled",
      saying: "was never sent"
    )
    await expect(Sorted.self, refusedBy: "drawn", saying: "was sent too early")
    // Whether such a task has come back when nothing is left to do depends on the machine: there are two sentences.
    await expect(ByAnotherClock.self, refusedBy: "steady", saying: "ait by 'clock.sleep'")
    await expect(WithTasksOfItsOwn.self, refusedBy: "steady", saying: "tart tasks in a task group")
  }
}
