internal import Basics
internal import Foundation

/// What the threads of this program do, apart from the one that asks.
enum OtherThreads {
  /// Whether each of them sleeps, as the kernel sees it.
  ///
  /// One that could run and has no processor does not sleep, so a machine that is busy with something else does not
  /// make a program look still.
  static var areAllAsleep: Bool {
    // The thread that asks is awake. The newest first: where a thousand sleep for ever, as in a test program behind a
    // thousand wrong answers, it is told by the first few that others do not.
    var awake = 0
    for thread in all.reversed() where awake <= 1 {
      // The name stands in parentheses and may hold anything; the state is the letter behind it.
      let state = KernelFile.line("/proc/self/task/\(thread)/stat")?.split(separator: ")").last
      if state?.drop(while: { $0 == " " }).first != "S" { awake += 1 }
    }
    return awake == 1
  }

  /// How many there are.
  static var count: Int { max(0, all.count - 1) }

  /// How many of them wait, and for no time that ends by itself.
  ///
  /// Dispatch makes threads in a hurry on a busy machine. One that has nothing to do waits for five seconds, and then ends.
  static var waitingForGood: Int { all.count { KernelThread(thread: $0).waitsForAnother } }

  /// How often each thread has gone to sleep until now, by its number.
  static var sleeps: [String: Int] {
    var sleeps: [String: Int] = [:]
    for thread in all {
      let path = "/proc/self/task/\(thread)/status"
      sleeps[thread] = KernelFile.field("voluntary_ctxt_switches", of: path).flatMap { Int($0) }
    }
    return sleeps
  }

  /// The numbers of all threads, as the kernel has them.
  private static var all: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  }
}
