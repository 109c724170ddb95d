internal import Glibc

/// The machine's processors, as this process sees them.
package enum Processors {
  /// How many this process may use, which `taskset` can make fewer than there are.
  ///
  /// The system call for it is hidden from Swift; the kernel tells it in a file, as a mask in hexadecimal.
  package static var allowed: Int {
    guard let mask = KernelFile.field("Cpus_allowed", of: "/proc/self/status") else {
      return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
    return max(1, mask.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount })
  }
}
