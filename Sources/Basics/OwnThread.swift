/// Runs `body` on a thread made for it and awaits what it returns.
///
/// For what takes a thread for long: driving a scheduler, exploring, waiting for a process, keeping a
/// harness going while the code under test blocks the pool. The threads that serve `async` functions
/// are few and must not be kept.
///
/// - Throws: What `body` throws.
package func onOwnThread<Value: Sendable, Failure: Error>(
  _ name: String? = nil,
  startsTasks: Bool = false,
  _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withCheckedContinuation { continuation in
    OSThread(name, startsTasks: startsTasks) {
      do throws(Failure) {
        continuation.resume(returning: Result<Value, Failure>.success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }.detach()
  }
  return try result.get()
}
