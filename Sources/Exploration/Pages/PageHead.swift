internal import Basics

/// What all pages for the browser begin with: nothing may come from a network, and no file but this one.
package enum PageHead {
  /// The colours that all pages and pictures share, by name.
  package static var colours: String { embedded(PackageResources.Colours_css) }

  /// From the document's first line to its body.
  ///
  /// - Parameters:
  ///   - title: in plain text.
  ///   - styles: sheets, after the colours that all pages share.
  ///   - hasScripts: whether scripts of the page's own may run.
  /// - Returns: all that comes before the body.
  package static func html(title: String, styles: String, hasScripts: Bool) -> String {
    let scripts = hasScripts ? "script-src 'unsafe-inline'; " : ""
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; \(scripts)img-src data:">
      <link rel="icon" href="data:,">
      <title>\(XMLText.escaped(title))</title>
      <style>
      \(colours)
      \(styles)
      </style>
      </head>
      """
  }
}
