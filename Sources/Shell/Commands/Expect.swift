internal import Experiments
internal import LessonBook
internal import Rendering

extension Command {
  static let expect = Command(
    "expect",
    [Parameter("FIGURE", .metric), Parameter("= VALUE", .text, repeats: true)],
    summary: "check a figure of the last run, so that a script is a test",
    details: """
      The comparisons are = != < <= > >=. Values: 400ms, 3, 30/s, 5%, a range 380ms..450ms, another \
      figure such as limit + 1; ~5% after a value allows so much. A script ends with status 1 when \
      an expectation is not met. While a run goes on in the background, only what can no longer change is \
      decided, as 'finished >= 2' once two have finished; anything else is an error until 'wait' has \
      ended the run.
      """,
    examples: [
      "run 12 limiter limit=3 work=100ms; expect makespan = 400ms",
      "run 12 limiter limit=3; expect peak_running <= 3; expect waiting(t12) = 300ms",
    ],
    takesAnyWords: true
  ) { session, arguments in
    let run = try session.lastRun(arguments)
    if let background = session.background { session.tellWhichIsMeant(background) }
    guard let first = arguments.places.first, let last = arguments.places.last else {
      throw arguments.missing("what to expect")
    }
    let text = arguments.places.map(\.text).joined(separator: " ")
    let result: ExpectationResult
    do {
      result = try Expectation(text).judge(RunMetrics(run))
    } catch let error as ExpectationError {
      let question = NearMatch.question(for: error.fragment, in: error.candidates)
      let culprit = arguments.places.first { $0.text.contains(error.fragment) }
      // A list of all figures would hide what is wrong.
      let isUnknown = !error.candidates.isEmpty
      let message =
        isUnknown
        ? "there is no figure '\(error.fragment)'.\(question) 'help figures' lists all."
        : error.description + "."
      throw ShellError(
        message,
        at: culprit?.range ?? first.range.lowerBound..<last.range.upperBound
      )
    }
    let soFar: [(StaticString, JSONObject.Value)] =
      result.soFar == nil ? [] : UnderWayText.members(run)
    let glyphs = session.output.format.glyphs
    let outcome = session.answer(
      json: JSONObject.line(
        [
          ("expect", .string(text)), ("met", .string(result.isMet ? "yes" : "no")),
          ("got", .string("\(result.got)")),
        ] + soFar
      ),
      session.sentence("\(result.isMet ? glyphs.good : glyphs.bad) \(result.sentence)") + "\n"
    )
    return result.isMet ? outcome : .unmet
  }
}
