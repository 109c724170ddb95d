import Experiments
import Foundation
import FoundationXML
import Mechanisms
import Rendering
import TestSupport
import Testing

/// Counts the elements of a picture, and notes whether it is XML at all.
private final class ElementCounter: NSObject, XMLParserDelegate {
  var counts: [String: Int] = [:]
  var classes: [String: Int] = [:]

  static func count(_ text: String) -> ElementCounter? {
    let counter = ElementCounter()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = counter
    return parser.parse() ? counter : nil
  }

  func parser(
    _ parser: XMLParser,
    didStartElement name: String,
    namespaceURI: String?,
    qualifiedName: String?,
    attributes: [String: String]
  ) {
    counts[name, default: 0] += 1
    if let kind = attributes["class"] { classes[kind, default: 0] += 1 }
  }
}

@Suite(.watched)
struct PictureTests {
  static let run: Run = {
    var sample = SampleRun.random(40, limit: 3, seed: 5)
    sample.blocksWhileWaiting = true
    sample.serviceHoldsWorker = true
    return sample.run(mechanism: "<gcd & \"co\">")
  }()

  @Test
  func `the picture is XML with a row, its spans and its end for every task`() throws {
    let run = Self.run
    let elements = try #require(ElementCounter.count(RunSVG.text(run, run.summary)))
    #expect(elements.counts["g"] == 40)
    let timeline = Timeline(events: run.events, facts: run.facts)
    let spans = timeline.tasks.flatMap(\.spans)
    // One more of each kind is in the legend.
    #expect(elements.classes["running"] == spans.count { $0.phase == .running } + 1)
    #expect(elements.classes["blocked"] == spans.count { $0.phase == .blocked } + 1)
    #expect(elements.classes["end"] == run.summary.finished + 1)
    #expect(elements.classes["failed"] == run.summary.failed + 1)
    #expect(elements.classes["cancelled"] == run.summary.cancelled + run.summary.rejected + 1)
  }

  @Test
  func `the axis has its title, and the end its label, whatever the length`() {
    for work in [1, 7, 33, 100, 999, 12_345] as [Int64] {
      let run = SampleRun.together(7, limit: 2, work: work * millisecond).run()
      let text = RunSVG.text(run, run.summary)
      #expect(
        text.contains(#"text-anchor="end">\#(DurationText.text(run.summary.makespan))</text>"#)
      )
      #expect(text.contains(">time, ") && text.contains(">tasks</text>"))
    }
  }

