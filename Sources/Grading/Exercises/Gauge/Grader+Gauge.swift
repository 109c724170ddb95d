internal import Basics
internal import Experiments
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering

/// What is told to a gauge, in the order in which it is told, and what it must have measured.
private struct GaugeLog: Sendable {
  struct Request: Sendable {
    var arrived: Int64
    /// Nil for one that is still inside.
    var departed: Int64?
  }

  struct Word: Sendable {
    var time: Int64
    var isArrival: Bool
  }

  var words: [Word]
  var requests: [Request]

  /// In the order of time; of what happens at one time, arrivals come first.
  init(_ requests: [Request]) {
    self.requests = requests
    words = requests.flatMap { request in
      [Word(time: request.arrived, isArrival: true)]
        + (request.departed.map { [Word(time: $0, isArrival: false)] } ?? [])
    }.sorted { ($0.time, $0.isArrival ? 0 : 1) < ($1.time, $1.isArrival ? 0 : 1) }
  }

  func tell(_ gauge: some LearnerGauge) {
    for word in words {
      if word.isArrival {
        gauge.arrived(at: .nanoseconds(word.time))
      } else {
        gauge.departed(at: .nanoseconds(word.time))
      }
    }
  }

  /// The right figures after the last event that was told, computed request by request.
  func reading(at end: Int64) -> Reading {
    let times = requests.map { ($0.departed ?? end) - $0.arrived }
    let total = times.reduce(0.0) { $0 + Double($1) }
    let isOver = !requests.isEmpty && requests.allSatisfy { $0.departed != nil }
    return Reading(
      inside: end == 0 ? 0 : total / Double(end),
      rate: end == 0 ? 0 : Double(requests.count) / (Double(end) / 1e9),
      response: isOver ? .nanoseconds(Int64(total / Double(requests.count))) : nil
    )
  }
}

extension Grader {
  private static let second: Int64 = 1_000_000_000
  private static let millisecond: Int64 = 1_000_000

