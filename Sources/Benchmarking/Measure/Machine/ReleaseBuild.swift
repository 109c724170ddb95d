internal import Experiments
internal import Foundation

/// Builds the bench for release, if it was built for debugging, and continues as the result.
package enum ReleaseBuild {
  package enum Failure: Error, CustomStringConvertible {
    case noPackage(String)
    case buildFailed(command: String, output: String)
    case cannotContinue(String, String)

    package var description: String {
      switch self {
      case .noPackage(let path):
        "\(path) is a debug build, and the package it was built from is not above it. "
          + "Build with 'swift build -c release' and run that, or measure the debug "
          + "build as it is with --unoptimised"
      case .buildFailed(let command, let output):
        "building for release failed: \(command)\n\(output)"
      case .cannotContinue(let path, let reason):
        "cannot continue in \(path): \(reason)"
      }
    }
  }

  /// Whether this program was built for debugging, so that its figures would mislead.
  package static var isNeeded: Bool {
    #if DEBUG
    true
    #else
    false
    #endif
  }

  /// The folder with `Package.swift` that this program was built in; nil if it was moved elsewhere.
  package static func packageRoot(of executable: String) -> String? {
    var folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
    while folder.path != "/" {
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
      {
        return folder.path
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }

  /// The path of the running program's file.
  package static var executable: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  }

  /// Builds for release and replaces this process with the result; returns only by throwing.
  ///
  /// Under `swift run` this is safe: it has let go of the package's lock by the time the program runs.
  package static func `continue`(
    arguments: [String],
    isInterrupted: @escaping @Sendable () -> Bool
  ) async throws -> Never {
    guard let root = packageRoot(of: executable) else { throw Failure.noPackage(executable) }
    // The build folder may be another than .build: it is what holds <triple>/debug/bench.
    let scratch = URL(fileURLWithPath: executable).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().path
    let name = URL(fileURLWithPath: executable).lastPathComponent
    let build = [
      "swift", "build", "-c", "release", "--product", name, "--package-path", root,
      "--scratch-path", scratch,
    ]
    let result = try await ChildProcess.run(
      "/usr/bin/env",
      build,
      timeLimit: .seconds(3_600),
      isInterrupted: isInterrupted
    )
    guard result.ending == .exited(0) else {
      throw Failure.buildFailed(
        command: build.joined(separator: " "),
        output: result.output + result.errors
      )
    }
    let program = URL(fileURLWithPath: executable).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("release/\(name)").path
    var pointers: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    pointers.append(nil)
    execv(program, pointers)
    throw Failure.cannotContinue(program, String(cString: strerror(errno)))
  }
}
