internal import Basics
internal import CExplorable
internal import Glibc
internal import Synchronization

/// A thread that traps in code under study, and waits in the signal's handler until its steps are told.
///
/// A handler may call next to nothing. The thread that explores is an ordinary one, and only waits meanwhile: it
/// takes the steps again on other threads and tells them, and then the trap goes its way. If it cannot, for the
/// thread that traps holds something that everybody needs, the process stands still: then that thread waits no
/// longer. A busy machine is no such reason, so what counts is the time of the processor, not that of the wall.
enum Standstill {
  private static let room = 64
  /// How often the thread that waits looks, a hundred times a second, before it gives up: while the process uses
  /// no processor, and altogether.
  ///
  /// Computed, as a handler is no place for a first use.
  private static var patience: (withoutHeadway: Int, altogether: Int) { (3_000, 30_000) }
  /// In nanoseconds of a processor; the looking itself takes far less in as long as there is patience.
  private static var leastHeadway: Int64 { 100_000_000 }
  // Safe: written by the one thread whose exchange of the stage succeeds, before the stage says so, and read after.
  nonisolated(unsafe) private static let frames = UnsafeMutablePointer<stack_frame>.allocate(
    capacity: room
  )
  private static let count = Atomic(0)
  private static let stage = Atomic(Stage.none.rawValue)
  /// Whether the thread that explores looks for it.
  private static let isWatched = Atomic(false)

  private enum Stage: Int {
    case none
    case begins
    case stands
    case isBeingTold
    case isTold
  }

  /// Sets up what a handler cannot.
  static func prepare() { _ = (frames, count.load(ordering: .relaxed)) }

  static func watch(_ isOn: Bool) { isWatched.store(isOn, ordering: .releasing) }

  /// Waits, in a handler that was given `context`, until all is told.
  static func wait(at context: UnsafeRawPointer?) {
    guard let context, isWatched.load(ordering: .acquiring),
      stage.compareExchange(
        expected: Stage.none.rawValue,
        desired: Stage.begins.rawValue,
        ordering: .acquiringAndReleasing
      ).exchanged
    else { return }
    count.store(stack_frames_at(context, frames, room), ordering: .relaxed)
    stage.store(Stage.stands.rawValue, ordering: .releasing)
    var used = MachineClock.processTime()
    var inVain = 0
    for _ in 0..<patience.altogether {
      if stage.load(ordering: .acquiring) == Stage.isTold.rawValue { return }
      var moment = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&moment, nil)
      inVain += 1
      let now = MachineClock.processTime()
      if now - used > leastHeadway { (used, inVain) = (now, 0) }
      if inVain == patience.withoutHeadway { return }
    }
  }

  /// Where a thread stands that waits so, said once; nil if none does.
  static func take() -> [UInt]? {
    // Asked many times a second, in vain.
    guard stage.load(ordering: .acquiring) == Stage.stands.rawValue,
      stage.exchange(Stage.isBeingTold.rawValue, ordering: .acquiringAndReleasing)
        == Stage.stands.rawValue
    else { return nil }
    return SourceLines.points(
      of: Array(UnsafeBufferPointer(start: frames, count: count.load(ordering: .relaxed)))
    )
  }

  /// Lets the thread go on to its end.
  static func end() { stage.store(Stage.isTold.rawValue, ordering: .releasing) }
}
