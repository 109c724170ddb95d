import Foundation
import Shell
import TestSupport
import Testing

@testable import LessonBook

/// The lessons of this package.
@Suite(.watched) struct CourseTests {
  private static let folder = packageFolder + "/Lessons"

  @Test
  func `the lessons have no flaw that reading can find`() async throws {
    let problems = try await LessonAudit(folder: Self.folder).problems(rehearsing: [])
    #expect(problems.map(\.description) == [])
  }

  /// `.ci/steps/terminal` types them.
  @Test
  func `what each page has one type is listed, page by page`() throws {
    let course = try Course(folder: Self.folder)
    let lines = try LessonAudit(folder: Self.folder).pages.split(separator: "\n")
    let pages = try lines.map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(pages.map { $0["step"] as? String } == course.lessons.flatMap(\.sections).map(\.id))
    for (page, section) in zip(pages, course.lessons.flatMap(\.sections)) {
      let solution = try #require(page["solution"] as? [String])
      let exercise = page["exercise"] as? [String: Any]
      #expect(page["checks"] as? Int == section.checks.count)
      #expect(solution.isEmpty != (section.isStep && section.exercise == nil), "\(section.id)")
      #expect((exercise?["solution"] == nil) == (section.exercise == nil))
      if let guess = page["guess"] as? String {
        #expect(section.prediction?.guess(guess) != nil, "\(guess)")
      } else {
        #expect(section.prediction == nil)
      }
    }
  }

