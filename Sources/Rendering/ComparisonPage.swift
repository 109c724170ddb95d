internal import Basics
package import Experiments
internal import Foundation
internal import Pages

// A comparison as one HTML page that needs nothing else: the table, what differs in words, and a picture of
// each run.

/// A comparison as a page for the browser.
package enum ComparisonPage {
  /// The whole file.
  ///
  /// - Parameter runs: what was compared, in the order of the table.
  /// - Returns: an HTML document.
  package static func html(_ runs: [Run]) -> String {
    let title = "\(NumberText.count(runs.first?.plan.count ?? 0, "task")), \(names(runs))"
    let sentences = ComparisonTable.sentences(runs).map { "<p>\(XMLText.escaped($0))</p>" }
    let styles = """
      \(embedded(PackageResources.RunPage_css))
      figure { margin: 1.5rem 0; overflow-x: auto } figure img { max-width: 100%; height: auto }
      .scroll { overflow-x: auto }
      """
    return """
      \(PageHead.html(title: title, styles: styles, hasScripts: false))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>seed \(runs.first?.seed ?? 0)</p>
      </header>
      <main>
      <div class="scroll">
      \(table(runs))
      </div>
      \(sentences.joined(separator: "\n"))
      \(runs.map(picture).joined(separator: "\n"))
      </main>
      </body>
      </html>

      """
  }

  private static func names(_ runs: [Run]) -> String {
    "on " + ListText.some(runs.map(\.label))
  }

  private static func table(_ runs: [Run]) -> String {
    let (heads, rows) = ComparisonTable.cells(runs)
    let head = heads.map { "<th scope=\"col\">\(XMLText.escaped($0))</th>" }.joined()
    let body = rows.map { row in
      let cells = row.dropFirst().map { "<td>\(XMLText.escaped($0))</td>" }.joined()
      return "<tr><th scope=\"row\">\(XMLText.escaped(row[0]))</th>\(cells)</tr>"
    }
    return "<table><thead><tr>\(head)</tr></thead>\n<tbody>\n\(body.joined(separator: "\n"))\n"
      + "</tbody></table>"
  }

  /// A picture as an image of its own, so that the names inside it are no other's.
  private static func picture(of run: Run) -> String {
    let summary = run.summary
    let svg = Data(RunSVG.text(run, summary).utf8).base64EncodedString()
    let words = XMLText.escaped(Describe.run(run, summary))
    return """
      <figure>
      <img src="data:image/svg+xml;base64,\(svg)" alt="\(words)">
      <figcaption class="faint">\(XMLText.escaped("\(run.label), \(run.limitText)"))</figcaption>
      </figure>
      """
  }
}
