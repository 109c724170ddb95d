internal import CExplorable

/// Two accesses to the same memory, one of them a write, that nothing in the code puts in an order; or the second to
/// memory that the first has given back.
struct Race: Hashable, Sendable, CustomStringConvertible {
  struct Access: Hashable, Sendable {
    var agent: Int
    /// In which step of the schedule.
    var step: Int
    var isWrite: Bool
    /// Whether the memory is given back, by `deallocate()` or `free`.
    var givesBack: Bool
    /// Where in the code, and what comes behind it.
    ///
    /// An address that a call returns to may have another line than the call, or none. Where the compiler gives the
    /// call itself no line, as to the note before `+=`, the code of the statement follows.
    var own: [UInt]
    /// Where the functions were called from that this is in.
    var callers: [UInt]

    /// What lines are looked up for, each by itself or as one stack.
    var stacks: [[UInt]] { own.map { [$0] } + [callers] }

    init(_ access: race_access) {
      agent = Int(access.agent)
      step = Int(access.step)
      isWrite = access.is_write
      givesBack = access.gives_back
      let place = withUnsafeBytes(of: access.place.at) { Array($0.bindMemory(to: UInt.self)) }
      own = [place[0] - 1] + Self.nextInstructions.map { place[0] + $0 }
      callers = place.dropFirst().prefix { $0 != 0 }.map { $0 - 1 }
    }

    /// How many bytes further the next calls and loads stand, about.
    private static let nextInstructions: [UInt] = [8, 16, 24, 32, 48, 64]

    func text(_ lines: SourceLines?) -> String { "\(ScheduleTrace.name(agent)) \(does(lines))" }

    /// What it does, and where if that is known.
    func does(_ lines: SourceLines?) -> String {
      (givesBack ? "gives back" : isWrite ? "writes" : "reads")
        + (lines?.at(access: own, calledFrom: callers) ?? "")
    }
  }

  /// The one that came first in the schedule.
  var first: Access
  var second: Access

  /// The two steps, where they are two.
  var steps: (first: Int, second: Int)? {
    0 < first.step && first.step < second.step ? (first.step, second.step) : nil
  }

  /// What the schedule under way shows, if it shows one.
  static var found: Race? {
    var race = race()
    guard race_found(&race) else { return nil }
    return Race(first: Access(race.first), second: Access(race.second))
  }

  /// What an exploration did to find races, and what it could not.
  struct Search: Hashable, Sendable {
    /// Whether accesses were looked at.
    var isMade = false
    /// Whether some were not, for there were too many.
    var isPartial = false
    /// Whether some atomic was used with an order weaker than sequentially consistent.
    var sawWeakOrders = false
    /// What is a race unless something that is not seen orders it: the second is in a `deinit`.
    var doubt: Race?

    init() {}

    /// What has been done since the last call.
    init(isMade: Bool) {
      self.isMade = isMade
      isPartial = races_were_left_out()
      sawWeakOrders = races_saw_weak_orders()
      var race = race()
      if race_in_doubt(&race) {
        doubt = Race(first: Access(race.first), second: Access(race.second))
      }
    }

    /// Adds what another search did.
    mutating func add(_ other: Search) {
      isMade = isMade || other.isMade
      isPartial = isPartial || other.isPartial
      sawWeakOrders = sawWeakOrders || other.sawWeakOrders
      doubt = doubt ?? other.doubt
    }

    /// What it leaves open beside ``weakOrders``, in words; `isAll` says whether all of the code under study is instrumented.
    func notCovered(isAll: Bool) -> [String] {
      guard isMade else { return ["data races and weak memory"] }
      var phrases: [String] = []
      if !isAll {
        phrases.append(
          "data races and weak memory, in code that is built without the instrumentation"
        )
      }
      if isPartial {
        phrases.append("data races on memory behind the first half million words of a schedule")
      }
      return phrases
    }

    /// That reorderings which atomics allow were not explored; nil where none of the atomics allows any.
    var weakOrders: String? {
      isMade && sawWeakOrders
        ? "what atomics allow whose order is weaker than sequentially consistent" : nil
    }

    /// That it is not known whether what a `deinit` uses is ordered; nil where nothing else would have to order it.
    var unknownOrder: String? {
      guard let doubt else { return nil }
      let lines = SourceLines(of: doubt.first.stacks + doubt.second.stacks)
      return
        "whether a deinit races: in one, or in what it calls, a task \(doubt.second.does(lines)) what another "
        + "\(doubt.first.does(lines)), and nothing that is seen puts one before the other (that objects are let go of is "
        + "not always seen); a lock would"
    }
  }

  var description: String { text(nil) }

  /// All in a sentence, with the lines if they are known.
  func text(_ lines: SourceLines?) -> String {
    if first.givesBack {
      return second.givesBack
        ? "memory is given back twice: \(first.text(lines)) what \(second.text(lines)) again"
        : "memory is used that was given back: \(first.text(lines)) what \(second.text(lines)) later"
    }
    return
      "a data race: \(first.text(lines)) what \(second.text(lines)), and no lock, atomic, actor or task puts one "
      + "before the other"
  }
}
