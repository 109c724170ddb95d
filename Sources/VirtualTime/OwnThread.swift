/// Runs `body` on a thread made for it and awaits what it returns.
///
/// For what takes a thread for long, as driving a scheduler or exploring does: the threads that serve
/// `async` functions are few and must not be kept.
///
/// - Throws: What `body` throws.
package func onOwnThread<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withCheckedContinuation { continuation in
    OSThread {
      do throws(Failure) {
        continuation.resume(returning: Result<Value, Failure>.success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }.detach()
  }
  return try result.get()
}
