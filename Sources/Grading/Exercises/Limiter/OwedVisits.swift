internal import Basics

/// What a limiter owes to those who come to it, and what it fails to give them.
///
/// A model: it is told who comes, who is cancelled and what the limiter does, in that order, and decides what is wrong
/// with that. It runs nothing.
struct OwedVisits {
  /// One who has come.
  private struct Visitor {
    var name: String
    /// When it came; those of one moment are in no order.
    let moment: Int
    var isAdmitted = false
    var isOver = false
    /// Whether it was cancelled while it waited and no permit could come by.
    var isDueToLeave = false
    /// Who came later and went first.
    var overtakers: [Int] = []
  }

  let limit: Int
  /// How often one who waits may be overtaken.
  let overtakings: Int
  /// The first thing that is wrong.
  private(set) var fault: String?
  private var visitors: [Int: Visitor] = [:]
  private var cancelled: Set<Int> = []
  /// Who waits, as they came.
  private(set) var waiting: [Int] = []
  /// Who has a permit.
  private(set) var running: [Int] = []
  /// Who was admitted since the last rest.
  ///
  /// Of those nobody is said to have gone first: who was handed a permit may come to its body a little later than another
  /// one.
  private var admitted: [Int] = []

  init(limit: Int, overtakings: Int) {
    self.limit = limit
    self.overtakings = overtakings
  }

  private mutating func fail(_ what: String) { fault = fault ?? what }

  private func name(_ number: Int) -> String { visitors[number]?.name ?? "number \(number)" }

  // MARK: What is done

  mutating func comes(_ number: Int, at moment: Int, called name: String) {
    visitors[number] = Visitor(name: name, moment: moment)
    waiting.append(number)
  }

  /// A visitor is cancelled, or will be when it comes.
  ///
  /// - Parameters:
  ///   - number: who.
  ///   - permitsMove: whether a permit may be on its way to it.
  mutating func isCancelled(_ number: Int, permitsMove: Bool) {
    cancelled.insert(number)
    if !permitsMove, waiting.contains(number) { visitors[number]?.isDueToLeave = true }
  }

  // MARK: What the limiter does

  /// Its body begins.
  mutating func isAdmitted(_ number: Int) {
    guard var visitor = visitors[number] else { return }
    if visitor.isAdmitted { fail("the body of \(visitor.name) ran twice") }
    if visitor.isDueToLeave {
      fail("\(visitor.name) was cancelled as it waited, no permit came by, and its body ran")
    }
    visitor.isAdmitted = true
    visitors[number] = visitor
    waiting.removeAll { $0 == number }
    admitted.append(number)
    running.append(number)
    if running.count > limit { fail("\(running.count) bodies ran at once, limit \(limit)") }
  }

  /// Its body has ended.
  mutating func hasEnded(_ number: Int) { running.removeAll { $0 == number } }

  /// It was told an error, and its body did not run.
  mutating func hasLeft(_ number: Int) {
    waiting.removeAll { $0 == number }
    if !cancelled.contains(number) {
      fail(
        "\(name(number)), whom nobody had cancelled, was told an error, and its body did not run"
      )
    }
  }

  mutating func lostItsResult(_ number: Int) {
    fail("\(name(number)) was told something else than its body's value or error")
  }

  // MARK: What must be so

  /// Looks a little after some were cancelled: who was to leave has left.
  mutating func lookForLate(after turns: Int) {
    guard let late = waiting.first(where: { visitors[$0]?.isDueToLeave == true }) else { return }
    fail(
      "\(name(late)) was cancelled as it waited, and was still there when another task had had \(turns) turns. Who is "
        + "cancelled leaves the line at once"
    )
  }

  /// Looks when nothing more can run.
  mutating func lookAtRest() {
    defer { admitted = [] }
    if let left = waiting.first(where: cancelled.contains) {
      return fail(
        "\(name(left)) was cancelled as it waited, and waits on. Who is cancelled leaves the line at once"
      )
    }
    if let first = waiting.first, running.count < limit {
      return fail(
        "\(name(first)) waits, and only \(running.count) of \(limit) permits are in use: one was lost, or who gave it "
          + "back woke nobody"
      )
    }
    for number in waiting { lookForOvertaking(of: number) }
  }

  private mutating func lookForOvertaking(of number: Int) {
    guard var visitor = visitors[number] else { return }
    let later = admitted.filter { visitors[$0].map { $0.moment > visitor.moment } ?? false }
    visitor.overtakers += later
    visitors[number] = visitor
    guard visitor.overtakers.count > overtakings else { return }
    fail(
      "\(visitor.name) waits, and \(ListText.some(visitor.overtakers, name)), which came later, went first. "
        + (overtakings == 0
          ? "They are served as they came"
          : "Who waits may be overtaken once, and not by \(visitor.overtakers.count)")
    )
  }
}