  /// Lesson 14: the three figures of Little's law, by a gauge that keeps nothing of a request.
  package static func gauge<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook {
    GradeBook([
      read(type, "alone", "one request, inside from 1 s to 3 s", at: [4]) { _ in
        GaugeLog([.init(arrived: second, departed: 3 * second)])
      },
      read(
        type,
        "nobody",
        "no request at all",
        at: [0, 10],
        advice: "A gauge counts what it is told itself, and shares nothing with others"
      ) { _ in GaugeLog([]) },
      read(
        type,
        "milliseconds",
        "one request, inside from 1 to 3 ms",
        at: [4],
        unit: millisecond
      ) { _ in
        GaugeLog([.init(arrived: millisecond, departed: 3 * millisecond)])
      },
      read(
        type,
        "unequal",
        "requests inside from 0 to 10 s, from 1 to 2 s and from 1 to 5 s",
        at: [20]
      ) { _ in
        GaugeLog([
          .init(arrived: 0, departed: 10 * second), .init(arrived: second, departed: 2 * second),
          .init(arrived: second, departed: 5 * second),
        ])
      },
      read(
        type,
        "still_inside",
        "one request inside from 1 to 2 s, and one that came at 3 s and is still there",
        at: [4, 4, 8, 4]
      ) { _ in
        GaugeLog([.init(arrived: second, departed: 2 * second), .init(arrived: 3 * second)])
      },
      read(
        type,
        "no_time",
        "two requests that come at 1 s and go at 1 s",
        at: [4],
        advice: "Whether anybody came tells the number of arrivals, not the sum of their times"
      ) { _ in
        GaugeLog(Array(repeating: .init(arrived: second, departed: second), count: 2))
      },
      readMeanwhile(type),
      readAgain(type),
      readBefore(type),
      read(
        type,
        "at_zero",
        "a request that comes and goes at 0 s, and one inside from 1 to 3 s",
        at: [4]
      ) { _ in
        GaugeLog([
          .init(arrived: 0, departed: 0), .init(arrived: second, departed: 3 * second),
        ])
      },
      read(
        type,
        "swapped",
        "requests inside from 1 to 5 s and from 3 to 4 s, and each time told a little late: 3, 1, 5, 4",
        at: [8]
      ) { _ in
        var log = GaugeLog([
          .init(arrived: second, departed: 5 * second),
          .init(arrived: 3 * second, departed: 4 * second),
        ])
        log.words = [
          .init(time: 3 * second, isArrival: true), .init(time: second, isArrival: true),
          .init(time: 5 * second, isArrival: false), .init(time: 4 * second, isArrival: false),
        ]
        return log
      },
      read(
        type,
        "departure_first",
        "requests inside from 1 to 3 s and from 4 to 6 s, and each time the departure is told first: 3, 1, 6, 4",
        at: [8],
        advice:
          "Count a departure also when nobody seems to be inside: its arrival is told a moment later"
      ) { _ in
        var log = GaugeLog([
          .init(arrived: second, departed: 3 * second),
          .init(arrived: 4 * second, departed: 6 * second),
        ])
        log.words = [
          .init(time: 3 * second, isArrival: false), .init(time: second, isArrival: true),
          .init(time: 6 * second, isArrival: false), .init(time: 4 * second, isArrival: true),
        ]
        return log
      },
      read(
        type,
        "departures_first",
        "three requests inside from 1 to 3 s, and the departures are told first: 3, 3, 3, 1, 1, 1",
        at: [8],
        advice: "Count each departure, also when several come before their arrivals"
      ) { _ in
        var log = GaugeLog(
          Array(repeating: .init(arrived: second, departed: 3 * second), count: 3)
        )
        log.words = [3, 3, 3, 1, 1, 1].map { .init(time: $0 * second, isArrival: $0 == 1) }
        return log
      },
      told(type),
      whole(type),
      wholeVisit(type),
      onThreads(type),
      lab(type),
      read(
        type,
        "nanoseconds",
        "a thousand requests of 300 ns each, a microsecond apart",
        at: [1],
        insteadOfAdvice: "Keep all digits of a time: a lock is held for nanoseconds"
      ) { _ in
        GaugeLog((1...1_000).map { .init(arrived: $0 * 1_000 + 900, departed: $0 * 1_000 + 1_200) })
      },
      year(type),
      thousandYears(type),
      keeps(type),
    ])
  }

  /// Tells a gauge everything, and reads it at some times.
  ///
  /// `advice` is what else is said of a fault, if anything is, and `insteadOfAdvice` all that is said besides its figures.
  private static func read<Gauge: LearnerGauge>(
    _ type: Gauge.Type,
    _ name: String,
    _ asked: String,
    at times: [Int64],
    unit: Int64 = second,
    advice: String? = nil,
    insteadOfAdvice: String? = nil,
    _ draw: @escaping @Sendable (UInt64) -> GaugeLog
  ) -> GradeBook.Question {
    .task(name, asked, seconds: 20) { seed in
      let log = draw(seed)
      let gauge = Gauge()
      log.tell(gauge)
      for time in times {
        if let fault = fault(of: gauge, log, at: time * unit) {
          let fresh = Gauge()
          log.tell(fresh)
          let isSpoilt = Self.fault(of: fresh, log, at: time * unit) == nil
          let remark =
            insteadOfAdvice
            ?? (isSpoilt
              ? "Without an earlier reading it is right: let a reading change nothing"
              : fault.isRounded ? nil : advice)
          return GradeItem(
            name,
            passed: false,
            "\(asked): \(insteadOfAdvice == nil ? fault.description : fault.figures)"
              + (remark.map { ". " + $0 } ?? "")
          )
        }
      }
      return GradeItem(name, passed: true, "\(asked): L, λ and W are right")
    }
  }

  /// What is wrong with a reading.
  private struct Fault: CustomStringConvertible {
    /// The figure told and the right one.
    var figures: String
    var advice = ""
    /// Whether a figure is so near to the right one that it was computed right, and rounded.
    var isRounded = false

