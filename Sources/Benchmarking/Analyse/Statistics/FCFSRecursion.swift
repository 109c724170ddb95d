internal import HeapModule

/// What a perfect limiter would have done with the same tasks.
///
/// Kiefer and Wolfowitz (1955): with c servers and first come, first served, a task starts when it has
/// arrived and the earliest of the servers is free. Fed with a run's own arrivals and its own measured
/// service times, this predicts every single wait; what a run shows beyond it is the limiter's and the
/// runtime's own cost. Theory in closed form needs the run to match its assumptions; this does not.
package enum FCFSRecursion {
  /// The waiting time of each task, in the unit of the arguments.
  ///
  /// The arrivals are ascending; the services are those of the same tasks, in the same order.
  ///
  /// - Complexity: O(n log c).
  package static func waits(arrivals: [Int64], services: [Int64], servers: Int) -> [Int64] {
    precondition(
      arrivals.count == services.count,
      "\(arrivals.count) arrivals cannot have \(services.count) service times"
    )
    precondition(servers >= 1, "a queue needs at least 1 server, not \(servers)")
    var free = Heap(repeatElement(Int64.min, count: min(servers, max(1, arrivals.count))))
    return zip(arrivals, services).map { arrival, service in
      let start = max(arrival, free.min ?? arrival)
      free.replaceMin(with: start + service)
      return start - arrival
    }
  }
}
