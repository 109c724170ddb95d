internal import Basics
internal import Experiments
internal import Rendering

extension Keys {
  static let accountRemedy = Key(
    "remedy",
    form: ListText.all(Overdraft.Remedy.allCases.map(\.rawValue), "or"),
    help: "what is done about it",
    candidates: Overdraft.Remedy.allCases.map(\.rawValue)
  )
}

extension Command {
  static let overdraft = Command(
    "overdraft",
    keys: [Keys.accountRemedy],
    summary: "two withdrawals from an account that is open while it awaits the bank",
    details: """
      An actor keeps an account of 100. Two tasks withdraw 60 each: look, await the bank, take. The \
      second comes while the first awaits.

      remedy=reserve takes the money before it asks the bank; recheck looks again when the bank has \
      answered.
      """,
    examples: ["overdraft", "overdraft remedy=reserve"]
  ) { session, arguments in
    var scene = Overdraft()
    if let remedy = try arguments.value(Keys.accountRemedy, Overdraft.Remedy.init(rawValue:)) {
      scene.remedy = remedy
    }
    let entries = await scene.run()
    return session.answer(
      json: OverdraftText.json(entries),
      OverdraftText.text(entries, scene.remedy, session.output.format)
    )
  }
}
