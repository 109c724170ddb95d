package import Mechanisms

/// A mechanism's profile in words and as JSON.
package enum ProfileText {
  /// One line a mechanism, as wide as the canvas allows.
  package static func table(_ entries: [CatalogueEntry], _ format: TextFormat) -> String {
    let rows = entries.map { entry in
      [
        entry.id, limit(entry.profile), entry.profile.waiting.rawValue,
        order(entry.profile), clock(entry.profile),
      ]
    }
    let titles = ["mechanism", "limit", "waiting", "order", "clock"]
    let widths = titles.indices.map { column in
      ([titles] + rows).map { $0[column].count }.max() ?? 0
    }
    let tableWidth = widths.reduce(0) { $0 + $1 + 2 } - 2
    var text = ""
    if tableWidth <= format.width {
      text += Columns.rows([titles] + rows)
    } else {
      for entry in entries {
        text += entry.id + "\n"
        let facts = [
          "limit \(limit(entry.profile))", entry.profile.waiting.rawValue, order(entry.profile),
          "clock \(clock(entry.profile))",
        ]
        let lines = Columns.flow(
          facts,
          separator: format.glyphs.separator,
          width: format.width - 2
        )
        for line in lines { text += "  \(line)\n" }
      }
    }
    text += "'explain \(entries.first?.id ?? "MECH")' says more.\n"
    return text
  }

  /// A page about one mechanism.
  package static func explanation(_ entry: CatalogueEntry, _ format: TextFormat) -> String {
    let profile = entry.profile
    var text = paragraph("\(entry.id): \(profile.summary)", format) + "\n"
    for part in profile.explanation.split(separator: "\n\n") {
      text += paragraph(String(part), format) + "\n"
    }
    if let defect = profile.defect {
      text += paragraph("wrong on purpose: \(defect)", format) + "\n"
      text += paragraph("What it is meant to do:", format) + "\n"
    }
    var facts: [(String, String)] = [
      ("limit", limit(profile)),
      ("waiting", waiting(profile)),
      ("order", order(profile)),
      ("cancelled while it waits", cancellation(profile)),
      ("clock", clock(profile)),
      ("work unless told", "kind=\(profile.defaultKind.rawValue)"),
    ]
    if !profile.controls.isEmpty {
      facts.append(("also", controls(profile)))
    }
    let width = facts.map(\.0.count).max() ?? 0
    for (name, value) in facts {
      if width + 2 + value.count <= format.width {
        text += Columns.left(name, width) + "  " + value + "\n"
      } else {
        text += name + "\n" + paragraph(value, format, indent: 2)
      }
    }
    return text
  }

  /// One JSON object on a line.
  package static func json(_ entry: CatalogueEntry) -> String {
    let profile = entry.profile
    var fields: [(StaticString, JSONObject.Value)] = [
      ("id", .string(entry.id)), ("limit", .string(profile.limit.rawValue)),
      ("waiting", .string(profile.waiting.rawValue)),
      ("order", .string(profile.order.rawValue)),
      ("cancellation", .string(profile.cancellation.rawValue)),
      ("clock", .string(profile.clock.rawValue)), ("kind", .string(profile.defaultKind.rawValue)),
      ("summary", .string(profile.summary)),
    ]
    if let defect = profile.defect { fields.append(("defect", .string(defect))) }
    return JSONObject.line(fields)
  }

  private static func paragraph(_ text: String, _ format: TextFormat, indent: Int = 0) -> String {
    let margin = String(repeating: " ", count: indent)
    return Columns.wrap(text, width: format.width - indent).map { margin + $0 + "\n" }.joined()
  }

  private static func limit(_ profile: MechanismProfile) -> String { profile.limit.rawValue }

  private static func waiting(_ profile: MechanismProfile) -> String {
    switch profile.waiting {
    case .suspendsTask: "a waiting task is suspended and holds no thread"
    case .blocksThread: "a waiting task blocks a thread"
    case .queued: "a waiting task is an entry in a queue and holds no thread"
    case .none: "nothing waits"
    }
  }

  private static func order(_ profile: MechanismProfile) -> String {
    switch profile.order {
    case .fifo: "first come, first served"
    case .priority: "by priority, then first come"
    case .fifoToFirstSuspension: "first come, to first suspension"
    case .none: "no promise"
    }
  }

  private static func cancellation(_ profile: MechanismProfile) -> String {
    switch profile.cancellation {
    case .leavesAtOnce: "leaves the queue at once, its body never runs"
    case .skippedAtItsTurn: "keeps its place, is skipped at its turn, its body never runs"
    case .neverWaits: "never waits"
    }
  }

  private static func clock(_ profile: MechanismProfile) -> String {
    switch profile.clock {
    case .any: "virtual, real"
    case .real: "real only"
    }
  }

  private static func controls(_ profile: MechanismProfile) -> String {
    profile.controls.sorted().map { control in
      switch control {
      case .limit: "the limit can change while it runs (relimit=)"
      case .suspension: "can be suspended (pause=)"
      case .dependencies: "tasks can wait for others (depends=)"
      case .priorities: "admits by priority (priority=)"
      case .barrier: "a task can have it to itself (barrier)"
      case .notification: "says when all is done (notify)"
      }
    }.joined(separator: "; ")
  }
}
