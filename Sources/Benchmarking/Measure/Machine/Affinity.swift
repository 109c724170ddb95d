internal import Basics
internal import Foundation

/// Which processors the threads of this process may use.
package enum Affinity {
  private typealias SetAffinity = @convention(c) (Int32, Int, UnsafeRawPointer) -> Int32

  /// Leaves the calling thread, and those that it starts, the first `count` of the processors it may use.
  ///
  /// - Returns: false where the machine does not let it.
  package static func narrow(to count: Int) -> Bool {
    let processors = allowed.prefix(count)
    return processors.count == count && set(processors)
  }

  /// Leaves the calling thread one processor.
  ///
  /// - Returns: false where the machine does not let it.
  static func bind(to processor: Int) -> Bool { set([processor]) }

  private static func set(_ processors: some Sequence<Int>) -> Bool {
    // The system call is hidden from Swift by how glibc's headers declare it.
    guard let symbol = dlsym(nil, "sched_setaffinity") else { return false }
    var mask = [UInt8](repeating: 0, count: 128)
    for processor in processors { mask[processor / 8] |= 1 << UInt8(processor % 8) }
    return unsafeBitCast(symbol, to: SetAffinity.self)(0, mask.count, mask) == 0
  }

  /// By number, as the kernel lists them: `0-1,4`.
  static var allowed: [Int] {
    let ranges = KernelFile.field("Cpus_allowed_list", of: "/proc/self/status") ?? ""
    return ranges.split(separator: ",").flatMap { range -> [Int] in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }.filter { $0 < 1_024 }
  }
}