    var description: String { figures + advice }

    /// The advice of a question, which does not hold for what was rounded.
    func with(_ advice: String) -> String { description + (isRounded ? "" : advice) }
  }

  /// What is said of a figure that is wrong, `due` being the right one.
  private static func wrong(
    _ told: Double,
    _ due: Double,
    unit: String = "",
    texts: (told: String, due: String)? = nil,
    _ say: (_ told: String, _ due: String) -> String,
    _ advice: String = ""
  ) -> Fault {
    guard abs(told - due) <= abs(due) / 200 else {
      let (told, due) = texts ?? (text(told), text(due))
      return Fault(figures: say(told, due), advice: advice)
    }
    return Fault(
      figures: say(exact(told) + unit, exact(due) + unit),
      advice:
        ": so near that it was rounded on the way. Keep times and sums as 'Duration'",
      isRounded: true
    )
  }

  /// What is wrong with a reading; nil if nothing is.
  private static func fault(
    of gauge: some LearnerGauge,
    _ log: GaugeLog,
    at time: Int64
  ) -> Fault? {
    let due = log.reading(at: time)
    let told = gauge.reading(at: .nanoseconds(time))
    let place = "read at \(DurationText.text(time)), "
    guard told.rate.isFinite, isNear(told.rate, due.rate) else {
      return wrong(
        told.rate,
        due.rate,
        {
          place + "'rate' is \($0) a second, and \(log.requests.count) arrived in "
            + "\(DurationText.text(time)): \($1) a second"
        }
      )
    }
    guard told.inside.isFinite, isNear(told.inside, due.inside) else {
      return wrong(
        told.inside,
        due.inside,
        { place + "'inside' is \($0), and it is \($1) on average over the time" },
        ": multiply how many were inside by how long, add these up, and divide by all the time. Times when nobody is inside "
          + "count too, and so does the time since somebody last came or went"
      )
    }
    guard let response = due.response else {
      guard told.response != nil else { return nil }
      return Fault(
        figures: place + "'response' is \(text(told.response)), "
          + (log.requests.isEmpty
            ? "though nobody came"
            : "though somebody is still inside, of whom nobody knows how long it takes") + ": nil"
      )
    }
    guard let answer = told.response else {
      return Fault(
        figures: place
          + "'response' is nil, though all have departed, after \(text(response)) on average"
      )
    }
    guard isNear(answer / .seconds(1), response / .seconds(1)) else {
      return wrong(
        answer / .seconds(1),
        response / .seconds(1),
        unit: " s",
        texts: (text(answer), text(response)),
        { place + "'response' is \($0), and they were inside for \($1) on average" }
      )
    }
    return nil
  }

  private static func isNear(_ told: Double, _ due: Double) -> Bool {
    abs(told - due) <= max(1e-9, abs(due) / 10_000)
  }

  private static func text(_ number: Double) -> String {
    number.isFinite ? String(format: "%.4g", number) : "\(number)"
  }

  /// With all digits in which two that are near differ.
  private static func exact(_ number: Double) -> String {
    number.isFinite ? String(format: "%.9g", number) : "\(number)"
  }

  private static func text(_ duration: Duration?) -> String {
    guard let duration else { return "nil" }
    let (seconds, attoseconds) = duration.components
    guard abs(seconds) < 1_000_000 else { return "\(duration)" }
    let nanoseconds = seconds * second + attoseconds / second
    return (nanoseconds < 0 ? "-" : "") + DurationText.text(abs(nanoseconds))
  }

