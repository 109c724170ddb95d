internal import Dispatch
internal import Foundation

/// What can be told of the thread that asks.
enum ThisThread {
  /// The name of the queue for which Dispatch runs it, or what Dispatch says of a thread that is not its own.
  static var queue: String {
    typealias Label = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
    guard let symbol = dlsym(nil, "dispatch_queue_get_label") else { return "" }
    return unsafeBitCast(symbol, to: Label.self)(nil).map { String(cString: $0) } ?? ""
  }

  /// Whether it is one of Swift's pool, or runs a task on the executor that stands for the pool in a test.
  static func isOfPool(or executor: UnownedTaskExecutor?) -> Bool {
    if queue.hasPrefix("Swift global") { return true }
    guard let executor else { return false }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor == executor }
  }
}
