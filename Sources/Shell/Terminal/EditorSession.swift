internal import Basics
import CLibedit
import Foundation
import Glibc

/// The editor's thread: everything that touches libedit.
///
/// libedit asks for the next character through `nextCharacter`, and that is where the thread waits:
/// for a key or for the mailbox. Orders are carried out there, between two keys, when libedit's
/// picture of the screen and the screen agree.
final class EditorSession {
  private let editor: OpaquePointer
  private let entries: OpaquePointer
  private let streams: [UnsafeMutablePointer<FILE>]
  private let output: UnsafeMutablePointer<FILE>
  private let locale: locale_t?
  private let localeBefore: locale_t?
  private let mailbox: EditorMailbox
  private let completer: Completer
  private let historyFile: HistoryFile?
  private let movesCursor: Bool

  private var history = History()
  /// Said once, then the history is kept for this session only.
  private var historyIsKept = true
  private var prompt = ""
  private var promptForLibedit: UnsafeMutableBufferPointer<wchar_t>
  private var size = TerminalSize(columns: 80, rows: 24)
  private var assembler = UTF8Assembler()
  /// Characters that come before those of the terminal: the rest of a paste.
  private var pasted: ArraySlice<Unicode.Scalar> = []
  /// How often Ctrl-C had been pressed when the last line was read.
  private var interrupts = 0
  /// Whether the terminal is asked to mark pastes.
  private var marksPastes = false
  /// Why the line being read is abandoned, once it is.
  private var ending: LineEditor.Outcome?

  init(
    program: String,
    history file: HistoryFile?,
    historyLimit: Int,
    completer: @escaping Completer,
    mailbox: EditorMailbox
  ) {
    self.mailbox = mailbox
    self.completer = completer
    historyFile = file
    let terminal = ProcessInfo.processInfo.environment["TERM"] ?? "dumb"
    movesCursor = terminal != "dumb" && !terminal.isEmpty
    promptForLibedit = .allocate(capacity: 0)

    locale = Self.localeWithUTF8()
    localeBefore = locale.flatMap { uselocale($0) }
    TerminalMode.shared.enterQuiet(STDIN_FILENO)
    // Streams of our own: the process's stay free of libedit's buffering.
    guard let input = fdopen(dup(STDIN_FILENO), "r"), let output = fdopen(dup(STDOUT_FILENO), "w"),
      let errors = fdopen(dup(STDERR_FILENO), "w"),
      let editor = el_init(program, input, output, errors), let entries = history_winit()
    else {
      fatalError("the line editor cannot start: \(String(cString: strerror(errno)))")
    }
    streams = [input, output, errors]
    self.output = output
    self.editor = editor
    self.entries = entries
    // Not retained: libedit calls back only from calls that this session makes.
    cledit_set_client(editor, Unmanaged.passUnretained(self).toOpaque())
    setUpKeys()
    setUpHistory(limit: historyLimit)
  }

  /// Reads lines as they are asked for, until the editor is closed.
  func serve() {
    while case .read = mailbox.nextWork() {
      mailbox.finish(with: readLine())
    }
    for notice in mailbox.takeOrders().notices { show(notice) }
    TerminalMode.shared.leaveQuiet()
  }

  deinit {
    // `el_end` resets the terminal by itself, and by the way throws away what is typed ahead for the
    // shell we return to. It gets nothing to do that with.
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    if nothing >= 0 {
      dup2(nothing, fileno(streams[0]))
      close(nothing)
    }
    el_end(editor)
    history_wend(entries)
    for stream in streams { fclose(stream) }
    promptForLibedit.deallocate()
    if let locale {
      uselocale(localeBefore)
      freelocale(locale)
    }
  }

  // MARK: Setting up

