import ExplorableSynchronization
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Doors that treat who waits by the place in the line.
@Suite(.watched, .serialized) struct `Doors in any place of the line` {
  /// What becomes of places.
  protocol PlaceFlaw: SendableMetatype {
    /// Whether who has this place leaves when it is cancelled.
    static func leaves(_ place: Int) -> Bool
    /// How many wait under the lock of the door; the others have a lock of their own.
    static var few: Int { get }
  }

  enum Sound: PlaceFlaw {}

  enum ThirdLeaves: PlaceFlaw {
    static func leaves(_ place: Int) -> Bool { place == 3 }
  }

  enum LateOnesLeave: PlaceFlaw {
    static func leaves(_ place: Int) -> Bool { place > 100 }
  }

  enum RoomForFive: PlaceFlaw {
    static let few = 5
  }

  private final class PlacesDoor<F: PlaceFlaw>: LearnerDoor {
    private typealias Waiter = CheckedContinuation<Void, Never>
    private struct State {
      var isOpen = false
      var come = 0
      var line: [Int: Waiter] = [:]
    }

    private let state = Mutex(State())
    private let more = Mutex<[Waiter]>([])

    init() {}

    func wait() async {
      let place = state.withLock { state in
        state.come += 1
        return state.come
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          let (isOpen, hasPlace) = state.withLock { state in
            if state.isOpen || state.line.count >= F.few { return (state.isOpen, false) }
            state.line[place] = waiter
            return (false, true)
          }
          if isOpen { return waiter.resume() }
          if !hasPlace { more.withLock { $0.append(waiter) } }
        }
      } onCancel: {
        if F.leaves(place) { state.withLock { $0.line.removeValue(forKey: place) }?.resume() }
      }
    }

    func open() {
      let few = state.withLock { state in
        state.isOpen = true
        defer { state.line = [:] }
        return Array(state.line.values)
      }
      let others = more.withLock { line in
        defer { line = [] }
        return line
      }
      for waiter in few + others { waiter.resume() }
    }
  }

  private func door<F: PlaceFlaw>(_ flaw: F.Type) -> GradeBook { Grader.door(PlacesDoor<F>.self) }

  @Test func `let a cancelled one through`() async {
    await expect(
      door(ThirdLeaves.self),
      "cancelled_waiting",
      refusedSaying: "9 tasks wait at a shut door, number 3 is cancelled"
    )
    await expect(
      door(LateOnesLeave.self),
      "cancelled_waiting",
      refusedSaying: "200 tasks wait at a shut door, all are cancelled"
    )
    await expect(door(Sound.self), "cancelled_waiting")
  }

  @Test(.long) func `have too few places under their lock`() async {
    await expect(
      door(RoomForFive.self),
      "comes_behind",
      refusedSaying: "9 tasks wait, one more comes, another opens the door"
    )
    await expect(door(Sound.self), "comes_behind")
  }
}

extension `Doors in any place of the line`.PlaceFlaw {
  static func leaves(_ place: Int) -> Bool { false }
  static var few: Int { .max }
}
