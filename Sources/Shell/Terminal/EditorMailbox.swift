import Synchronization

/// What other threads want of the editor's thread.
///
/// Everything in it is a state to be reached rather than a list of events: ten changed prompts
/// before the thread looks are one.
final class EditorMailbox: Sendable {
  /// What to do with the line being edited.
  struct Orders {
    var prompt: String?
    var notices: [String] = []
    var interrupted = false
    var resized = false
    var resumed = false
    var closed = false

    /// Whether what is on the screen has to be drawn anew.
    var changeTheScreen: Bool { prompt != nil || !notices.isEmpty || resized || resumed }
  }

  enum Work {
    case read
    case close
  }

  private struct Reading {
    var id: Int
    var continuation: CheckedContinuation<LineEditor.Outcome, Never>
  }

  private struct State {
    var nextID = 0
    var reading: Reading?
    /// The thread has not begun with `reading` yet.
    var unread = false
    var orders = Orders()
    var closed = false
    var closers: [CheckedContinuation<Void, Never>] = []
    var gone = false
  }

  private let state = Mutex(State())
  private let pipe = WakePipe()

  /// Readable when there may be something new.
  var wakeDescriptor: Int32 { pipe.readEnd }

  // MARK: Other threads

  func newRead() -> Int {
    state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
  }

  func ask(
    _ id: Int,
    prompt: String,
    _ continuation: CheckedContinuation<LineEditor.Outcome, Never>
  ) {
    let accepted = state.withLock { state in
      guard !state.closed else { return false }
      precondition(
        state.reading == nil,
        "LineEditor.readLine was called while another call is reading a line. "
          + "Wait for the first to return."
      )
      state.reading = Reading(id: id, continuation: continuation)
      state.unread = true
      state.orders.prompt = prompt
      state.orders.interrupted = false
      return true
    }
    accepted ? pipe.wake() : continuation.resume(returning: .endOfInput)
  }

  func interrupt(_ id: Int) {
    order { if $0.reading?.id == id { $0.orders.interrupted = true } }
  }

  func setPrompt(_ prompt: String) {
    order { $0.orders.prompt = prompt }
  }

  func print(_ text: String) {
    order { $0.orders.notices.append(text) }
  }

  func receive(_ event: Signals.Event) {
    order { state in
      switch event {
      case .interrupt: state.orders.interrupted = true
      case .resize: state.orders.resized = true
      case .resumed: state.orders.resumed = true
      case .stopping: break
      }
    }
  }

  func close(_ continuation: CheckedContinuation<Void, Never>?) {
    let alreadyGone = state.withLock { state in
      state.closed = true
      guard !state.gone else { return true }
      if let continuation { state.closers.append(continuation) }
      return false
    }
    alreadyGone ? continuation?.resume() : pipe.wake()
  }

  private func order(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    pipe.wake()
  }

  // MARK: The editor's thread

  /// Waits until there is a line to read, or no more lines will be.
  func nextWork() -> Work {
    while true {
      let work = state.withLock { state -> Work? in
        if state.unread {
          state.unread = false
          return .read
        }
        return state.closed && state.reading == nil ? .close : nil
      }
      if let work { return work }
      _ = pipe.wait()
    }
  }

  /// What has been ordered since the last call.
  func takeOrders() -> Orders {
    _ = pipe.drain()
    return state.withLock { state in
      var orders = state.orders
      orders.closed = state.closed
      state.orders = Orders()
      return orders
    }
  }

  func finish(with outcome: LineEditor.Outcome) {
    let continuation = state.withLock { state in
      defer { state.reading = nil }
      return state.reading?.continuation
    }
    continuation?.resume(returning: outcome)
  }

  /// The thread is about to end.
  func leave() {
    let closers = state.withLock { state in
      state.gone = true
      return state.closers
    }
    for closer in closers { closer.resume() }
  }
}
