internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// An error of real work in a sentence, as the trace has it.
struct WorkFailure: Error, CustomStringConvertible {
  let description: String

  init(_ error: any Error) {
    description =
      switch error {
      case let error as WorkFailure: error.description
      // Their descriptions are for programs; what a person can read of them is elsewhere.
      case let error as URLError:
        "no answer came from the server: \(error.localizedDescription)"
      case let error as CocoaError: error.localizedDescription
      default: "\(error)"
      }
  }

  /// Does some work, and says in a sentence what it failed of.
  ///
  /// A cancellation stays what it is.
  static func telling<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch  where !(error is CancellationError) {
      throw WorkFailure(error)
    }
  }
}
