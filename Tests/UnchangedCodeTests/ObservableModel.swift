import Observation

// In a file of its own: `Exploration` has a type that is called as the library is.

/// A model as views watch it.
@Observable final class ObservableModel: @unchecked Sendable {
  // Not safe: what explorations are to find.
  var count = 0
}
