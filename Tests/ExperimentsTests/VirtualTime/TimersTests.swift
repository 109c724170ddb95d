import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct TimersTests {
  /// Every way to set three deadlines amongst three times, and to cancel some of them.
  @Test func `deadlines fire by time, then in the order set, and cancelled ones never`() {
    let times: [Int64] = [1, 2, 3]
    for a in times {
      for b in times {
        for c in times {
          for cancelled in 0..<8 {
            var timers = Timers()
            let seats = [Seat(), Seat(), Seat()]
            let deadlines = [a, b, c]
            let tickets = seats.map { _ in timers.issue() }
            for index in 0..<3 {
              let isSet = timers.set(tickets[index], at: deadlines[index], for: .held(seats[index]))
              #expect(isSet)
            }
            for index in 0..<3 where cancelled & (1 << index) != 0 {
              let isCancelled = timers.cancels(tickets[index])
              #expect(isCancelled)
              let isCancelledTwice = timers.cancels(tickets[index])
              #expect(!isCancelledTwice, "a ticket is used up")
            }
            let expected = (0..<3).filter { cancelled & (1 << $0) == 0 }
              .sorted { (deadlines[$0], $0) < (deadlines[$1], $1) }
            var fired: [Int] = []
            while let next = timers.next() {
              if case .some = timers.takeDue(by: next - 1) { Issue.record("fired early") }
              guard case .held(let seat)? = timers.takeDue(by: next) else { break }
              fired.append(seats.firstIndex { $0 === seat }!)
            }
            #expect(fired == expected)
            #expect(timers.isEmpty)
          }
        }
      }
    }
  }

  @Test func `a ticket cancelled before its deadline is set cannot be set`() {
    var timers = Timers()
    let ticket = timers.issue()
    let isCancelled = timers.cancels(ticket)
    #expect(!isCancelled)
    let isSet = timers.set(ticket, at: 5, for: .held(Seat()))
    #expect(!isSet)
    let none = timers.next()
    #expect(none == nil)
    let next = timers.issue()
    let isNextSet = timers.set(next, at: 6, for: .held(Seat()))
    #expect(isNextSet)
    let isNextCancelled = timers.cancels(ticket)
    #expect(!isNextCancelled, "the old ticket does not cancel the slot's next use")
    let first = timers.next()
    #expect(first == 6)
  }

  @Test func `setting and cancelling far deadlines over and over keeps the heap small`() {
    var timers = Timers()
    let seat = Seat()
    for round in 0..<100_000 {
      let ticket = timers.issue()
      let isSet = timers.set(ticket, at: 1_000_000 + Int64(round), for: .held(seat))
      #expect(isSet)
      let isCancelled = timers.cancels(ticket)
      #expect(isCancelled)
      #expect(timers.heldDeadlines <= 130)
    }
    #expect(timers.isEmpty)
  }
}

extension Timers {
  /// Cancels a ticket; whether somebody waited on it.
  fileprivate mutating func cancels(_ ticket: Ticket) -> Bool {
    if case .some = cancel(ticket) { true } else { false }
  }
}
