internal import Basics
internal import Foundation

/// How long all processors of the machine have worked so far, and how much of that was for this process.
package struct MachineLoad: Hashable, Sendable {
  /// Nanoseconds on the monotonic clock.
  package var time: Int64
  /// Nanoseconds of work, summed over the processors.
  package var busy: Int64
  /// Nanoseconds in which the hypervisor ran another machine.
  package var steal: Int64
  /// Nanoseconds of this process and of its children that have ended.
  package var own: Int64
  package var processors: Int

  /// Nil where the kernel does not say.
  package static func now() -> MachineLoad? {
    guard let line = KernelFile.text("/proc/stat")?.split(separator: "\n").first else { return nil }
    return MachineLoad(statLine: line, time: MachineClock.monotonic(), own: ownProcessorTime())
  }

  /// Reads `cpu  user nice system idle iowait irq softirq steal guest guest_nice`, in clock ticks.
  package init?(statLine: some StringProtocol, time: Int64, own: Int64) {
    let ticks = statLine.split(separator: " ").dropFirst().compactMap { Int64($0) }
    guard ticks.count >= 8 else { return nil }
    let tick = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    self.time = time
    // Idle and waiting for a disk are no work; guests are counted in user and nice already.
    busy = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick
    steal = ticks[7] * tick
    self.own = own
    processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }

  private static func ownProcessorTime() -> Int64 {
    var children = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &children)
    return MachineClock.processTime() + nanoseconds(children.ru_utime)
      + nanoseconds(children.ru_stime)
  }

  private static func nanoseconds(_ time: timeval) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1_000
  }
}

/// How much of the machine other processes used for a while, in percent of all its processors.
package struct Disturbance: Hashable, Codable, Sendable {
  package var foreignPercent: Double
  package var stealPercent: Double

  /// From here on, other processes took so much that the figures are theirs as well, and more is measured.
  package static let foreignThreshold = 10.0
  package static let stealThreshold = 2.0

  package init(foreignPercent: Double, stealPercent: Double) {
    self.foreignPercent = foreignPercent
    self.stealPercent = stealPercent
  }

  /// What happened between two readings; nil where no time passed.
  package init?(from start: MachineLoad, to end: MachineLoad) {
    let capacity = Double(end.time - start.time) * Double(end.processors)
    guard capacity > 0 else { return nil }
    let foreign = Double((end.busy - start.busy) - (end.own - start.own))
    foreignPercent = max(0, foreign / capacity * 100)
    stealPercent = max(0, Double(end.steal - start.steal) / capacity * 100)
  }

  /// Watches the machine for a moment; nil where it does not say.
  package static func now() async -> Disturbance? {
    guard let before = MachineLoad.now() else { return nil }
    try? await Task.sleep(for: .milliseconds(300))
    return MachineLoad.now().flatMap { Disturbance(from: before, to: $0) }
  }

  /// How many cores others take, as a number of them.
  package var foreignCores: Double {
    foreignPercent / 100 * Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  /// What to say before measuring in such company; nil if it is quiet enough.
  package var warning: String? {
    guard let reason else { return nil }
    return "just now \(reason); in such company more is measured, and intervals are wider"
  }

  /// What disturbed what was measured meanwhile; nil where nothing much did.
  package var reason: String? {
    if foreignPercent > Self.foreignThreshold {
      return "other processes used \(rounded(foreignPercent)) % of the machine"
    }
    if stealPercent > Self.stealThreshold {
      return "the hypervisor took \(rounded(stealPercent)) % of the machine"
    }
    return nil
  }

  private func rounded(_ percent: Double) -> String { String(format: "%.0f", percent) }
}
