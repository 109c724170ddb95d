internal import Basics
internal import FoundationEssentials
internal import Glibc

// What is told of a schedule, as a page for the browser.

extension ScheduleTrace {
  /// More files than that are not shown.
  private static let mostFiles = 12
  /// Nor is a longer one.
  private static let mostLinesOfFile = 10_000

  /// The steps, opened where they fail, with the code that they go through.
  ///
  /// - Parameters:
  ///   - name: what the exploration is called.
  ///   - message: what fails.
  ///   - call: the line of code that runs the schedule again.
  /// - Returns: The page.
  func page(of name: String, failing message: String, again call: String) -> StepsPage {
    let tasks = steps.map { Int($0.choice.agent) }.max() ?? 1
    var files = PageFiles()
    let moments = steps.indices.map { index in
      var moment = StepsPage.Step(
        number: index + 1,
        who: Self.name(Int(steps[index].choice.agent)),
        what: [placeText(of: steps[index]), words(of: steps[index])].compactMap(\.self)
          .joined(separator: "  "),
        states: (1...tasks).map { state(of: $0, after: index) },
        lines: (1...tasks).map { files.line(of: stand(of: $0, after: index)) }
      )
      if index == steps.count - 1 { moment.broke = message }
      return moment
    }
    let more = further > 0 ? " \(further) more steps follow, which are not shown." : ""
    var page = StepsPage(
      title: "'\(name)' fails: \(message)",
      lead:
        "Each step is one that the tasks could take. Go through them with the slider or the arrow keys: "
        + "a task that waits for another is drawn as ·, one that could go on as █.\(more)",
      tasks: (1...tasks).map(Self.name),
      steps: moments,
      length: steps.count
    )
    page.files = files.read(atMost: Self.mostFiles, lines: Self.mostLinesOfFile)
    page.race = race
    page.relation = relation
    page.opensAtFailure = true
    page.foot = "<p>To run it again: <code>\(XMLText.escaped(call))</code></p>"
    return page
  }

  /// Writes it to a file; says why not, if it could not.
  static func write(_ page: StepsPage, to path: String) -> String? {
    guard let file = fopen(path, "w") else { return String(cString: strerror(errno)) }
    var html = page.html
    let isWritten = html.withUTF8 { fwrite($0.baseAddress, 1, $0.count, file) == $0.count }
    return fclose(file) == 0 && isWritten ? nil : String(cString: strerror(errno))
  }

  /// What has become of the task once the step is taken.
  private func state(of agent: Int, after index: Int) -> String {
    guard let last = steps[...index].lastIndex(where: { Int($0.choice.agent) == agent }) else {
      return ""
    }
    if steps[last].hasEnded { return "finished" }
    if !steps[last].endsAt.isEmpty { return "failed" }
    let isWoken = steps[last...index].dropFirst().contains { $0.woke.contains(agent) }
    return steps[last].waitsAt.isEmpty || isWoken ? "running" : "waiting"
  }

  /// Where the task stands once the step is taken: where it goes on from, has failed, or waits for ever.
  ///
  /// Nil where it has not begun, has finished, or nobody knows.
  private func stand(of agent: Int, after index: Int) -> SourcePlace? {
    guard let last = steps[...index].lastIndex(where: { Int($0.choice.agent) == agent }),
      !steps[last].hasEnded
    else { return nil }
    let next = steps[(index + 1)...].first { Int($0.choice.agent) == agent }
    for points in [next?.from, steps[last].endsAt, steps[last].waitsAt].compactMap(\.self) {
      if let place = place(of: points) { return place }
    }
    return nil
  }
}

/// The files whose lines a page shows, each with a name of its own.
private struct PageFiles {
  private var paths: [String] = []

  mutating func line(of place: SourcePlace?) -> StepsPage.Line? {
    guard let place else { return nil }
    if !paths.contains(place.path) { paths.append(place.path) }
    return StepsPage.Line(file: name(of: place.path), number: place.line)
  }

  /// The file's name, and a number behind it where another one is called so.
  private func name(of path: String) -> String {
    let name = lastPart(of: path)
    let alike = paths.filter { lastPart(of: $0) == name }
    let number = (alike.firstIndex(of: path) ?? 0) + 1
    return number == 1 ? name : "\(name) (\(number))"
  }

  func read(atMost count: Int, lines most: Int) -> [StepsPage.File] {
    paths.prefix(count).compactMap { path in
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      return lines.count > most ? nil : StepsPage.File(name: name(of: path), lines: lines)
    }
  }
}
