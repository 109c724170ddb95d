/// What the stamps of many visits say together.
package struct VisitStatistics: Sendable {
  package let visits: [StampedVisit]

  package init(_ visits: [StampedVisit]) { self.visits = visits }

  package var waits: [Int64] {
    visits.compactMap { visit in visit.admission.map { $0 - visit.arrival } }
  }

  package var services: [Int64] {
    visits.compactMap { visit in
      guard let admission = visit.admission, let departure = visit.departure else { return nil }
      return departure - admission
    }
  }

  package var responses: [Int64] {
    visits.compactMap { visit in visit.departure.map { $0 - visit.arrival } }
  }

  package var firstArrival: Int64? { visits.map(\.arrival).min() }
  package var lastDeparture: Int64? { visits.compactMap(\.departure).max() }

  /// From the first arrival to the last departure.
  package var makespan: Int64? {
    guard let firstArrival, let lastDeparture else { return nil }
    return lastDeparture - firstArrival
  }

  /// How long permits lay idle while a task waited.
  ///
  /// With n permits, the k-th admission needs the (k−n)-th departure; the hand-off is the time from
  /// that departure to that admission, counted where the admitted task had already arrived.
  package func handOffs(limit: Int) -> [Int64] {
    let admitted = visits.filter { $0.admission != nil }
      .sorted { ($0.admission ?? 0) < ($1.admission ?? 0) }
    let departures = visits.compactMap(\.departure).sorted()
    return admitted.indices.dropFirst(limit).compactMap { index in
      guard index - limit < departures.count, let admission = admitted[index].admission
      else { return nil }
      let departure = departures[index - limit]
      return admitted[index].arrival < departure && departure <= admission
        ? admission - departure : nil
    }
  }

  /// The visits before which one that arrived clearly later was admitted.
  ///
  /// Clearly: by more than `margin` nanoseconds, because an arrival is stamped a little before the
  /// limiter is entered.
  package func overtaken(margin: Int64 = 1_000) -> [StampedVisit] {
    let byArrival = visits.filter { $0.admission != nil }.sorted { $0.arrival < $1.arrival }
    // earliest[i]: the earliest admission among the visits from i on.
    var earliest = [Int64](repeating: .max, count: byArrival.count + 1)
    for index in byArrival.indices.reversed() {
      earliest[index] = min(earliest[index + 1], byArrival[index].admission ?? .max)
    }
    var later = 0
    return byArrival.filter { visit in
      while later < byArrival.count, byArrival[later].arrival <= visit.arrival + margin {
        later += 1
      }
      return earliest[later] < visit.admission ?? .min
    }
  }
}
