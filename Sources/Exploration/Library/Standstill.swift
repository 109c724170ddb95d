internal import Basics
internal import CExplorable
internal import Glibc
internal import Synchronization

/// A thread on which code under study has come to the end of the program: it traps, aborts or exits.
///
/// It stands where it is, in the signal's handler or before the call, and says so. A handler may call next to
/// nothing; the thread that explores is an ordinary one, and only waits meanwhile. Where the schedule is still under
/// way, that one takes the thread for lost, with what it holds, and goes on without it: the end of the program is a
/// failure like any other, which can be run again, minimised and told. Else it tells the steps, and the program ends.
/// If it can do neither, for the thread holds something that everybody needs, the process stands still: then that
/// thread waits no longer. A busy machine is no such reason, so what counts is the time of the processor, not that of
/// the wall.
enum Standstill {
  /// What ends the program.
  enum Reason {
    case signal(Int32, isEndOfStack: Bool)
    case call(of: UnsafePointer<CChar>, status: Int32)
  }

  /// A thread that stands so.
  struct Fall {
    /// What the kernel calls the thread.
    var thread: Int32
    var reason: Reason
    /// Where it stands.
    var points: [UInt]
    /// Whether the exploration may go on without it.
    var canBeLeft: Bool
  }

  private static let room = 64
  /// How often the thread that waits looks, a hundred times a second, before it gives up: while the process uses
  /// no processor, and altogether.
  ///
  /// Computed, as a handler is no place for a first use.
  private static var patience: (withoutHeadway: Int, altogether: Int) { (3_000, 30_000) }
  /// In nanoseconds of a processor, for all threads but the one that looks: on a busy machine they may get no more in
  /// as long as there is patience.
  private static var leastHeadway: Int64 { 20_000_000 }
  /// So close to a frame is the address that is beyond the end of its stack.
  private static var nearness: UInt { 1 << 20 }
  // Safe: written by the one thread whose exchange of the stage succeeds, before the stage says so, and read after.
  nonisolated(unsafe) private static let frames = UnsafeMutablePointer<stack_frame>.allocate(
    capacity: room
  )
  // Safe: as the frames are.
  nonisolated(unsafe) private static var noted = Noted()
  private static let stage = Atomic(Stage.none.rawValue)
  /// How many threads have stood so, and the last of them that is left where it is.
  private static let falls = Atomic(0)
  private static let left = Atomic(0)
  /// Where the thread waits that explores, unretained; 0 where none looks.
  private static let watch = Atomic<UInt>(0)

  /// What a thread says of itself.
  private struct Noted {
    var frames = 0
    var thread: Int32 = 0
    var reason = Reason.signal(0, isEndOfStack: false)
    var canBeLeft = false
  }

  private enum Stage: Int {
    case none
    case begins
    case stands
    case isBeingTold
    case isTold
  }

  /// Sets up what a handler cannot.
  static func prepare() { _ = frames }

  /// Who is called where no exploration looks; 0 where nobody is.
  private static let lasting = Atomic<UInt>(0)

  /// Has `home` be called when a thread stands so.
  static func beginWatch(_ home: ThreadSemaphore) {
    watch.store(UInt(bitPattern: Unmanaged.passUnretained(home).toOpaque()), ordering: .releasing)
  }

  static func endWatch() {
    watch.store(lasting.load(ordering: .relaxed), ordering: .releasing)
  }

  /// Has `home`, which is kept for ever, be called whenever no exploration looks.
  static func watchLastingly(_ home: ThreadSemaphore) {
    lasting.store(UInt(bitPattern: Unmanaged.passRetained(home).toOpaque()), ordering: .relaxed)
    endWatch()
  }

  /// Stands in the handler of `signal`, which was given `context`, for an access to `address`; returns when the program
  /// is to end.
  static func stand(
    at context: UnsafeRawPointer?,
    signal: Int32,
    address: UInt,
    canBeLeft: Bool
  ) {
    guard let context, begin() else { return }
    noted.frames = stack_frames_at(context, frames, room)
    let base = noted.frames > 0 ? frames[0].base : 0
    let distance = address > base ? address - base : base - address
    let isAccess = signal == SIGSEGV || signal == SIGBUS
    noted.reason = .signal(signal, isEndOfStack: isAccess && distance < nearness)
    wait(canBeLeft: canBeLeft)
  }

  /// The same before a call that ends the program.
  static func stand(
    before function: UnsafePointer<CChar>,
    _ status: Int32,
    canBeLeft: Bool
  ) {
    guard begin() else { return }
    noted.frames = stack_frames(frames, room)
    noted.reason = .call(of: function, status: status)
    wait(canBeLeft: canBeLeft)
  }

  private static func begin() -> Bool {
    watch.load(ordering: .acquiring) != 0
      && stage.compareExchange(
        expected: Stage.none.rawValue,
        desired: Stage.begins.rawValue,
        ordering: .acquiringAndReleasing
      ).exchanged
  }