  @Test
  func `a picture of very many tasks draws a sample and says so`() throws {
    let run = SampleRun.together(2_100, limit: 50, work: millisecond).run()
    let text = RunSVG.text(run, run.summary)
    let elements = try #require(ElementCounter.count(text))
    #expect(elements.counts["g"] == 1_050)
    #expect(
      text.contains(
        "2,100 tasks through limiter, limit 50, virtual time, seed 1: 1,050 of them drawn"
      )
    )
  }

  @Test
  func `each colour of the picture is a literal too, for programs that are no browsers`() {
    let (all, without) = StandaloneStyles.variables(in: RunSVG.text(Self.run, Self.run.summary))
    #expect(all > 10)
    #expect(without.isEmpty, "\(without)")
  }

  @Test
  func `no text of a picture is smaller than 14 px`() throws {
    let run = Self.run
    let sizes = RunSVG.text(run, run.summary).matches(of: /font-size: (\d+)px/)
    #expect(sizes.count == 3)
    #expect(sizes.allSatisfy { Int($0.output.1).map { $0 >= 14 } ?? false })
  }

  @Test(arguments: [false, true])
  func `the legend is within the picture, also where one more state is explained`(
    lacksWorkers: Bool
  ) throws {
    var run = Self.run
    run.clock = .virtual
    run.workers = lacksWorkers ? 1 : nil
    // It was to arrive before it did.
    let last = try #require(run.events.last { $0.kind == .arrived })
    run.plan[Int(last.task.number) - 1].arrival = last.time - 1
    let text = RunSVG.text(run, run.summary)
    let labels = text.matches(of: /<text class="s" x="([\d.]+)" y="([\d.]+)" [^>]*>([^<]*)</)
    #expect(labels.contains { $0.output.3 == "cancelled" })
    for label in labels {
      let x = try #require(Double(label.output.1))
      #expect(x + 8.4 * Double(label.output.3.count) <= 1_000, "\(label.output.3)")
    }
    #expect(labels.contains { $0.output.3 == "ready, no worker" } == lacksWorkers)
    let size = try #require(text.firstMatch(of: /viewBox="0 0 1000 ([\d.]+)"/))
    let height = try #require(Double(size.output.1))
    #expect(labels.allSatisfy { Double($0.output.2).map { $0 + 6 <= height } ?? false })
  }

  @Test
  func `the picture of the curve has a mark for each run, and none without two`() throws {
    let entries = [2, 3, 4].enumerated().map { index, limit in
      RunList.Entry(
        number: index + 1,
        run: SampleRun.random(200, limit: limit, seed: 2).run()
      )
    }
    let text = try #require(CurveSVG.text(entries))
    let elements = try #require(ElementCounter.count(text))
    #expect(elements.counts["circle"] == 3)
    for entry in entries {
      #expect(text.contains(">\(DurationText.text(entry.summary.waiting.mean))</text>"))
    }
    #expect(CurveSVG.text(Array(entries.prefix(1))) == nil)
  }

  @Test
  func `the picture of a stall has every request of both loops over one axis`() async throws {
    let text = LoopsSVG.text(await Stall(.open).run(), await Stall(.closed).run())
    let elements = try #require(ElementCounter.count(text))
    #expect(text.contains("200 of them came during the stall"))
    // Two strokes for each request of the closed loop.
    #expect(elements.classes["end"] == 2 * (Stall.requests + 1))
    let area = try #require(text.firstMatch(of: /class="count" d="M([^"]*)Z"/)?.output.1)
    #expect(area.split(separator: "L").count == Stall.requests + 3)
  }

  @Test
  func `the picture of the workers has every step, by where it came from`() throws {
    var run = Self.run
    for (index, route) in [TraceEvent.Route.slot, .stolen].enumerated() {
      run.events[index].worker = WorkerID(1)
      run.events[index].route = route
    }
    let text = try #require(WorkersSVG.text(run))
    let elements = try #require(ElementCounter.count(text))
    let workers = run.timeline.workers
    let marks = workers.flatMap(\.marks)
    let plain = marks.count { $0.route == nil }
    // One more of each is in the legend.
    #expect(elements.classes["waiting"] == plain + 1)
    #expect(elements.classes["failed"] == marks.count { $0.route == .stolen } + 1)
    #expect(
      elements.classes["running", default: 0] == marks.count { $0.route == .slot } + 1
        + workers.flatMap(\.spans).count { $0.phase == .running }
    )
    #expect(!marks.isEmpty)
    var silent = run
    for index in silent.events.indices { silent.events[index].worker = nil }
    #expect(WorkersSVG.text(silent) == nil)
  }

  @Test
  func `what is too long for one line over the rows goes on in the next`() throws {
    let sample = SampleRun.random(4_001, limit: 50, seed: .max)
    let run = sample.run(mechanism: "specimen-check-then-act-and-forget")
    let text = RunSVG.text(run, run.summary)
    let lines = text.matches(of: /<text class="([hs])" x="16" y="(\d+)">([^<]*)</)
    #expect(lines.count { $0.output.1 == "h" } == 2)
    #expect(lines.allSatisfy { $0.output.3.count <= ($0.output.1 == "h" ? 88 : 112) })
    let heights = lines.compactMap { Int($0.output.2) }
    #expect(zip(heights, heights.dropFirst()).allSatisfy { $0 + 20 <= $1 }, "\(heights)")
    let axis = try #require(text.firstMatch(of: /<text class="t" x="92" y="(\d+)"/)?.output.1)
    #expect(try #require(heights.last) + 17 <= #require(Int(axis)))
  }

  @Test
  func `a page asks for nothing from elsewhere and names every task`() {
    let html = RunPage.html(Self.run, Self.run.summary)
    #expect(!html.contains("http://") && !html.contains("https://") && !html.contains("src=\""))
    #expect(html.contains("<h1>40 tasks through &lt;gcd &amp; &quot;co&quot;&gt;, limit 3</h1>"))
    for number in 1...40 {
      #expect(html.contains("<th scope=\"row\">\(Self.run.label(of: TaskID(number)))</th>"))
    }
  }

  @Test
  func `what the script reads is the log's own data, and cannot end the script`() throws {
    let html = RunPage.html(Self.run, Self.run.summary)
    let opening = "<script type=\"application/json\" id=\"data\">"
    let start = try #require(html.range(of: opening)).upperBound
    let end = try #require(html.range(of: "</script>", range: start..<html.endIndex)).lowerBound
    let data = try #require(
      JSONSerialization.jsonObject(with: Data(html[start..<end].utf8)) as? [String: Any]
    )
    let tasks = try #require(data["tasks"] as? [[String: Any]])
    #expect(tasks.count == 40)
    let timeline = Timeline(events: Self.run.events, facts: Self.run.facts)
    for (task, lane) in zip(tasks, timeline.tasks) {
      #expect(task["n"] as? String == Self.run.label(of: lane.life.task))
      #expect((task["s"] as? [Int])?.count == lane.spans.count * 3)
    }
    #expect(data["end"] as? Int64 == timeline.end)
  }

  @Test
  func `two files stand beside each other where there is room, else one below the other`() {
    let one = ["a", "b", "c"]
    let other = ["a", "x", "y", "c"]
    let wide = SideBySide.text(("yours", one), ("solution", other), TextFormat(width: 23))
    #expect(
      wide == """
        yours      │ solution
        a            a
        b          │ x
                   │ y
        c            c

        """
    )
    let long = String(repeating: "z", count: 20)
    #expect(
      SideBySide.text(("yours", one), ("solution", ["a", long]), TextFormat(width: 23)) == """
        - yours
        + solution

          a
        - b
        - c
        + \(long)

        """
    )
  }

  static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(.enabled(if: browser != nil, "no Chromium on this machine"))
  func `a browser opens the page without an error and the script draws`() async throws {
    let run = SampleRun.random(1_500, limit: 4, seed: 2).run()
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "run.html")
    // The page tells of the first error and of what was drawn, where the dump shows it.
    let probe = """
      <script>
      window.addEventListener('load', () => requestAnimationFrame(() => {
        const chart = document.getElementById('chart');
        const pixels = chart.getContext('2d').getImageData(0, 0, chart.width, chart.height).data;
        let inked = 0;
        for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) inked++;
        document.body.dataset.inked = inked;
        document.getElementById('scroller').dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}));
        document.body.dataset.chosen = document.getElementById('detail').textContent;
      }));
      </script>
      </body>
      """
    let trap = "<body><script>window.onerror = e => { document.body.dataset.error = e; };</script>"
    let html = RunPage.html(run, run.summary)
      .replacing("</body>", with: probe).replacing("<body>", with: trap)
    try html.write(to: page, atomically: true, encoding: .utf8)

    let browser = BuiltProgram(path: try #require(Self.browser))
    let arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
      "--user-data-dir=\(folder.path)/profile", "--dump-dom", "file://\(page.path)",
    ]
    let environment = ProcessInfo.processInfo.environment
    let dump = try await browser.run(arguments, environment: environment).standardOutput

    let body = try #require(dump.firstMatch(of: /<body[^>]*>/)).output
    #expect(!body.contains("data-error"))
    let inked = try #require(body.firstMatch(of: /data-inked="(\d+)"/)?.output.1)
    #expect((Int(inked) ?? 0) > 5_000)
    #expect(body.contains("data-chosen=\"t1500: "))
    #expect(dump.contains("<th scope=\"row\">t1500</th>"))
  }

  @Test(.enabled(if: browser != nil, "no Chromium on this machine"), arguments: [390, 1_280])
  func `a browser shows a comparison's table and its pictures, and no page wider than the window`(
    width: Int
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let runs = [3, 4].map { SampleRun.random(200, limit: $0, seed: 2).run() }
    let page = folder.appending(path: "comparison.html")
    let html = ComparisonPage.html(runs)
    let frame = """
      <!doctype html><body><iframe style="border: 0" width="\(width)" height="800"></iframe><script>
      const frame = document.querySelector('iframe');
      frame.onload = () => {
        const page = frame.contentDocument;
        const images = [...page.querySelectorAll('canvas')].filter(canvas => canvas.width > 100
          && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v)).length;
        document.body.dataset.told = `${images} ${page.querySelectorAll('tbody tr').length} `
          + (page.documentElement.scrollWidth <= \(width));
      };
      frame.srcdoc = \(String(decoding: try JSONEncoder().encode(html), as: UTF8.self));
      </script></body>
      """
    try frame.write(to: page, atomically: true, encoding: .utf8)
    let browser = BuiltProgram(path: try #require(Self.browser))
    let arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
      "--user-data-dir=\(folder.path)/profile", "--dump-dom", "file://\(page.path)",
    ]
    let environment = ProcessInfo.processInfo.environment
    let dump = try await browser.run(arguments, environment: environment).standardOutput
    #expect(dump.contains("data-told=\"2 2 true\""), "\(dump.prefix(200))")
  }

  /// A schedule of two tasks that both take the one permit.
  private func schedulePage(code: String? = nil) async throws -> String {
    let mechanism = try #require(Catalogue.entry("specimen-check-then-act"))
    var scenario = ExplorationScenario(mechanism)
    scenario.inside = false
    var plan = ExplorationPlan()
    plan.withPlaces = true
    let report = try await ExplorationPlace.here.explore(
      scenario,
      plan,
      ExplorationControl()
    )
    var story = try #require(report.found?.minimum)
    if let code {
      story.code = try JSONDecoder().decode(CodeUnderStudy.self, from: Data(code.utf8))
    }
    return SchedulePage.html(story, of: scenario)
  }

  @Test
  func
    `the page of a schedule asks for nothing from elsewhere, and its data cannot end the script`()
    async throws
  {
    let html = try await schedulePage(
      code: #"{"files": {"A.swift": ["let a = 1 < 2 </script>"]}}"#
    )
    #expect(!html.contains("http://") && !html.contains("https://") && !html.contains("src=\""))
    #expect(html.components(separatedBy: "</script>").count == 3)
    #expect(html.contains("let a = 1 &lt; 2 &lt;/script&gt;"))
  }

  @Test(
    .enabled(if: browser != nil, "no Chromium on this machine"),
    arguments: [390, 1_280],
    ["light", "dark"]
  )
  func `a browser goes through a schedule and its code by keys and slider`(
    _ width: Int,
    _ scheme: String
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "game-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let probe = """
      <script>
      const press = key => document.dispatchEvent(new KeyboardEvent('keydown', {key}));
      const body = document.body.dataset, state = document.getElementById('state');
      body.opened = body.at;
      press('Home'); press('ArrowRight'); press('ArrowRight'); press('ArrowLeft');
      body.keys = body.at;
      const slider = document.getElementById('at');
      slider.value = 5; slider.dispatchEvent(new Event('input'));
      body.slid = body.at; body.state = state.textContent;
      body.now = document.querySelectorAll('.now').length;
      const codes = [...document.querySelectorAll('.code')], stands = document.querySelectorAll('.stand');
      const lit = () => codes.map(code => code.querySelector('.lit')).map(line => line?.textContent.trim() || '');
      const told = [];
      for (let at = 0; at <= Number(slider.max); at++) {
        slider.value = at; slider.dispatchEvent(new Event('input'));
        told.push(codes.map((code, task) => code.hidden ? stands[task].textContent : lit()[task]));
        codes.forEach((code, task) => {
          const line = code.querySelector('.lit');
          if (code.hidden) return;
          const inside = line.offsetTop >= code.scrollTop
            && line.offsetTop < code.scrollTop + code.clientHeight;
          const isNamed = stands[task].textContent.endsWith(':' + line.textContent.trim().split(' ')[0]);
          if (!inside || !isNamed || code.querySelectorAll('.lit').length !== 1) body.error = 'line ' + at;
        });
      }
      body.told = told.map(lines => lines.join('|')).join('§').replace(/[<>]/g, '');
      const columns = [...document.querySelectorAll('#columns section')].map(s => s.getBoundingClientRect());
      body.beside = columns[0].top === columns[1].top;
      body.paper = getComputedStyle(document.body).backgroundColor;
      body.width = window.innerWidth;
      press('End'); body.end = body.at; press('Home'); body.home = body.at;
      body.wide = document.documentElement.scrollWidth <= window.innerWidth;
      </script>
      </body>
      """
    let trap = "<body><script>window.onerror = e => { document.body.dataset.error = e; };</script>"
    let html = try await schedulePage()
      .replacing("</body>", with: probe).replacing("<body>", with: trap)
    // In a frame, because a window cannot be as narrow as a phone.
    let frame = """
      <!doctype html>
      <body><script>
      const frame = document.createElement('iframe');
      frame.style = 'border:0;height:800px;width:\(width)px';
      frame.onload = () => Object.assign(document.body.dataset, frame.contentDocument.body.dataset);
      frame.srcdoc = \(String(decoding: try JSONEncoder().encode(html), as: UTF8.self));
      document.body.append(frame);
      </script></body>
      """
    let page = folder.appending(path: "game.html")
    try frame.write(to: page, atomically: true, encoding: .utf8)
    let browser = BuiltProgram(path: try #require(Self.browser))
    let dump = try await browser.run(
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
        "--user-data-dir=\(folder.path)/profile",
        "--blink-settings=preferredColorScheme=\(scheme == "dark" ? 0 : 1)", "--dump-dom",
        "file://\(page.path)",
      ],
      environment: ProcessInfo.processInfo.environment
    ).standardOutput
    let body = String(try #require(dump.firstMatch(of: /<body[^>]*>/)).output)
    #expect(!body.contains("data-error"), "\(body)")
    #expect(body.contains("data-opened=\"5\""), "at what breaks: \(body)")
    #expect(body.contains("data-keys=\"1\"") && body.contains("data-slid=\"5\""))
    #expect(body.contains("running 2 of 1") && body.contains("✗ "))
    #expect(body.contains("data-now=\"1\"") && body.contains("data-home=\"0\""))
    #expect(body.contains("data-wide=\"true\""))
    #expect(body.contains("data-width=\"\(width)\""))
    #expect(
      body.contains("data-beside=\"\(width > 600)\""),
      "columns side by side, or one below the other"
    )
    let paper = scheme == "dark" ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)"
    #expect(body.contains("data-paper=\"\(paper)\""))
    let told = try #require(body.firstMatch(of: /data-told="([^"]*)"/)).output.1
    #expect(told.hasPrefix("has not begun|has not begun§"))
    #expect(told.contains("permits.inUse += 1"), "the line of the defect is lit up: \(told)")
  }
}
