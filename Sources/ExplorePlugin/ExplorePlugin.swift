import Foundation
import PackagePlugin

// swift package explore: builds the package's tests with what shows an exploration each lock, atomic and hop, in a
// folder of its own, and runs them.
//
// Only the tests are built. A program of the package would not link, for nothing in it answers the calls that the
// compiler puts into instrumented code. Whoever has no use for the plugin builds the same by hand; the
// documentation of Exploration has the lines.

@main struct ExplorePlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    #if os(Linux)
    let options = try Options(arguments)
    if options.isHelp { return print(Options.help) }
    let program = try TestProgram(
      of: context.package,
      in: context.package.directoryURL,
      configuration: options.configuration
    )
    try program.build()
    try program.run(options)
    #else
    throw Stop(
      "explorations are for Linux; here, 'swift test' runs what is explored once, as ordinary tests"
    )
    #endif
  }
}

/// What ends the command, and is told.
struct Stop: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// What stands behind `swift package explore`.
struct Options {
  static let help = """
    USAGE: swift package explore [--filter REGEX]… [--replay SCHEDULE] [--within SECONDS] [--report FILE]
                                 [--configuration NAME]

    Builds the package's tests so that an exploration can stop at each lock, atomic and hop, in .build/explore, and
    runs them.

      --filter REGEX       run only the tests whose names match; given several times, those that match any
      --replay SCHEDULE    what a failure prints: of the explorations of that name, run only this schedule; the others
                           are explored as always, so --filter the test
      --within SECONDS     how long each exploration may look for a failure, unless it says less itself
      -c, --configuration debug|release
                           with which of them the tests are built; debug unless told otherwise
      --report FILE        write the failing schedule as a page for a browser, of explorations that name no file
                           themselves; of several that fail, the last
    """

  private(set) var filters: [String] = []
  private(set) var schedule: String?
  private(set) var limit: String?
  private(set) var report: String?
  private(set) var configuration = "debug"
  private(set) var isHelp = false

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      func value() throws -> String {
        if parts.count == 2 { return parts[1] }
        guard let value = rest.popFirst() else {
          throw Stop(
            "'\(argument)' wants a value behind it; 'swift package explore --help' says which"
          )
        }
        return value
      }
      switch parts[0] {
      case "--filter": filters.append(try value())
      case "--replay":
        let text = try value()
        guard text.contains(#/^v\d+:[^:]*:[^:]*:./#) else {
          throw Stop(
            "'--replay' wants a schedule as a failure prints it behind 'replaying:', such as 'v3:name:8c1f03d2:1,2', not "
              + "'\(text)'"
          )
        }
        schedule = text
      case "--report": report = try value()
      case "--within":
        let text = try value()
        guard let seconds = Double(text), seconds > 0, seconds.isFinite else {
          throw Stop("'--within' wants a number of seconds more than 0, not '\(text)'")
        }
        limit = text
      case "--configuration", "-c":
        configuration = try value()
        guard ["debug", "release"].contains(configuration) else {
          throw Stop("'\(argument)' wants debug or release, not '\(configuration)'")
        }
      case "--help", "-h": isHelp = true
      default:
        throw Stop(
          "no option of 'explore' is called '\(argument)'; 'swift package explore --help' lists them"
        )
      }
    }
    for filter in filters where (try? Regex(filter)) == nil {
      throw Stop("'\(filter)' is no regular expression")
    }
  }
}

/// The program that SwiftPM makes of a package's tests.
struct TestProgram {
  private let name: String
  private let directory: URL
  private let configuration: String
  private var scratch: String { directory.appending(path: ".build/explore").path }

  private static let flags = ["-Xswiftc", "-Xfrontend", "-Xswiftc", "-sanitize=thread"]

  init(of package: Package, in directory: URL, configuration: String) throws {
    guard package.targets.contains(where: { ($0 as? SwiftSourceModuleTarget)?.kind == .test })
    else {
      throw Stop("package '\(package.displayName)' has no tests; an exploration is part of one")
    }
    name = "\(package.displayName)PackageTests"
    self.directory = directory
    self.configuration = configuration
  }

  func build() throws {
    // As 'swift test -c release' wants it too, for what tests import as testable.
    let testable = configuration == "release" ? ["-Xswiftc", "-enable-testing"] : []
    let status = try swift(
      ["build", "--product", name, "-c", configuration, "--scratch-path", scratch] + Self.flags
        + testable
    )
    guard status == 0 else { throw Stop("the tests do not build, see above") }
  }