  private static func wait(canBeLeft: Bool) {
    noted.canBeLeft = canBeLeft
    noted.thread = thread_number()
    let number = falls.add(1, ordering: .relaxed).newValue
    stage.store(Stage.stands.rawValue, ordering: .releasing)
    if let home = UnsafeRawPointer(bitPattern: watch.load(ordering: .acquiring)) {
      Unmanaged<ThreadSemaphore>.fromOpaque(home).takeUnretainedValue().post()
    }
    var used = timeOfOthers
    var inVain = 0
    for _ in 0..<patience.altogether {
      while left.load(ordering: .acquiring) >= number { pause() }
      if stage.load(ordering: .acquiring) == Stage.isTold.rawValue { return }
      var moment = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&moment, nil)
      inVain += 1
      if timeOfOthers - used > leastHeadway { (used, inVain) = (timeOfOthers, 0) }
      if inVain == patience.withoutHeadway { return }
    }
  }

  /// How long other threads have had a processor.
  private static var timeOfOthers: Int64 { MachineClock.processTime() - MachineClock.threadTime() }

  /// A thread that stands so, said once; nil if none does.
  static func take() -> Fall? {
    // Asked many times a second, in vain.
    guard stage.load(ordering: .acquiring) == Stage.stands.rawValue,
      stage.exchange(Stage.isBeingTold.rawValue, ordering: .acquiringAndReleasing)
        == Stage.stands.rawValue
    else { return nil }
    return Fall(
      thread: noted.thread,
      reason: noted.reason,
      points: SourceLines.points(
        of: Array(UnsafeBufferPointer(start: frames, count: noted.frames))
      ),
      canBeLeft: noted.canBeLeft
    )
  }

  /// Leaves the thread where it is, for ever.
  static func leave() {
    left.store(falls.load(ordering: .relaxed), ordering: .releasing)
    stage.store(Stage.none.rawValue, ordering: .releasing)
  }

  /// Lets the thread go on to its end.
  static func end() { stage.store(Stage.isTold.rawValue, ordering: .releasing) }
}

extension Standstill.Fall {
  /// Whether a whole stack is in use, which takes memory.
  var isDeep: Bool { if case .signal(_, isEndOfStack: true) = reason { true } else { false } }

  /// What ends the program, in words, without where.
  var text: String {
    let words = Self.lastWords
    switch reason {
    case .signal(_, isEndOfStack: true): return "the stack is used up: calls go too deep"
    case .signal(SIGSEGV, _), .signal(SIGBUS, _):
      return "memory is used that is not there"
    case .signal(SIGFPE, _): return "an arithmetic error"
    case .signal:
      return words ?? trapOfALibrary
        ?? "a trap of which nothing is said, as a number out of range is, and all in an optimised build"
    case .call(let function, let status):
      let name = String(cString: function)
      switch name {
      case "abort": return words ?? "abort() is called"
      case "pthread_mutex_unlock", "pthread_rwlock_unlock":
        return "a lock is released that nobody has"
      case "raise", "kill": return "the program sends itself signal \(status)"
      default: return "\(name)(\(status)) is called"
      }
    }
  }

  /// A trap of the system's libraries that says nothing, by its function; nil if the code's own traps.
  private var trapOfALibrary: String? {
    guard let point = points.first,
      let (name, library) = SourceLines(of: [[point]]).function(at: point),
      ["libdispatch.", "libFoundation", "lib_Foundation"].contains(where: { library.hasPrefix($0) })
    else { return nil }
    return "a trap in \(Symbolizer.demangled(name)) of \(library)"
      + (Self.causes[name].map { ": \($0)" } ?? "")
  }

  /// Why functions of Dispatch and Foundation trap.
  private static let causes = [
    "dispatch_group_leave": "a group is left more often than it is entered",
    "_dispatch_group_dispose": "a group is let go of that was entered and not left",
    "_dispatch_semaphore_dispose":
      "a semaphore is let go of that has fewer permits than it was made with",
    "$s10Foundation11NSConditionC4wait5untilSb0A10Essentials4DateV_tF":
      "a date so far off is no number of nanoseconds; lock(whenCondition:) of NSConditionLock asks for such a one "
      + "where it has to wait, so give it a date",
  ]

  /// What the runtime said last, from where it says that this is the end.
  private static var lastWords: String? {
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2_048) { bytes in
      let count = last_words(bytes.baseAddress, bytes.count)
      return String(decoding: UnsafeRawBufferPointer(bytes)[..<count], as: UTF8.self)
    }
    // The line of the runtime's check, or of the code's, which is told anyway.
    let end = text.ranges(of: #/[^\n]*\.swift:[0-9]+: /#).last.map { text[$0.upperBound...] }
    let words = (end ?? text[...]).drop(while: \.isWhitespace)
    guard let last = words.lastIndex(where: { !$0.isWhitespace }) else { return nil }
    return String(words[...last])
  }
}
