import Observation

// In a file that does not import `Exploration`: inside of this package that has a type called `Observation`, too, and the
// macro could not find the library.

/// A model as views watch it.
@Observable final class ObservableModel: @unchecked Sendable {
  // Not safe: what explorations are to find.
  var count = 0
}
