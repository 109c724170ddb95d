/// Writes a script for `sh` that can be run at once.
///
/// A program of its own writes it. While this process has a file open for writing, a program that another test starts
/// inherits it and keeps it open; and the kernel runs no file that somebody has open for writing ("Text file busy").
package func writeScript(_ text: String, to path: String) async throws {
  let written = try await BuiltProgram(path: "/bin/sh").run(
    ["-c", #"cat > "$0" && chmod 755 "$0""#, path],
    standardInput: "#!/bin/sh\n\(text)\n"
  )
  guard written.status == .exited(0) else {
    throw TestSupportError("the script \(path) cannot be written: \(written.standardError)")
  }
}