  /// A reading is no event: it changes nothing.
  private static func readMeanwhile<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let asked = "two requests inside from 1 to 3 s and from 2 to 6 s, read every second"
    return .task("meanwhile", asked, seconds: 10) { _ in
      let gauge = Gauge()
      let requests: [GaugeLog.Request] = [
        .init(arrived: second, departed: 3 * second),
        .init(arrived: 2 * second, departed: 6 * second),
      ]
      for time in 0...8 as ClosedRange<Int64> {
        let now = time * second
        for request in requests {
          if request.arrived == now { gauge.arrived(at: .nanoseconds(now)) }
          if request.departed == now { gauge.departed(at: .nanoseconds(now)) }
        }
        let past = GaugeLog(
          requests.filter { $0.arrived <= now }.map { request in
            .init(
              arrived: request.arrived,
              departed: request.departed.flatMap { $0 <= now ? $0 : nil }
            )
          }
        )
        if let fault = fault(of: gauge, past, at: now) {
          return GradeItem("meanwhile", passed: false, "\(asked): \(fault)")
        }
      }
      return GradeItem("meanwhile", passed: true, "\(asked): right each time")
    }
  }

  /// Who was told late of an event before a reading takes it into the next one.
  private static func readBefore<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let asked =
      "requests inside from 1 to 4 s and from 2 to 6 s, read at 3 s, at 5 s before the departure at 4 s is told and "
      + "after it, and at 8 s; then one inside from 8 to 9 s, read at 10 s"
    return .task("told_late", asked, seconds: 10) { _ in
      let gauge = Gauge()
      gauge.arrived(at: .seconds(1))
      gauge.arrived(at: .seconds(2))
      let open = [GaugeLog.Request(arrived: second), .init(arrived: 2 * second)]
      let half = [GaugeLog.Request(arrived: second, departed: 4 * second), open[1]]
      let over = [half[0], .init(arrived: 2 * second, departed: 6 * second)]
      let later = over + [.init(arrived: 8 * second, departed: 9 * second)]
      let readings: [(at: Int64, told: [GaugeLog.Request], tells: [(Bool, Int)])] = [
        (3, open, []), (5, open, []), (5, half, [(false, 4)]), (8, over, [(false, 6)]),
        (10, later, [(true, 8), (false, 9)]),
      ]
      for reading in readings {
        for (isArrival, time) in reading.tells {
          if isArrival {
            gauge.arrived(at: .seconds(time))
          } else {
            gauge.departed(at: .seconds(time))
          }
        }
        if let fault = fault(of: gauge, GaugeLog(reading.told), at: reading.at * second) {
          return GradeItem(
            "told_late",
            passed: false,
            "\(asked): "
              + fault.with(
                ". A reading changes nothing, and what is told after it may lie before it"
              )
          )
        }
      }
      return GradeItem("told_late", passed: true, "\(asked): right each time")
    }
  }

  /// What is told between two readings at one moment changes the second.
  private static func readAgain<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let asked =
      "one request that comes at 1 s and goes at 3 s, and one that comes at 3 s, read at 3 s before and after each is "
      + "told"
    return .task("same_moment", asked, seconds: 10) { _ in
      let gauge = Gauge()
      gauge.arrived(at: .seconds(1))
      let pasts: [[GaugeLog.Request]] = [
        [.init(arrived: second)],
        [.init(arrived: second, departed: 3 * second)],
        [.init(arrived: second, departed: 3 * second), .init(arrived: 3 * second)],
      ]
      for (number, past) in pasts.enumerated() {
        if number == 1 { gauge.departed(at: .seconds(3)) }
        if number == 2 { gauge.arrived(at: .seconds(3)) }
        if let fault = fault(of: gauge, GaugeLog(past), at: 3 * second) {
          let advice =
            number == 0
            ? ""
            : ". It was read at 3 s before, and something was told since: take each reading from what was told by then"
          return GradeItem("same_moment", passed: false, "\(asked): \(fault.with(advice))")
        }
      }
      return GradeItem("same_moment", passed: true, "\(asked): right each time")
    }
  }

  /// Two tasks tell the gauge at once, in every order.
  private static func told<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    promise(
      "together",
      "two tasks tell the gauge of a request each, inside from 1 to 3 s and from 2 to 4 s",
      tasks: ["one of them", "the other"]
    ) {
      let gauge = Gauge()
      let tasks = [1, 2].map { arrival in
        Task {
          gauge.arrived(at: .seconds(arrival))
          gauge.departed(at: .seconds(arrival + 2))
        }
      }
      for task in tasks { await task.value }
      let reading = gauge.reading(at: .seconds(8))
      try require(
        isNear(reading.rate, 0.25) && isNear(reading.inside, 0.5)
          && reading.response == .seconds(2),
        "read at 8 s, 'rate' is \(text(reading.rate)), 'inside' \(text(reading.inside)) and 'response' "
          + "\(text(reading.response)), and not 0.25, 0.5 and 2 s: what one task told was lost"
      )
    }
  }

  /// A reading while a request arrives is of before or of after, not of both.
  private static func whole<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    promise(
      "whole",
      "one request inside from 1 to 3 s; one task tells that another came at 4 s, a second one reads meanwhile",
      tasks: ["who tells", "who reads"]
    ) {
      let gauge = Gauge()
      gauge.arrived(at: .seconds(1))
      gauge.departed(at: .seconds(3))
      let tells = Task { gauge.arrived(at: .seconds(4)) }
      let reads = Task { gauge.reading(at: .seconds(8)) }
      await tells.value
      let told = await reads.value
      let isBefore =
        isNear(told.rate, 0.125) && isNear(told.inside, 0.25) && told.response == .seconds(2)
      let isAfter =
        isNear(told.rate, 0.25) && isNear(told.inside, 0.75) && told.response == nil
      try require(
        isBefore || isAfter,
        "read at 8 s, 'rate' is \(text(told.rate)), 'inside' \(text(told.inside)) and 'response' "
          + "\(text(told.response)). That is neither 0.125, 0.25 and 2 s, as before the second came, nor 0.25, 0.75 "
          + "and nil, as after it: change all figures under one lock, and read them under it"
      )
    }
  }

  /// A reading while one request departs and another arrives and departs is of one moment.
  private static func wholeVisit<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    promise(
      "whole_visit",
      "one request inside since 1 s; one task tells that it went at 3 s, and that another came at 4 s and went at 5 s; "
        + "a second one reads meanwhile",
      tasks: ["who tells", "who reads"]
    ) {
      let gauge = Gauge()
      gauge.arrived(at: .seconds(1))
      let tells = Task {
        gauge.departed(at: .seconds(3))
        gauge.arrived(at: .seconds(4))
        gauge.departed(at: .seconds(5))
      }
      let reads = Task { gauge.reading(at: .seconds(8)) }
      await tells.value
      let told = await reads.value
      let moments: [Reading] = [
        .init(inside: 0.875, rate: 0.125, response: nil),
        .init(inside: 0.25, rate: 0.125, response: .seconds(2)),
        .init(inside: 0.75, rate: 0.25, response: nil),
        .init(inside: 0.375, rate: 0.25, response: .milliseconds(1_500)),
      ]
      let isOfOne = moments.contains { moment in
        isNear(told.rate, moment.rate) && isNear(told.inside, moment.inside)
          && told.response == moment.response
      }
      let all = moments.map { "\(text($0.rate)), \(text($0.inside)) and \(text($0.response))" }
      try require(
        isOfOne,
        "read at 8 s, 'rate' is \(text(told.rate)), 'inside' \(text(told.inside)) and 'response' "
          + "\(text(told.response)), which was so at no moment: it was \(all.joined(separator: ", then ")). Something "
          + "came between two looks of one reading: take all it needs under one lock, at once"
      )
    }
  }

  /// Threads that tell at the same moment: an exploration does not stop inside code that takes no lock.
  private static func onThreads<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let (threads, visits) = (4, 20_000)
    let asked = "\(threads) threads, each of which tells of \(visits) requests of 1 ms each"
    return GradeBook.Question.task("threads", asked, seconds: 60) { _ in
      @Sendable func tell(_ gauge: Gauge) {
        for visit in 0..<visits {
          gauge.arrived(at: .milliseconds(visit))
          gauge.departed(at: .milliseconds(visit + 1))
        }
      }
      let request = GaugeLog.Request(arrived: 0, departed: second / 1000)
      let log = GaugeLog(Array(repeating: request, count: threads * visits))
      // What goes wrong there too is no matter of threads.
      let alone = Gauge()
      for _ in 0..<threads { tell(alone) }
      if let fault = fault(of: alone, log, at: 100 * second) {
        return GradeItem(
          "threads",
          passed: false,
          "one thread that tells of \(threads * visits) requests of 1 ms each: \(fault)"
        )
      }
      // Beside other work all may have told before anybody reads: again, until readings and threads have met.
      let end = ContinuousClock.now + .seconds(2)
      var met = 0
      repeat {
        let gauge = Gauge()
        let readings = readings(of: gauge, while: threads) { tell(gauge) }
        if let (known, rate) = readings.fallen {
          return GradeItem(
            "threads",
            passed: false,
            "\(asked): read at 100 s, 'rate' was \(text(known)) a second, and a moment later \(text(rate)): let one "
              + "lock guard all that changes, and have a reading wait for it"
          )
        }
        if let fault = fault(of: gauge, log, at: 100 * second) {
          return GradeItem(
            "threads",
            passed: false,
            "\(asked): \(fault.figures). What one thread told was lost: let one lock guard all that changes"
          )
        }
        met += readings.grown
      } while met < 1_000 && ContinuousClock.now < end
      return GradeItem("threads", passed: true, "\(asked): nothing is lost")
    }
  }

  /// Reads a gauge again and again while some threads tell it something.
  ///
  /// - Returns: how often a rate was greater than the one before, so that somebody told in between, and a rate
  ///   that was less, which nothing that is told can bring about, after the one before.
  private static func readings(
    of gauge: some LearnerGauge,
    while threads: Int,
    _ tell: @escaping @Sendable () -> Void
  ) -> (grown: Int, fallen: (before: Double, after: Double)?) {
    let done = Lock(0)
    let all = (0..<threads).map { _ in
      OSThread {
        tell()
        done.withLock { $0 += 1 }
      }
    }
    defer { for thread in all { thread.join() } }
    var (known, grown) = (0.0, 0)
    while done.withLock({ $0 }) < threads {
      let rate = gauge.reading(at: .seconds(100)).rate
      if rate < known { return (grown, (known, rate)) }
      if rate > known { grown += 1 }
      known = rate
    }
    return (grown, nil)
  }

  /// Runs of the lab, as in the lesson.
  private static func lab<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let asked = "runs of the lab with random arrivals"
    return .task("lab", asked, seconds: 60) { seed in
      var random = SplitMix64(seed: seed)
      var loads: [String] = []
      for limit in [1, 4, 16] {
        let workload = Workload(
          count: 400,
          service: .exponential(mean: 40_000_000),
          arrivals: .poisson(perSecond: Double(limit * (15 + random.next(below: 9)))),
          seed: random.next()
        )
        guard let ours = Catalogue.entry("limiter") else {
          preconditionFailure("the catalogue has no limiter")
        }
        let run = await run(ours, limit: limit, workload)
        let lives = TaskLife.all(in: run.events, tasks: workload.count)
        let log = GaugeLog(
          lives.compactMap { life in life.arrived.map { .init(arrived: $0, departed: life.ended) } }
        )
        let gauge = Gauge()
        log.tell(gauge)
        let end = (lives.compactMap(\.ended).max() ?? 0) + second
        if let fault = fault(of: gauge, log, at: end) {
          return GradeItem(
            "lab",
            passed: false,
            "400 tasks through \(limit) permits, seed \(seed): \(fault)"
          )
        }
        loads.append(text(log.reading(at: end).inside))
      }
      return GradeItem(
        "lab",
        passed: true,
        "\(asked), seed \(seed): \(ListText.all(loads)) inside on average, as the lab counts them"
      )
    }
  }

  /// A year of requests, of which some months have none: too long for a sum of times in nanoseconds.
  private static func year<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    read(
      type,
      "year",
      "a year in which 20,000 requests come, and none in winter",
      at: [31_536_000, 31_536_000]
    ) { seed in
      var random = SplitMix64(seed: seed)
      return GaugeLog(
        (0..<20_000).map { _ in
          let arrived = (7_776_000 + Int64(random.next(below: 15_552_000))) * second
          return .init(
            arrived: arrived,
            departed: arrived + Int64(1 + random.next(below: 600)) * second
          )
        }
      )
    }
  }

  /// The times of a thousand that stay for a year: their sum in nanoseconds is too large for an `Int`.
  private static func thousandYears<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let year: Int64 = 31_536_000
    return read(
      type,
      "thousand_years",
      "1,000 connections, each open for a whole year",
      at: [year + 1],
      advice:
        "A thousand years in nanoseconds are too many for an Int: keep sums of times as Duration"
    ) { _ in
      GaugeLog((0..<1_000).map { .init(arrived: $0, departed: year * second + $0) })
    }
  }

  /// A gauge in a server must not grow with the requests, nor with who asks it.
  private static func keeps<Gauge: LearnerGauge>(_ type: Gauge.Type) -> GradeBook.Question {
    let asked = "thousands of requests"
    return GradeBook.Question(name: "kept") { terms in
      let heap = terms.heap
      return GradeBook.Question.task("kept", asked, seconds: 60) { _ in
        let (gauge, slow) = (Gauge(), Gauge())
        // A sum or a count takes nothing; an array grows by doubling, so only the whole growth tells.
        let (first, requests) = (5_000, 400_000)
        func growth(_ what: String, _ advice: String, _ body: (Int) -> Void) -> GradeItem? {
          for number in 0..<first { body(number) }
          let before = heap()
          for number in first..<requests { body(number) }
          guard heap() - before > Int64(requests / requestsPerByte) else { return nil }
          return GradeItem(
            "kept",
            passed: false,
            "\(requests) \(what): memory grows with them. \(advice)"
          )
        }
        let sums = "A server has millions: keep sums and counts instead of times"
        // While all are inside: a list of those who are is a list too, and so is one that goes when nobody is.
        let fault =
          growth("requests, all inside", sums) { gauge.arrived(at: .milliseconds($0)) }
          ?? growth("requests that depart", sums) {
            gauge.departed(at: .milliseconds(requests + $0))
          }
          ?? growth("readings", "A reading changes nothing: keep none") {
            _ = gauge.reading(at: .milliseconds(2 * requests + $0))
          }
          ?? growth(
            "requests that come and go, one a minute",
            "A server runs for years: keep nothing of each second or minute, either"
          ) {
            slow.arrived(at: .seconds(60 * $0))
            slow.departed(at: .seconds(60 * $0))
          }
        if let fault { return fault }
        // Each was inside for as long as the arrivals took.
        let length = Double(requests) / 1_000
        let told = gauge.reading(at: .milliseconds(3 * requests))
        let (rate, inside) = (Double(requests) / (3 * length), Double(requests) / 3)
        let response = (told.response ?? .zero) / .seconds(1)
        let isRight =
          isNear(told.rate, rate) && isNear(told.inside, inside) && isNear(response, length)
        return GradeItem(
          "kept",
          passed: isRight,
          isRight
            ? "\(requests) requests: nothing is kept of them"
            : "after \(requests) requests, each inside for \(text(length)) s, read at \(text(3 * length)) s, 'rate' is "
              + "\(text(told.rate)), 'inside' \(text(told.inside)) and 'response' \(text(told.response)), and not "
              + "\(text(rate)), \(text(inside)) and \(text(length)) s. A server has millions"
        )
      }.ask(terms)
    }
  }

  /// If something is kept of each request, it is at least a byte for so many.
  private static let requestsPerByte = 2
}
