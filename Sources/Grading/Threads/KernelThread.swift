internal import Basics
internal import Foundation

/// A thread of this program, as the kernel sees it.
struct KernelThread: Hashable, Sendable {
  let thread: String

  /// The one that runs this.
  static var here: KernelThread {
    let line = KernelFile.line("/proc/thread-self/stat") ?? ""
    return KernelThread(thread: String(line.prefix { $0 != " " }))
  }

  /// Whether the thread sleeps, as the kernel sees it; one that could run and has no processor does not.
  var isAsleep: Bool {
    // The name stands in parentheses and may hold anything; the state is the letter behind it.
    let state = KernelFile.line("/proc/self/task/\(thread)/stat")?.split(separator: ")").last
    return state?.drop { $0 == " " }.first == "S"
  }

  /// Waits until the thread sleeps and is not woken, or has ended; two seconds at most.
  ///
  /// One look is not enough: a thread sleeps for a moment at a lock too, and then goes on.
  ///
  /// - Returns: whether it sleeps.
  @discardableResult
  func waitForRest() -> Bool {
    var (looks, inARow, before) = (0, 0, sleeps)
    while looks < 400, inARow < 10, !hasEnded {
      Thread.sleep(forTimeInterval: 0.005)
      let now = sleeps
      inARow = isAsleep && now == before ? inARow + 1 : 0
      before = now
      looks += 1
    }
    return inARow >= 10
  }

  /// How much processor time it has taken, in nanoseconds; nil if the kernel does not tell.
  var processorTime: Int64? {
    let times = KernelFile.line("/proc/self/task/\(thread)/schedstat")?.split(separator: " ")
    return times?.first.flatMap { Int64($0) }
  }

  /// Whether it waits for another thread, and for no time to pass; false where that is not known.
  var waitsForAnother: Bool {
    futexWait?.time == 0
  }

  /// In how many seconds a thread wakes that waits for another, but for no longer than a time; nil where that is not
  /// known, or there is no such time.
  var wakesByItself: Double? {
    guard let wait = futexWait, wait.time != 0, let time = Self.time(at: wait.time) else {
      return nil
    }
    switch wait.operation & 127 {
    case 0: return Self.seconds(time)
    case 9:
      let now =
        wait.operation & 256 == 0 ? MachineClock.monotonic() : MachineClock.read(CLOCK_REALTIME)
      return Self.seconds(time) - Double(now) / 1_000_000_000
    default: return nil
    }
  }

  /// What the thread waits at a futex with, and the address of the time until then, 0 for none; nil if it does not wait
  /// there, or the kernel does not tell.
  private var futexWait: (operation: Int, time: Int)? {
    let words = KernelFile.line("/proc/self/task/\(thread)/syscall")?.split(separator: " ") ?? []
    // The number of the call, on x86 and on ARM, and its arguments.
    guard words.count > 4, ["202", "98"].contains(words[0]), let operation = Self.number(words[2]),
      let time = Self.number(words[4])
    else { return nil }
    return (operation, time)
  }

  private static func number(_ word: Substring) -> Int? { Int(word.dropFirst(2), radix: 16) }

  private static func seconds(_ time: timespec) -> Double {
    Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }

  /// What stands in this program's memory, through the kernel: the thread may have gone on, and it be there no more.
  private static func time(at address: Int) -> timespec? {
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { return nil }
    defer { close(memory) }
    var time = timespec()
    let size = MemoryLayout<timespec>.size
    return pread(memory, &time, size, address) == size ? time : nil
  }

  /// Whether the thread has ended.
  var hasEnded: Bool { KernelFile.line("/proc/self/task/\(thread)/stat") == nil }

  /// How often the thread has gone to sleep until now.
  var sleeps: Int {
    let text = KernelFile.field("voluntary_ctxt_switches", of: "/proc/self/task/\(thread)/status")
    return text.flatMap { Int($0) } ?? 0
  }
}
