/// What the SVG and the HTML export share.
enum Markup {
  /// The colours of every state, light and dark, told apart by people who see red and green alike.
  static let colours = """
    :root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --faint-ink: #57606a;
      --grid: #e3e7eb; --waiting: #8c959f; --running: #0969da; --blocked: #b35900;
      --blocked-ground: #ffe3c2; --suspended: #1b7c83; --failed: #cf222e; --cancelled: #8250df }
    @media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3;
      --faint-ink: #9ba4ae; --grid: #252c35; --waiting: #7d8590; --running: #58a6ff;
      --blocked: #f0883e; --blocked-ground: #4a2c10; --suspended: #56d4dd; --failed: #ff7b72;
      --cancelled: #d2a8ff } }
    """
}
