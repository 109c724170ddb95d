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
  /// that departure to that admission, counted where the admitted task had already arrived. Without a
  /// limit it is the time from each departure to the next admission: what the harness itself takes.
  package func handOffs(limit: Int?) -> [Int64] {
    guard let limit else {
      let departures = visits.compactMap(\.departure).sorted()
      let admissions = visits.compactMap(\.admission).sorted()
      var next = 0
      return departures.compactMap { departure in
        while next < admissions.count, admissions[next] < departure { next += 1 }
        return next < admissions.count ? admissions[next] - departure : nil
      }
    }
    return grants(limit: limit).compactMap { departure, admission in
      departure <= admission ? admission - departure : nil
    }
  }

  /// The share of the visits, in percent, that had to wait for another's departure; nil where there are
  /// no visits.
  package func waitedPercent(limit: Int) -> Double? {
    guard !visits.isEmpty else { return nil }
    let left = visits.count { $0.admission == nil && $0.leave != nil }
    return Double(grants(limit: limit).count + left) / Double(visits.count) * 100
  }

  /// The admissions that needed a departure which had not happened when the task arrived, with it.
  private func grants(limit: Int) -> [(departure: Int64, admission: Int64)] {
    let admitted = visits.compactMap { visit in visit.admission.map { ($0, visit.arrival) } }
      .sorted { $0.0 < $1.0 }
    let departures = visits.compactMap(\.departure).sorted()
    return admitted.indices.dropFirst(limit).compactMap { index in
      guard index - limit < departures.count else { return nil }
      let departure = departures[index - limit]
      return admitted[index].1 < departure ? (departure, admitted[index].0) : nil
    }
  }

  /// From `end` to the first departure after which no more were present than may run; 0 where no more
  /// were present at `end`, nil if that never came.
  package func recovery(after end: Int64, limit: Int) -> Int64? {
    var present = visits.count { $0.arrival <= end && ($0.departure ?? .max) > end }
    if present <= limit { return 0 }
    let arrivals = visits.map(\.arrival).filter { $0 > end }.sorted()
    var come = 0
    for departure in visits.compactMap(\.departure).filter({ $0 > end }).sorted() {
      while come < arrivals.count, arrivals[come] < departure { come += 1 }
      present -= 1
      if present + come <= limit { return departure - end }
    }
    return nil
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

  /// By how many visits that arrived more than `margin` nanoseconds later each was overtaken.
  ///
  /// - Complexity: O(n log n).
  package func timesOvertaken(margin: Int64 = 1_000) -> [Int64] {
    let byArrival = visits.filter { $0.admission != nil }.sorted { $0.arrival < $1.arrival }
    let byAdmission = byArrival.indices.sorted {
      (byArrival[$0].admission ?? 0) < (byArrival[$1].admission ?? 0)
    }
    var rank = [Int](repeating: 0, count: byArrival.count)
    for (place, index) in byAdmission.enumerated() { rank[index] = place }
    // A tree of counts over the order of admission (Fenwick, 1994), filled from the latest arrival on.
    var tree = [Int64](repeating: 0, count: byArrival.count + 1)
    var later = byArrival.count
    return byArrival.indices.reversed().map { index in
      while later > 0, byArrival[later - 1].arrival > byArrival[index].arrival + margin {
        later -= 1
        var node = rank[later] + 1
        while node < tree.count {
          tree[node] += 1
          node += node & -node
        }
      }
      var (node, before) = (rank[index], Int64(0))
      while node > 0 {
        before += tree[node]
        node -= node & -node
      }
      return before
    }
  }
}