  @Test
  func `each lesson has a picture that the lab draws, for light and for dark`() throws {
    let course = try Course(folder: Self.folder)
    let axes = [">time, ", ">step</text>", ">share of the permits in use"]
    for lesson in course.lessons {
      #expect(!lesson.pictures.isEmpty, "\(lesson.title)")
      for picture in lesson.pictures {
        let file = URL(fileURLWithPath: Self.folder).appending(path: picture.file)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("prefers-color-scheme: dark"))
        #expect(axes.contains { text.contains($0) }, "\(picture.file) has an axis")
      }
    }
  }

  /// Twelve tasks in four rounds look as eight in four rounds do: what tells them apart is where bars are.
  @Test
  func `no two lessons have the same picture`() throws {
    var lessons: [Set<String>: String] = [:]
    for lesson in try Course(folder: Self.folder).lessons {
      for picture in lesson.pictures {
        let file = URL(fileURLWithPath: Self.folder).appending(path: picture.file)
        let text = try String(contentsOf: file, encoding: .utf8)
        let bars = text.matches(
          of: /<rect class="([a-z" =.0-9-]+)" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"/
        )
        // In twentieths of the width; the legend's are 22 wide, and a waiting line is in every picture.
        var shape = bars.compactMap { bar -> String? in
          guard bar.output.3 != "22", bar.output.1 != "waiting", let start = Double(bar.output.2),
            let length = Double(bar.output.3)
          else { return nil }
          let (first, last) = ((start - 76) / 45, (start - 76 + length) / 45)
          return "\(bar.output.1) \(Int(first.rounded())) \(Int(last.rounded()))"
        }
        if shape.isEmpty {
          // Marks and lines, and no bars.
          shape = text.matches(of: /<(?:circle|path|polygon|polyline|line) [^>]*>/).map {
            String($0.output)
          }
        }
        #expect(shape.count > 1, "\(picture.file)")
        let other = lessons.updateValue(picture.file, forKey: Set(shape))
        #expect(other == nil, "\(picture.file) looks as \(other ?? "") does")
      }
    }
  }

  /// Asked at every step of every lesson, before a guess and before a run.
  @Test
  func `no page, check or question gives away what is still to be found`() throws {
    let text = LessonText(width: 10_000)
    var asked = 0
    for lesson in try Course(folder: Self.folder).lessons {
      var visit = LessonVisit(lesson)
      for section in lesson.sections {
        #expect(visit.section.id == section.id)
        let page = text.text(visit.opening())
        let check = text.text(visit.check(now: "now").passages)
        let place = "lesson \(lesson.number), \(section.title)"
        // Whatever sign stands before it.
        for sentence in section.checks.map({ text.text([.met($0.sentence)]).dropFirst(2) }) {
          asked += 1
          #expect(!page.contains(sentence), "\(place): the page says '\(sentence)'")
          #expect(!check.contains(sentence), "\(place): the check says '\(sentence)'")
        }
        // What the exercise starts with is no secret.
        let secrets =
          section.solution.commands.flatMap(\.commands)
          + (section.exercise.map { exercise in
            exercise.solution.filter { $0.count > 12 && !exercise.start.contains($0) }
          } ?? [])
        for secret in secrets {
          #expect(
            !check.contains(secret.trimmingCharacters(in: .whitespaces)),
            "\(place): the check says '\(secret)'"
          )
        }
        if let prediction = section.prediction, let answers = Self.answers(of: section) {
          let question = "\(prediction.question) \(prediction.form.description)"
          let words = question.split { " ,.?()".contains($0) }.map(String.init)
          for answer in answers {
            #expect(!words.contains(answer), "\(place): '\(question)' has '\(answer)'")
          }
        }
        if visit.isOpen { _ = (visit.solution(), visit.solution()) }
        _ = visit.next()
      }
    }
    #expect(asked > 100, "\(asked) checks were asked")
  }

  /// What a right guess is, where that is known before a run; nil where the question offers choices.
  private static func answers(of section: LessonSection) -> [String]? {
    switch (section.prediction?.form, section.prediction?.answer) {
    case (.choice, _), (_, nil): nil
    case (_, .value(let value)): [value.description]
    case (_, .figure(let metric, _)):
      section.checks.map(\.expectation).filter { $0.metric == metric }
        .compactMap { $0.text.split(separator: " ").last.map(String.init) }
    }
  }

  /// Whatever was guessed.
  @Test
  func `no check tells the answer to a question before anything is run`() throws {
    for lesson in try Course(folder: Self.folder).lessons {
      for section in lesson.steps {
        guard let prediction = section.prediction else { continue }
        let guesses: [String] =
          if case .choice(let words) = prediction.form {
            words
          } else {
            ["17ms", "17", "1.7", "17/s", "17%"].filter { prediction.guess($0) != nil }
          }
        for guess in guesses {
          var record = LessonRecord()
          record.current = section.id
          record[section].prediction = guess
          var visit = LessonVisit(lesson, record: record)
          let text = LessonText(width: 10_000).text(visit.check(now: "now").passages)
          #expect(
            !text.contains("you guessed"),
            "lesson \(lesson.number), \(section.title): \(text.prefix(80))"
          )
        }
      }
    }
  }

  /// With other arrivals and other work, drawn from other seeds.
  @Test(.search, arguments: (1...8).fewUnlessLong(1))
  func `what lesson 14 says of its queues does not hang on the seed`(_ seed: Int) async throws {
    let lesson = try #require(try Course(folder: Self.folder).lessons.first { $0.number == 14 })
    for section in lesson.steps where section.exercise == nil {
      let lab = Lab(classroom: Classroom(folder: Self.folder))
      await lab.run("lesson 14")
      for _ in 0..<(lesson.sections.firstIndex { $0.id == section.id } ?? 0) {
        await lab.run("solution")
        await lab.run("solution")
        await lab.run("next")
      }
      await lab.run("set seed \(seed)")
      for command in section.solution.commands.flatMap(\.commands) { await lab.run(command) }
      let judged = await lab.run("check")
      #expect(judged.contains("Passed"), "seed \(seed), \(section.title): \(judged)")
    }
  }

  @Test
  func `the map of the course tells each lesson's time as the lesson does`() throws {
    let map = try String(contentsOfFile: Self.folder + "/README.md", encoding: .utf8)
    var told: [Int: Substring] = [:]
    for row in map.matches(of: /\| (\d+) \| \[[^\]]+\]\([^)]+\) \| (\d+) min \|/) {
      told[Int(row.output.1) ?? 0] = row.output.2
    }
    let lessons = try Course(folder: Self.folder).lessons
    #expect(told.count == lessons.count)
    for lesson in lessons {
      let minutes = lesson.time.prefix { $0.isNumber }
      #expect(told[lesson.number] == minutes, "lesson \(lesson.number): \(lesson.time)")
    }
  }

  @Test
  func `the list of lessons says no sentence that a check would say`() async throws {
    let scratch = try ScratchFolder()
    let progress = scratch.path + "/progress.json"
    let lab = Lab(classroom: Classroom(folder: Self.folder, progressFile: progress))
    let listing = await lab.run("lessons")
    #expect(listing.contains("What a limit is"))
    for lesson in try Course(folder: Self.folder).lessons {
      for check in lesson.steps.flatMap(\.checks) { #expect(!listing.contains(check.sentence)) }
    }
  }

  /// Those that say the same on every machine and explore little; the others, and what is built, are for the
  /// program itself: `lab --check-lessons`.
  @Test(arguments: [10, 11, 15, 12, 8, 1, 6, 7, 14].fewUnlessLong(3))
  func `a lesson's transcripts and steps hold, taken as a learner would`(_ number: Int) async throws
  {
    let audit = try LessonAudit(folder: Self.folder, numbers: [number])
    let problems = await audit.problems(rehearsing: [.transcripts, .steps])
    #expect(problems.map(\.description) == [])
  }
}
