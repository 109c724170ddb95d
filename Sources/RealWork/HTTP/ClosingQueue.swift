internal import FlyingSocks
internal import Glibc

/// FlyingFox's queue of socket events, which gives back all descriptors that it took.
///
/// Its own (0.27.1) has an event descriptor by which it is woken when the server stops, and forgets to close
/// it: one for each server. It shows it to nobody, so it is read from the structure itself.
struct ClosingQueue: EventQueue {
  private var queue: ePoll
  private var wake: Int32?

  init() { queue = ePoll(maxEvents: 20) }

  mutating func open() throws {
    try queue.open()
    let wake = Mirror(reflecting: queue).children.first { $0.label == "canary" }?.value
    self.wake = (wake as? Socket.FileDescriptor)?.rawValue
  }

  mutating func stop() throws { try queue.stop() }

  /// Called when nobody waits for events any more.
  mutating func close() throws {
    if let wake, wake >= 0 { Glibc.close(wake) }
    wake = nil
    try queue.close()
  }

  mutating func addEvents(_ events: Socket.Events, for socket: Socket.FileDescriptor) throws {
    try queue.addEvents(events, for: socket)
  }

  mutating func removeEvents(_ events: Socket.Events, for socket: Socket.FileDescriptor) throws {
    try queue.removeEvents(events, for: socket)
  }

  func getNotifications() throws -> [EventNotification] { try queue.getNotifications() }
}