  /// Runs the tests of both frameworks.
  func run(_ options: Options) throws {
    let file = try file()
    var environment = ProcessInfo.processInfo.environment
    // The same order of sets and dictionaries in each process, so that a schedule can be replayed in another.
    environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
    environment["EXPLORATION_VERDICTS"] = environment["EXPLORATION_VERDICTS"] ?? "1"
    if let schedule = options.schedule { environment["EXPLORATION_REPLAY"] = schedule }
    if let limit = options.limit { environment["EXPLORATION_WITHIN"] = limit }
    if let report = options.report { environment["EXPLORATION_REPORT"] = report }
    if !Self.isAtTerminal, environment["NO_COLOR"] == nil { environment["NO_COLOR"] = "1" }
    var failed = false
    let filter = options.filters.flatMap { ["--filter", $0] }
    let status = try execute(file, ["--testing-library", "swift-testing"] + filter, environment)
    // 69: it has no such tests.
    failed = status != 0 && status != 69
    let names = try namesOfXCTests(in: file, matching: options.filters, environment)
    if !names.isEmpty, try execute(file, [names.joined(separator: ",")], environment) != 0 {
      failed = true
    }
    if status == 69, names.isEmpty { throw Stop("no test has a name that matches") }
    if failed { throw Stop("some tests failed, see above") }
  }

  /// Whether what is printed comes to a terminal: where the program prints that runs this one, `swift package`.
  private static var isAtTerminal: Bool {
    let output = try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/\(getppid())/fd/1"
    )
    return output.map { $0.hasPrefix("/dev/pts/") || $0.hasPrefix("/dev/tty") } ?? true
  }

  /// Where `swift package` prints, if that is no terminal and it lets this process print there by itself.
  ///
  /// SwiftPM buffers what a plugin prints, but not its errors: the error that ends the command would stand in the middle
  /// of a line of a test's report.
  private static let output = isAtTerminal ? nil : duplicateOfOutput() ?? pipe()

  /// Asked of the kernel, which allows it where this process might debug the other.
  private static func duplicateOfOutput() -> FileHandle? {
    typealias OpenProcess = @convention(c) (pid_t, CUnsignedInt) -> CInt
    typealias Duplicate = @convention(c) (CInt, CInt, CUnsignedInt) -> CInt
    guard let open = dlsym(nil, "pidfd_open"), let duplicate = dlsym(nil, "pidfd_getfd") else {
      return nil
    }
    let process = unsafeBitCast(open, to: OpenProcess.self)(getppid(), 0)
    defer { close(process) }
    let output = unsafeBitCast(duplicate, to: Duplicate.self)(process, 1, 0)
    return output < 0 ? nil : FileHandle(fileDescriptor: output)
  }

  /// A pipe can be opened a second time; a file cannot, as it would be overwritten from its beginning.
  private static func pipe() -> FileHandle? {
    let path = "/proc/\(getppid())/fd/1"
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return nil }
    return FileHandle(forWritingAtPath: path)
  }

  private func file() throws -> String {
    let output = try text(
      of: "/usr/bin/env",
      ["swift", "build", "--show-bin-path", "-c", configuration, "--scratch-path", scratch]
    )
    let folder = output.trimmingCharacters(in: .whitespacesAndNewlines)
    let file = "\(folder)/\(name).xctest"
    guard FileManager.default.isExecutableFile(atPath: file) else {
      throw Stop("the tests were built, but there is no program \(file)")
    }
    return file
  }

  /// `Module.Class/method` of each test of XCTest.
  private func namesOfXCTests(
    in file: String,
    matching filters: [String],
    _ environment: [String: String]
  ) throws -> [String] {
    let patterns = try filters.map { try Regex($0) }
    return try text(of: file, ["--list-tests"], environment).split(separator: "\n").map(String.init)
      .filter { line in
        line.contains("/") && !line.contains(" ")
          && (patterns.isEmpty || patterns.contains { line.contains($0) })
      }
  }

  private func swift(_ arguments: [String]) throws -> Int32 {
    var environment = ProcessInfo.processInfo.environment
    // The manifest of Exploration reads it, and leaves what explores uninstrumented.
    environment["CONCURRENCY_LAB_EXPLORES"] = "1"
    return try execute("/usr/bin/env", ["swift"] + arguments, environment)
  }

  /// Runs a program to its end; what it prints is printed.
  private func execute(_ file: String, _ arguments: [String], _ environment: [String: String]?)
    throws
    -> Int32
  {
    let process = process(file, arguments, environment)
    try process.run()
    process.waitUntilExit()
    return process.terminationReason == .exit
      ? process.terminationStatus : 128 + process.terminationStatus
  }

  /// Runs a program to its end; returns what it prints.
  private func text(of file: String, _ arguments: [String], _ environment: [String: String]? = nil)
    throws
    -> String
  {
    let process = process(file, arguments, environment)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  private func process(_ file: String, _ arguments: [String], _ environment: [String: String]?)
    -> Process
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: file)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    if let output = Self.output {
      (process.standardOutput, process.standardError) = (output, output)
    }
    if let environment { process.environment = environment }
    return process
  }
}
