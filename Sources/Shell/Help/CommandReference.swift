internal import Rendering

/// Every command, its words and its keys as Markdown: written from the table that reads them, so that it cannot
/// say anything else.
package enum CommandReference {
  package static var markdown: String {
    let groups = CommandTable.groups.map { group in
      "## \(HelpText.capitalized(group.heading))\n\n"
        + group.commands.map(entry).joined(separator: "\n")
    }
    let topics = HelpTopic.all.map { "## \(HelpText.capitalized($0.name))\n\n\($0.text)\n" }
    return "# The commands of the lab\n\n" + HelpText.grammar + "\n\n"
      + (groups + topics).joined(separator: "\n")
  }

  private static func entry(_ command: Command) -> String {
    var text = "### `\(command.synopsis)`\n\n\(HelpText.sentence(command.summary))\n"
    if !command.details.isEmpty { text += "\n\(command.details)\n" }
    if !command.keys.isEmpty {
      text += "\n| key | what | form |\n| --- | --- | --- |\n"
      text += command.keys.map { "| `\($0.name)=` | \($0.help) | \($0.form) |\n" }.joined()
    }
    return text + "\n```\n" + command.examples.map { $0 + "\n" }.joined() + "```\n"
  }
}
