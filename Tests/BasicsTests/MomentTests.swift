import Basics
import Dispatch
import TestSupport
import Testing

@Suite(.watched) struct MomentTests {
  @Test(arguments: [false, true])
  func `those who wait leave their threads to what they wait for`(isCancelled: Bool) async {
    // With a loop of yields in the place of each pause, neither line would ever be written.
    let journal = Journal()
    await withTaskGroup { group in
      for _ in 0..<2 * Processors.allowed {
        group.addTask { while journal.entries.count < 2 { await Moment.pass() } }
      }
      if isCancelled { group.cancelAll() }
      Task.detached {
        try await Task.sleep(for: .milliseconds(10))
        journal.note("slept")
      }
      DispatchQueue.global().async { journal.note("ran") }
    }
    #expect(journal.entries.sorted() == ["ran", "slept"])
  }
}
