import Experiments
import Foundation
import FoundationXML
import Rendering
import TestSupport
import Testing
import Tracing
import Workloads

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
}
