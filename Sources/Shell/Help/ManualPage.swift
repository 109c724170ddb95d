internal import Foundation
internal import Rendering

/// The manual page, in the language of `man`: written from the table of commands, so that it says
/// what the program does.
///
/// The argument parser has a generator too. It knows the program's options only, not the commands of
/// the shell, which are most of the page; and it is a plugin to be run by hand, not by the build, so
/// that its output could fall behind the program.
package enum ManualPage {
  /// `options` is how the program is called and its options, a name and a sentence each.
  package static func text(
    version: String,
    usage: String,
    options: [(name: String, help: String)]
  ) -> String {
    var page = [#".TH LAB 1 "" "\#(escaped(version))" "User Commands""#]
    page += [".SH NAME", "lab \\- see, measure and explore what limits concurrency"]
    page += [".SH SYNOPSIS", escaped(usage)]
    page += [
      ".SH DESCRIPTION",
      escaped(
        """
        How do I let at most N of these run at once? The lab sends simulated tasks through every \
        mechanism that Swift programs use for it, and shows what happened. Without arguments, at a \
        terminal, it is an interactive shell.
        """
      ),
    ]
    page.append(".SH OPTIONS")
    for option in options { page += entry(option.name, option.help) }
    page.append(".SH COMMANDS")
    page.append(escaped(HelpText.grammar))
    for group in CommandTable.groups {
      page.append(".SS " + escaped(group.heading))
      for command in group.commands { page += entry(command) }
    }
    for topic in HelpTopic.all {
      page.append(".SH " + escaped(topic.name.uppercased()))
      for paragraph in topic.text.components(separatedBy: "\n\n") {
        page += [".PP", escaped(paragraph)]
      }
    }
    page += [
      ".SH EXIT STATUS"
    ]
    for (status, meaning) in [
      ("0", "all well"),
      (
        "1",
        "a run or an exploration showed a violation, or a check or an expectation was not met"
      ),
      ("2", "wrong usage of lab itself"),
      ("3", "a command in a script failed, or the output could not be written"),
      ("130", "ended by Ctrl-C"),
    ] { page += entry(status, meaning) }
    page += [
      ".PP",
      escaped(
        """
        Where the reader of a script's output leaves, as 'head' does, the script is carried out to \
        its end all the same, and the status says how it went.
        """
      ),
    ]
    page.append(".SH FILES")
    page += entry(
      "$XDG_STATE_HOME/concurrency-lab/",
      "history and progress in the lessons; by default in ~/.local/state"
    )
    page += entry("~/.editrc", "key bindings, see editrc(5)")
    page.append(".SH ENVIRONMENT")
    page += entry("NO_COLOR, TERM, COLUMNS, LANG", "colour, movement, width and characters")
    return page.joined(separator: "\n") + "\n"
  }

  private static func entry(_ command: Command) -> [String] {
    var lines = entry(command.synopsis, HelpText.sentence(command.summary))
    if !command.details.isEmpty { lines += ["", escaped(command.details)] }
    for key in command.keys {
      lines += [".RS", ".TP", ".B " + escaped("\(key.name)="), escaped("\(key.help): \(key.form)")]
      lines.append(".RE")
    }
    lines += [".RS", ".PP", "For example:", ".EX"]
    lines += command.examples.map { "  " + escaped($0) }
    return lines + [".EE", ".RE"]
  }

  private static func entry(_ name: String, _ text: String) -> [String] {
    [".TP", ".B " + escaped(name), escaped(text)]
  }

  /// Text that `man` takes for text: no line of it is a request, no backslash an escape.
  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return plain.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }
      .joined(separator: "\n")
  }
}
