internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  /// What can be set; each is read as the key of the same name is.
  static let settingKeys = [
    Keys.limit, Keys.work, Keys.kind, Keys.clock, Keys.workers, Keys.seed, Keys.describe,
    Keys.pager, Keys.memory,
  ]

  static let set = Command(
    "set",
    [Parameter("K", .setting), Parameter("V", .text)],
    keys: settingKeys,
    summary: "what commands fall back on: \(settingKeys.map(\.name).joined(separator: ", "))",
    details:
      "kind=auto is what the mechanism's users do. 'set' alone tells, as 'show' does, what is set and where each value comes from.",
    examples: ["set", "set limit 4", "set work exp:20ms", "set seed 7"]
  ) { session, arguments in
    var given = arguments
    if !arguments.places.isEmpty {
      guard arguments.places.count == 2 else {
        throw try arguments.missingValue(of: arguments.places[0])
      }
      try given.take(value: arguments.places[1], for: arguments.places[0])
    }
    guard !given.values.isEmpty else { return session.showSettings() }
    var changed = session.settings
    try changed.apply(given)
    for name in given.values.keys { changed.origins[name] = session.origin }
    session.change(to: changed)
    return session.showSettings()
  }

  static let show = Command(
    "show",
    summary: "the settings that commands fall back on, and where each value comes from",
    examples: ["show"]
  ) { session, _ in
    session.showSettings()
  }
}

extension Session {
  func showSettings() -> Outcome {
    let kind =
      settings.kind?.rawValue ?? "auto (\(settings.mechanism.profile.defaultKind.rawValue))"
    let rows: [(StaticString, String)] = [
      ("mechanism", settings.mechanism.id),
      ("limit", String(settings.limit)),
      ("work", ValueSyntax.text(settings.work)),
      ("kind", kind),
      ("clock", "\(settings.clock.rawValue) (\(settings.resolvedClock.rawValue))"),
      ("workers", String(settings.workers ?? Experiment.defaultWorkers)),
      ("seed", String(settings.seed)),
      ("describe", settings.describe ? "on" : "off"),
      ("pager", settings.pager ? "on" : "off"),
      ("memory", "\(settings.memory) GB"),
    ]
    let settings = settings
    let origin = { (name: StaticString) in settings.origins["\(name)"] ?? "default" }
    return answer(
      json: JSONObject.line([
        ("settings", .object(rows.map { ($0, .string($1)) })),
        ("from", .object(rows.map { ($0.0, .string(origin($0.0))) })),
      ]),
      Columns.rows(rows.map { ["\($0)", $1, origin($0)] })
    )
  }
}
