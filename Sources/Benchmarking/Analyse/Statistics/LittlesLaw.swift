/// Little's law (1961), L = λW, checked with two independent ways of counting.
///
/// L comes from integrating the number of tasks present over time, λ and W from counting tasks and
/// adding up how long each was there. A task lost, counted twice or timed wrongly shows as a gap.
package struct LittlesLaw: Hashable, Sendable {
  /// Time-integrated number of tasks present, divided by the time.
  package var meanPresent: Double
  /// Tasks a nanosecond.
  package var arrivalRate: Double
  /// Nanoseconds.
  package var meanResponse: Double

  package init(meanPresent: Double, arrivalRate: Double, meanResponse: Double) {
    self.meanPresent = meanPresent
    self.arrivalRate = arrivalRate
    self.meanResponse = meanResponse
  }

  /// How far L is from λW, relative to λW, in percent; nil where nothing was present.
  package var errorPercent: Double? {
    let product = arrivalRate * meanResponse
    return product > 0 ? abs(meanPresent - product) / product * 100 : nil
  }
}
