internal import Basics
internal import Foundation

/// What this process has used so far, as the kernel counts it.
///
/// A figure the machine does not give is nil, never zero.
struct ProcessMetrics: Hashable, Sendable {
  /// Nanoseconds of processor time, all threads.
  var processorTime: Int64
  var voluntarySwitches: Int64
  var involuntarySwitches: Int64
  /// Threads alive.
  var threads: Int?
  /// Bytes of memory in use now.
  var resident: Int64?
  /// Bytes of memory in use at the highest.
  var peakResident: Int64?
  /// Nanoseconds the threads now alive have been ready to run without a core to run on.
  var runQueueDelay: Int64?

  static func now() -> ProcessMetrics {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let status = KernelFile.text("/proc/self/status") ?? ""
    return ProcessMetrics(
      processorTime: MachineClock.processTime(),
      voluntarySwitches: Int64(usage.ru_nvcsw),
      involuntarySwitches: Int64(usage.ru_nivcsw),
      threads: KernelFile.field("Threads", in: status).flatMap { Int($0) },
      resident: KernelFile.bytes("VmRSS", in: status),
      peakResident: KernelFile.bytes("VmHWM", in: status),
      runQueueDelay: runQueueDelay()
    )
  }

  /// Threads alive; nil where the kernel does not say.
  static func threadCount() -> Int? {
    KernelFile.field("Threads", of: "/proc/self/status").flatMap { Int($0) }
  }

  /// The second figure of `schedstat`, summed over the threads.
  private static func runQueueDelay() -> Int64? {
    let folder = "/proc/self/task"
    guard let threads = try? FileManager.default.contentsOfDirectory(atPath: folder)
    else { return nil }
    // A thread that ends between the listing and the reading has no figure any more.
    let delays = threads.compactMap { thread in
      KernelFile.line("\(folder)/\(thread)/schedstat")?.split(separator: " ").dropFirst().first
        .flatMap { Int64($0) }
    }
    return delays.isEmpty ? nil : delays.reduce(0, +)
  }
}
