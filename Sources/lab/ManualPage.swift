import ArgumentParser
import Shell

extension Lab {
  /// The manual page, its options as `--help` has them.
  static var manualPage: String {
    // Wide enough that no text is broken.
    let help = helpMessage(columns: 10_000).split(separator: "\n")
    var options: [(name: String, help: String)] = []
    for line in help.drop(while: { !$0.hasPrefix("ARGUMENTS:") }) where line.hasPrefix("  ") {
      let text = line.drop { $0 == " " }
      guard line.prefix(while: { $0 == " " }).count == 2 else {
        // A long name has its text on the next line.
        if !options.isEmpty { options[options.count - 1].help += text }
        continue
      }
      let name = text.firstRange(of: "  ").map { text[..<$0.lowerBound] } ?? text
      options.append((String(name), String(text.dropFirst(name.count).drop { $0 == " " })))
    }
    let usage = help.first { $0.hasPrefix("USAGE: ") }?.dropFirst("USAGE: ".count)
    return ManualPage.text(
      version: configuration.version,
      usage: usage.map(String.init) ?? "lab",
      options: options
    )
  }
}
