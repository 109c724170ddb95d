import Synchronization
import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `A visit` {
  /// What happens, in order.
  private final class Diary: World, Tracer {
    private let state = Mutex<[String]>([])

    var entries: [String] { state.withLock { $0 } }
    private func note(_ entry: String) { state.withLock { $0.append(entry) } }

    func record(_ kind: TraceEvent.Kind, of id: TaskID) {
      switch kind {
      case .arrived: note("arrives")
      case .admitted: note("is admitted")
      case .finished: note("is over")
      default: break
      }
    }

    func noteLostResult(of id: TaskID, toldCancelled: Bool) {}

    var now: Int64 { 0 }
    func suspend(for nanoseconds: Int64) async throws { note("suspends") }
    func leaveStartingThread() async { note("gets a thread") }
    func block(for nanoseconds: Int64) { note("blocks") }
    func spin(for nanoseconds: Int64) { note("computes") }
  }

  private func entries(_ kind: ServiceKind) async -> [String] {
    let diary = Diary()
    let visit = Visit(SimulatedTask(number: 1, service: 5, kind: kind), tracer: diary, world: diary)
    await visit.carry { body in try await body() }
    return diary.entries
  }

  @Test func `is in service when its work has the thread that it holds`() async {
    #expect(
      await entries(.block) == ["arrives", "gets a thread", "is admitted", "blocks", "is over"]
    )
    #expect(
      await entries(.spin) == ["arrives", "gets a thread", "is admitted", "computes", "is over"]
    )
    #expect(await entries(.suspend) == ["arrives", "is admitted", "suspends", "is over"])
  }
}
