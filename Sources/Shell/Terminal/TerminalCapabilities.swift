import Glibc

/// What may be sent to the terminal, or to whatever stands in its place.
///
/// A pure function of the environment, the options of the command line and what the system says
/// about the three standard streams, so that every case can be tested without a terminal.
package struct TerminalCapabilities: Sendable, Equatable {
  /// What the system says about the standard streams.
  package struct Readings: Sendable, Equatable {
    package var inputIsTerminal: Bool
    package var outputIsTerminal: Bool
    package var errorIsTerminal: Bool
    /// Size of the window; nil when there is none or it does not say.
    package var size: TerminalSize?

    package init(
      inputIsTerminal: Bool,
      outputIsTerminal: Bool,
      errorIsTerminal: Bool,
      size: TerminalSize?
    ) {
      self.inputIsTerminal = inputIsTerminal
      self.outputIsTerminal = outputIsTerminal
      self.errorIsTerminal = errorIsTerminal
      self.size = size
    }

    /// Asks the system now.
    package static func current() -> Readings {
      Readings(
        inputIsTerminal: isatty(STDIN_FILENO) == 1,
        outputIsTerminal: isatty(STDOUT_FILENO) == 1,
        errorIsTerminal: isatty(STDERR_FILENO) == 1,
        size: TerminalSize.current(of: STDOUT_FILENO)
      )
    }
  }

  /// What the command line asked for; it wins over the environment.
  package struct Options: Sendable, Equatable {
    package var ascii: Bool
    package var noColor: Bool
    package var width: Int?

    package init(ascii: Bool = false, noColor: Bool = false, width: Int? = nil) {
      self.ascii = ascii
      self.noColor = noColor
      self.width = width
    }
  }

  package var inputIsTerminal: Bool
  package var outputIsTerminal: Bool
  package var errorIsTerminal: Bool
  /// In cells; 80 by 24 where nothing says otherwise.
  package var size: TerminalSize
  /// Colour on standard output.
  ///
  /// Never the only carrier of meaning.
  package var color: Bool
  /// Colour on standard error, which may be a terminal when standard output is not.
  package var errorColor: Bool
  /// Whether glyphs beyond ASCII can be shown.
  package var unicode: Bool
  /// Whether the cursor can be moved: without it there is no live view and no redrawing.
  package var movesCursor: Bool

  /// Lines are edited, and a prompt shown, only when both ends are a person's.
  package var isInteractive: Bool { inputIsTerminal && outputIsTerminal }

  package static func current(
    environment: [String: String],
    options: Options = Options()
  ) -> TerminalCapabilities {
    TerminalCapabilities(environment: environment, options: options, readings: .current())
  }

  package init(environment: [String: String], options: Options, readings: Readings) {
    inputIsTerminal = readings.inputIsTerminal
    outputIsTerminal = readings.outputIsTerminal
    errorIsTerminal = readings.errorIsTerminal

    let terminal = environment["TERM"] ?? ""
    let dumb = terminal.isEmpty || terminal == "dumb"
    // no-color.org: present and not empty, whatever its value.
    let wanted = !options.noColor && (environment["NO_COLOR"] ?? "").isEmpty && !dumb
    color = wanted && readings.outputIsTerminal
    errorColor = wanted && readings.errorIsTerminal
    movesCursor = readings.outputIsTerminal && !dumb

    unicode = !options.ascii && Self.localeIsUTF8(environment)

    // Shells keep COLUMNS to themselves: where it is in the environment, someone put it there to
    // decide, as POSIX has it.
    let (columns, lines) = (Self.size(environment["COLUMNS"]), Self.size(environment["LINES"]))
    size = TerminalSize(
      columns: options.width ?? columns ?? readings.size?.columns ?? 80,
      rows: lines ?? readings.size?.rows ?? 24
    )
  }

  /// A number of columns or lines; nil for what is none, and no more than anybody can look at.
  private static func size(_ text: String?) -> Int? {
    text.flatMap { Int($0) }.flatMap { $0 > 0 ? min($0, most) : nil }
  }

  /// The most columns and lines that anything is drawn with.
  package static let most = 10_000

  /// The first of the three that is set and not empty decides, as in the C library.
  private static func localeIsUTF8(_ environment: [String: String]) -> Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      guard let value = environment[name], !value.isEmpty else { continue }
      let spelled = value.lowercased()
      return spelled.contains("utf-8") || spelled.contains("utf8")
    }
    return false
  }
}

/// The size of a window in cells.
package struct TerminalSize: Sendable, Equatable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// What the window behind `fileDescriptor` says; nil when it is no window or says nothing.
  package static func current(of fileDescriptor: Int32) -> TerminalSize? {
    var window = winsize()
    guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else {
      return nil
    }
    return TerminalSize(
      columns: Int(window.ws_col),
      rows: window.ws_row > 0 ? Int(window.ws_row) : 24
    )
  }
}
