internal import Glibc

/// The machine's processors, as this process sees them.
package enum Processors {
  /// How many this process may use, which `taskset` can make fewer than there are.
  ///
  /// The system call for it is hidden from Swift; the kernel tells it in a file, as a mask in hexadecimal.
  package static var allowed: Int {
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
    defer { close(file) }
    let text = String(unsafeUninitializedCapacity: 8_192) {
      max(0, read(file, $0.baseAddress, $0.count))
    }
    let mask = text.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") } ?? ""
    let digits = mask.split(separator: ":").last ?? ""
    return max(1, digits.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount })
  }
}