  /// libedit measures and writes characters by the thread's locale.
  ///
  /// Where the environment names none with UTF-8 (a bare container), UTF-8 is what terminals send
  /// all the same.
  private static func localeWithUTF8() -> locale_t? {
    if let named = newlocale(Int32(LC_CTYPE_MASK), "", nil) {
      if String(cString: nl_langinfo_l(nl_item(CODESET), named)) == "UTF-8" {
        return named
      }
      freelocale(named)
    }
    return newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil)
  }

  private func setUpKeys() {
    cledit_set_prompt(editor, { editor in session(of: editor).promptForLibedit.baseAddress }, 1)
    cledit_set_reader(editor) { editor, character in session(of: editor).nextCharacter(character) }
    cledit_set_editor(editor, wide("emacs"))
    // Between lines too nothing is echoed: see `TerminalMode`.
    cledit_set_terminal(editor, wide("-x"), wide("-icanon"))
    cledit_set_terminal(editor, wide("-x"), wide("-echo"))
    // Within a line Ctrl-C is a key. As a signal it would come by another thread, and what is typed
    // after it could overtake it: an Enter would then run the line that was to be dropped.
    cledit_set_terminal(editor, wide("-d"), wide("-isig"))
    cledit_add_complete(editor) { editor, _ in session(of: editor).complete() }
    cledit_add_characters(
      editor,
      { editor, _ in session(of: editor).delete(after: false) },
      { editor, key in session(of: editor).delete(after: true, by: key) },
      { editor, _ in session(of: editor).move(after: false) },
      { editor, _ in session(of: editor).move(after: true) }
    )
    for (key, command) in [
      ("^W", "ed-delete-prev-word"),
      ("^H", "lab-delete-before"),
      ("^?", "lab-delete-before"),
      ("^D", "lab-delete-after"),
      ("\\e[3~", "lab-delete-after"),
      ("^B", "lab-left"),
      ("\\e[D", "lab-left"),
      ("\\eOD", "lab-left"),
      ("^F", "lab-right"),
      ("\\e[C", "lab-right"),
      ("\\eOC", "lab-right"),
      ("\\e[H", "ed-move-to-beg"),
      ("\\e[F", "ed-move-to-end"),
      ("\\e[1~", "ed-move-to-beg"),
      ("\\e[4~", "ed-move-to-end"),
      ("\\e[1;5C", "em-next-word"),
      ("\\e[1;5D", "ed-prev-word"),
    ] {
      cledit_bind(editor, wide(key), wide(command))
    }
    el_source(editor, nil)
    // After the person's own file, because `bind -v` in it starts from an empty map.
    for (key, command) in [("^I", "lab-complete"), ("^R", "em-inc-search-prev")] {
      cledit_bind(editor, wide(key), wide(command))
    }
    // Text pasted in vi's command mode would be commands, marked or not.
    guard movesCursor, let name = cledit_editor(editor), wcscmp(name, wide("emacs")) == 0 else {
      return
    }
    marksPastes = true
    cledit_add_paste(editor) { editor, _ in session(of: editor).paste() }
    cledit_bind(editor, wide("\\e[200~"), wide("lab-paste"))
  }

  private func setUpHistory(limit: Int) {
    cledit_history_size(entries, Int32(clamping: limit))
    cledit_use_history(editor, entries)
    guard let historyFile else { return }
    do {
      let content = try historyFile.load()
      for entry in content.entries { remember(entry) }
      if content.damaged > 0 {
        mailbox.print(
          "warning: damaged lines in the history \(historyFile.path) left out: \(content.damaged)"
        )
      }
    } catch {
      stopKeeping(error)
    }
  }

  private func remember(_ entry: String) {
    guard history.remembers(entry) else { return }
    cledit_history_enter(entries, wide(entry))
  }

  private func stopKeeping(_ trouble: HistoryFile.Trouble) {
    historyIsKept = false
    mailbox.print("warning: \(trouble.message)")
  }

  // MARK: Reading

  private func readLine() -> LineEditor.Outcome {
    let mailbox = mailbox
    let farewell = marksPastes ? Paste.askNoMore : ""
    let claim = Signals.shared.claim(farewell: farewell) { mailbox.receive($0) }
    defer { claim.release() }
    ending = nil
    size = TerminalSize.current(of: STDOUT_FILENO) ?? size
    // The lines of a paste follow each other, but not past a Ctrl-C, whatever it interrupted.
    if Signals.shared.interrupts != interrupts { pasted = [] }
    defer { interrupts = Signals.shared.interrupts }
    carryOutBetweenLines()
    if marksPastes { write(Paste.ask) }
    defer { if marksPastes { write(Paste.askNoMore) } }
    // Before the prompt shows, so that a user who waits for the prompt finds the keys working.
    cledit_prepare(editor, 1)

    var count: Int32 = 0
    let text = el_wgets(editor, &count)
    if let ending { return ending }
    guard let text, count > 0 else {
      write("\n")
      return .endOfInput
    }
    var line = string(UnsafeBufferPointer(start: text, count: Int(count)))
    if line.last == "\n" { line.removeLast() }
    keep(line)
    return .line(line)
  }

  private func keep(_ line: String) {
    guard history.remembers(line) else { return }
    cledit_history_enter(entries, wide(line))
    guard historyIsKept, let historyFile else { return }
    do {
      try historyFile.append(line)
    } catch {
      stopKeeping(error)
    }
  }

  /// libedit's next character: 1 with one, 0 at the end of input, -1 to give up the line.
  private func nextCharacter(_ character: UnsafeMutablePointer<wchar_t>?) -> Int32 {
    while ending == nil {
      carryOutOrders()
      if ending != nil { break }
      // What is typed during a paste comes after it, but a Ctrl-C among it must be seen at once.
      let typed = nextTyped(waiting: pasted.isEmpty)
      if let typed { pasted.append(typed) }
      if ending == nil, let next = pasted.popFirst() {
        character?.pointee = wchar_t(next.value)
        return 1
      }
    }
    return -1
  }

  /// The next character from the terminal.
  ///
  /// None if only part of one is there, if it was a key with another meaning, if there is
  /// something in the mailbox, or if told not to wait.
  private func nextTyped(waiting: Bool) -> Unicode.Scalar? {
    if let byte = TypedAhead.shared.take() { return take(byte) }
    var descriptors = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: mailbox.wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&descriptors, nfds_t(descriptors.count), waiting ? -1 : 0) > 0,
      descriptors[0].revents != 0
    else { return nil }
    // One at a time: what is typed ahead stays in the terminal, where the next reader finds it.
    var byte: UInt8 = 0
    switch read(STDIN_FILENO, &byte, 1) {
    case 1: return take(byte)
    case -1 where errno == EINTR || errno == EAGAIN: return nil
    default:
      ending = .endOfInput
      return nil
    }
  }

  /// What a byte from the terminal means; nil for part of a character, or a key with another meaning.
  private func take(_ byte: UInt8) -> Unicode.Scalar? {
    let keys = TerminalMode.shared.signalKeys
    switch byte {
    case 0: return assembler.feed(byte)
    case keys.interrupt: abandon(.interrupted)
    // To all of our process group, as the terminal itself would.
    case keys.suspend: kill(0, SIGTSTP)
    case keys.quit: kill(0, SIGQUIT)
    default: return assembler.feed(byte)
    }
    return nil
  }

  /// Gives up the line being edited, and goes on below it.
  private func abandon(_ ending: LineEditor.Outcome) {
    moveToEnd()
    write(ending == .interrupted ? "^C\n" : "\n")
    pasted = []
    self.ending = ending
  }

  // MARK: Orders

  private func carryOutBetweenLines() {
    let orders = mailbox.takeOrders()
    if let prompt = orders.prompt { use(prompt) }
    for notice in orders.notices { show(notice) }
    if orders.interrupted { ending = .interrupted }
    if orders.closed { ending = .endOfInput }
  }

  private func carryOutOrders() {
    let orders = mailbox.takeOrders()
    if orders.changeTheScreen {
      if orders.resized { size = TerminalSize.current(of: STDOUT_FILENO) ?? size }
      if orders.resumed {
        // The program that had the terminal left it in a mode of its own: out of ours and in again.
        cledit_prepare(editor, 0)
        cledit_prepare(editor, 1)
        if marksPastes { write(Paste.ask) }
      }
      if orders.resumed {
        write(movesCursor ? "\r\u{1B}[J" : "\n")
      } else {
        erase()
      }
      for notice in orders.notices { show(notice) }
      if let prompt = orders.prompt { use(prompt) }
      if orders.resized || orders.resumed { el_resize(editor) }
      cledit_refresh(editor)
    }
    if orders.interrupted || orders.closed {
      abandon(orders.interrupted ? .interrupted : .endOfInput)
    }
  }

  private func use(_ prompt: String) {
    self.prompt = prompt
    promptForLibedit.deallocate()
    let marked = Prompt.marked(prompt)
    promptForLibedit = .allocate(capacity: marked.count)
    _ = promptForLibedit.initialize(from: marked.map { wchar_t($0.value) })
  }

  private func show(_ notice: String) {
    write(notice.hasSuffix("\n") ? notice : notice + "\n")
  }

  // MARK: The screen

  private func write(_ text: String) {
    fflush(output)
    // A terminal that is gone shows up as the end of input.
    try? OutputWriter.standardOutput.write(text)
  }

  /// Where the cursor is, and where the line ends, counted from where the prompt begins.
  private func positions() -> (cursor: LineLayout.Position, end: LineLayout.Position) {
    var layout = LineLayout(columns: size.columns) { Int(wcwidth(wchar_t($0.value))) }
    layout.add(Prompt.visible(prompt))
    let (before, after) = halves
    layout.add(before.unicodeScalars)
    let atCursor = layout.position
    layout.add(after.unicodeScalars)
    return (atCursor, layout.position)
  }

  /// Takes prompt and line off the screen; the cursor is where they began.
  private func erase() {
    guard movesCursor else { return write("\n") }
    // A line longer than the window has scrolled: its beginning is out of reach.
    let rows = min(positions().cursor.row, size.rows - 1)
    write("\r" + (rows > 0 ? "\u{1B}[\(rows)A" : "") + "\u{1B}[J")
  }

  private func moveToEnd() {
    guard movesCursor else { return }
    let (cursor, end) = positions()
    let down = end.row > cursor.row ? "\u{1B}[\(end.row - cursor.row)B" : ""
    let right = end.column > 0 ? "\u{1B}[\(end.column)C" : ""
    write(down + "\r" + right)
  }

  // MARK: Pasting

  /// Called when the terminal says that a paste begins: takes all of it, to be read as if typed.
  private func paste() -> UInt8 {
    let end = Array(Paste.end.unicodeScalars)
    var taken: [Unicode.Scalar] = []
    var character: wchar_t = 0
    while !taken.suffix(end.count).elementsEqual(end) {
      guard nextCharacter(&character) == 1 else { return UInt8(CC_EOF) }
      if let scalar = Unicode.Scalar(UInt32(bitPattern: character)) { taken.append(scalar) }
    }
    pasted += Paste.typed(taken.dropLast(end.count))
    return UInt8(CC_NORM)
  }

  // MARK: Characters
  //
  // A character of libedit's is a code point. What a person sees as one may be several: a letter and
  // its accents, the parts of a joined emoji.

  /// The line up to the cursor and behind it.
  private var halves: (before: String, after: String) {
    guard let line = el_wline(editor)?.pointee, let start = line.buffer, let cursor = line.cursor,
      let end = line.lastchar
    else { return ("", "") }
    return (
      string(UnsafeBufferPointer(start: start, count: cursor - start)),
      string(UnsafeBufferPointer(start: cursor, count: end - cursor))
    )
  }

  /// How many code points the character before or after the cursor has; 0 if there is none.
  private func length(after: Bool) -> Int32 {
    let character = after ? halves.after.first : halves.before.last
    return Int32(character?.unicodeScalars.count ?? 0)
  }

  private func delete(after: Bool, by key: Int32 = 0) -> UInt8 {
    let length = length(after: after)
    guard length > 0 else {
      let isEnd = key == 4 && halves.before.isEmpty
      if isEnd { write("^D") }
      return UInt8(isEnd ? CC_EOF : CC_ERROR)
    }
    if after { el_cursor(editor, length) }
    el_deletestr(editor, length)
    return UInt8(CC_REFRESH)
  }

  private func move(after: Bool) -> UInt8 {
    let length = length(after: after)
    guard length > 0 else { return UInt8(CC_ERROR) }
    el_cursor(editor, after ? length : -length)
    return UInt8(CC_CURSOR)
  }

  // MARK: Completion

  private func complete() -> UInt8 {
    let (before, after) = halves
    let line = before + after
    let cursor = line.unicodeScalars.index(
      line.startIndex,
      offsetBy: before.unicodeScalars.count
    )
    let completion = completer(line, cursor)
    switch CompletionAction.decide(line: line, cursor: cursor, completion: completion) {
    case .nothing:
      return UInt8(CC_ERROR)
    case .replace(let range, let text):
      let replaced = line.unicodeScalars.distance(from: range.lowerBound, to: cursor)
      el_deletestr(editor, Int32(replaced))
      return el_winsertstr(editor, wide(text)) == 0 ? UInt8(CC_REFRESH) : UInt8(CC_ERROR)
    case .list(let candidates):
      moveToEnd()
      write("\n")
      for line in CandidateListing.lines(for: candidates, size: size) { write(line + "\n") }
      cledit_refresh(editor)
      return UInt8(CC_NORM)
    }
  }
}

/// The session that an editor belongs to, for the functions libedit calls back.
private func session(of editor: OpaquePointer?) -> EditorSession {
  guard let client = cledit_client(editor) else {
    fatalError("libedit called back for an editor that belongs to no session")
  }
  return Unmanaged<EditorSession>.fromOpaque(client).takeUnretainedValue()
}

/// A string as libedit takes it.
private func wide(_ text: String) -> [wchar_t] {
  text.unicodeScalars.map { wchar_t($0.value) } + [0]
}

/// A string as libedit gives it.
///
/// What it holds came through `UTF8Assembler` or from a string, so that every character is one;
/// should one not be, it is left out.
private func string(_ characters: UnsafeBufferPointer<wchar_t>) -> String {
  var scalars = String.UnicodeScalarView()
  scalars.append(contentsOf: characters.lazy.compactMap { Unicode.Scalar(UInt32(bitPattern: $0)) })
  return String(scalars)
}
