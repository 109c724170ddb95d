internal import Basics
internal import Experiments
internal import Foundation

/// Where and how a run was measured: `env.json`.
///
/// What the machine does not tell is absent, never empty or zero.
package struct EnvironmentRecord: Hashable, Codable, Sendable {
  package var schema = "bench-env/3"
  package var runID: String
  package var date: String
  package var command: [String]
  package var seed: UInt64
  package var forks: Int
  package var benchVersion: String
  /// FNV-1a of the program file: two runs with the same one measured the same code.
  package var executableFingerprint: String?
  package var toolchain: String?
  package var optimised: Bool
  package var operatingSystem: String?
  package var kernel: String?
  package var architecture: String?
  package var cLibrary: String?
  package var processor: String?
  package var processorsOnline: Int?
  package var processorsAllowed: String?
  package var processorQuota: String?
  package var governor: String?
  package var clockSource: String?
  package var clockResolutionNanoseconds: Int64?
  package var memoryBytes: Int64?
  package var loadAverage: String?
  package var virtualisation: String?
  /// Of the package that the program was built in; with `-dirty` where its files are others.
  package var commit: String?
  /// How many cores other processes took just before; in the median block, and in the worst.
  package var loadBefore: Double?
  package var loadDuring: Double?
  package var loadDuringMost: Double?
  /// How far apart the processors were: the middle of the blocks of each kind, in nanoseconds there and back.
  package var distances: [String: Double]?
  /// How many blocks there were of each kind.
  package var distanceBlocks: [String: Int]?
  /// The kind that counts.
  package var distanceCounted: String?
  /// The workloads whose mechanisms share a process, and those that have one for each.
  package var paired: [String]?
  package var processEach: [String]?
  /// How much there is of a run that was interrupted.
  package var interrupted: String?
  /// How many of the planned blocks were not measured, so that the run ended in time.
  package var leftOut: String?
  /// How many seconds it measured; of a run that was gone on with, the last part of it.
  package var seconds: Double?

  /// How far apart the processors were in the blocks that count; nil where that is not known.
  var distance: Double? { distanceCounted.flatMap { distances?[$0] } }

  private enum CodingKeys: String, CodingKey {
    case schema
    case runID = "run_id"
    case date
    case command
    case seed
    case forks
    case benchVersion = "bench_version"
    case executableFingerprint = "executable_fingerprint"
    case toolchain
    case optimised
    case operatingSystem = "operating_system"
    case kernel
    case architecture
    case cLibrary = "c_library"
    case processor
    case processorsOnline = "processors_online"
    case processorsAllowed = "processors_allowed"
    case processorQuota = "processor_quota"
    case governor
    case clockSource = "clock_source"
    case clockResolutionNanoseconds = "clock_resolution_ns"
    case memoryBytes = "memory_bytes"
    case loadAverage = "load_average"
    case virtualisation
    case commit
    case loadBefore = "load_before_cores"
    case loadDuring = "load_during_cores"
    case loadDuringMost = "load_during_most_cores"
    case distances = "processor_distance_ns"
    case distanceBlocks = "processor_distance_blocks"
    case distanceCounted = "processor_distance_counted"
    case paired = "paired_workloads"
    case processEach = "process_each_workloads"
    case interrupted
    case leftOut = "left_out"
    case seconds = "measured_s"
  }

  /// Reads the machine; `toolchain` is what `swiftVersion()` says.
  package init(
    runID: String,
    command: [String],
    seed: UInt64,
    forks: Int,
    toolchain: String?
  ) {
    self.runID = runID
    date = Date().ISO8601Format()
    self.command = command
    self.seed = seed
    self.forks = forks
    benchVersion = Self.version
    executableFingerprint = Self.fingerprintOfThisProgram
    self.toolchain = toolchain
    #if DEBUG
    optimised = false
    #else
    optimised = true
    #endif
    operatingSystem = KernelFile.text("/etc/os-release").flatMap(Self.prettyName)
    (kernel, architecture) = Self.kernelAndArchitecture()
    cLibrary = Self.cLibraryVersion()
    processor = KernelFile.field("model name", of: "/proc/cpuinfo")
    let online = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    processorsOnline = online > 0 ? online : nil
    processorsAllowed = KernelFile.field("Cpus_allowed_list", of: "/proc/self/status")
    processorQuota = KernelFile.line("/sys/fs/cgroup/cpu.max")
    governor = KernelFile.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    clockSource = KernelFile.line(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    )
    var resolution = timespec()
    if clock_getres(CLOCK_MONOTONIC, &resolution) == 0 {
      clockResolutionNanoseconds = Int64(resolution.tv_nsec)
    }
    memoryBytes = KernelFile.text("/proc/meminfo").flatMap { KernelFile.bytes("MemTotal", in: $0) }
    loadAverage = KernelFile.line("/proc/loadavg")
    virtualisation =
      KernelFile.line("/sys/hypervisor/type")
      ?? KernelFile.line("/sys/class/dmi/id/sys_vendor")
  }

  /// Raised whenever what a figure means changes.
  package static let version = "2"

  /// Says what was measured how, and in what company.
  package mutating func note(_ plan: Plan, _ records: [BlockRecord]) {
    let measured = Dictionary(grouping: plan.entries, by: \.isPaired)
      .mapValues { Set($0.map(\.cell.workload)).sorted() }
    paired = measured[true] ?? []
    processEach = measured[false] ?? []
    let cores = records.compactMap { $0.disturbance?.foreignPercent }
      .map { $0 / 100 * Double(processorsOnline ?? 1) }.sorted()
    loadDuring = cores.isEmpty ? nil : cores[cores.count / 2]
    loadDuringMost = cores.last
    let counted = CountedBlocks(records, plan)
    guard !counted.blocks.isEmpty else { return }
    distances = Dictionary(
      uniqueKeysWithValues: counted.middles.map { ($0.rawValue, $1.rounded(digits: 3)) }
    )
    distanceBlocks = Dictionary(
      uniqueKeysWithValues: counted.blocks.map { ($0.rawValue, $1) }
    )
    distanceCounted = counted.counted?.rawValue
  }

  /// Says of a run that came to its end how many of its blocks were left out.
  package mutating func noteLeftOut(_ plan: Plan, _ records: [BlockRecord]) {
    let measured = Set(records.map { [$0.fork, $0.entry] })
    let blocks = plan.blocks()
    let missing = blocks.count { !measured.contains([$0.fork, $0.entry]) }
    leftOut = missing > 0 ? "\(missing) of \(blocks.count) blocks" : nil
  }

  /// The commit of the package in a folder; nil where there is none.
  package static func commit(of folder: String) async -> String? {
    func git(_ arguments: String...) async -> String? {
      let result = try? await ChildProcess.run(
        "/usr/bin/env",
        ["git", "-C", folder] + arguments,
        timeLimit: .seconds(60)
      )
      guard let result, result.ending == .exited(0) else { return nil }
      return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    guard let commit = await git("rev-parse", "HEAD") else { return nil }
    let changes = await git("status", "--porcelain", "--untracked-files=no")
    return changes?.isEmpty == true ? commit : commit + "-dirty"
  }

  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  package init(json: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
  }

  private static let fingerprintOfThisProgram = fingerprint(ofFile: "/proc/self/exe")

  /// As FNV-1a, but of eight bytes at a time: a program has many megabytes, and a build for debugging goes
  /// through bytes slowly.
  package static func fingerprint(ofFile path: String) -> String? {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }
    return data.withUnsafeBytes { bytes in
      var hash = start
      var offset = 0
      while offset + 8 <= bytes.count {
        hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* factor
        // A multiplication carries upwards only.
        hash ^= hash &>> 32
        offset += 8
      }
      return hexadecimal(mix(bytes[offset...], into: hash))
    }
  }

  /// FNV-1a, 64 bits: short and stable; no secret depends on it.
  static func fingerprint(of bytes: some Sequence<UInt8>) -> String {
    hexadecimal(mix(bytes, into: start))
  }

  private static let start: UInt64 = 0xCBF2_9CE4_8422_2325
  private static let factor: UInt64 = 0x0000_0100_0000_01B3

  private static func mix(_ bytes: some Sequence<UInt8>, into start: UInt64) -> UInt64 {
    bytes.reduce(into: start) { hash, byte in hash = (hash ^ UInt64(byte)) &* factor }
  }

  private static func hexadecimal(_ hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package static func swiftVersion() async -> String? {
    let result = try? await ChildProcess.run(
      "/usr/bin/env",
      ["swift", "--version"],
      timeLimit: .seconds(600)
    )
    guard let result, result.ending == .exited(0) else { return nil }
    return result.output.split(separator: "\n").first.map(String.init)
  }

  private static func cLibraryVersion() -> String? {
    var name = [CChar](repeating: 0, count: 64)
    let length = confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count)
    guard length > 1 else { return nil }
    return String(decoding: name.prefix(length - 1).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func prettyName(in text: String) -> String? {
    text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }.map {
      $0.dropFirst("PRETTY_NAME=".count).trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }
  }

  private static func kernelAndArchitecture() -> (String?, String?) {
    var names = utsname()
    guard uname(&names) == 0 else { return (nil, nil) }
    func string<Tuple>(_ tuple: Tuple) -> String {
      withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    return ("\(string(names.sysname)) \(string(names.release))", string(names.machine))
  }
}
