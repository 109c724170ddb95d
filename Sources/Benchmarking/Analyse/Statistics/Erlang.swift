internal import Foundation

/// The waiting times of a queue with Poisson arrivals, c servers and first come, first served.
///
/// Source: A. K. Erlang, 1917; any textbook on queues. Exponential service is exact (M/M/c); for any
/// other service time the mean is Allen and Cunneen's approximation.
package struct ErlangQueue: Hashable, Sendable {
  package let servers: Int
  /// The share of the servers' time that is asked for, at least 0; from 1 on the queue grows for ever.
  package let utilisation: Double

  package init(servers: Int, utilisation: Double) {
    precondition(servers >= 1, "a queue needs at least 1 server, not \(servers)")
    self.servers = servers
    self.utilisation = utilisation
  }

  /// Erlang B: the probability that an arrival finds all servers busy, if none could wait.
  ///
  /// - Complexity: O(c), by the recursion B(k) = aB(k−1) / (k + aB(k−1)), which cannot overflow.
  package var blockingProbability: Double {
    let load = utilisation * Double(servers)
    return (1...servers).reduce(1.0) { before, count in
      load * before / (Double(count) + load * before)
    }
  }

  /// Erlang C: the probability that an arrival has to wait.
  package var waitingProbability: Double {
    guard utilisation < 1 else { return 1 }
    let blocking = blockingProbability
    return blocking / (1 - utilisation * (1 - blocking))
  }

  /// The mean waiting time in mean service times; nil where the queue grows for ever.
  ///
  /// The squared variation is the variance of the service time over its squared mean: 1 for
  /// exponential, 0 for fixed service.
  package func meanWait(squaredVariation: Double = 1) -> Double? {
    guard utilisation < 1 else { return nil }
    let exponential = waitingProbability / (Double(servers) * (1 - utilisation))
    return exponential * (1 + squaredVariation) / 2
  }

  /// The waiting time, in mean service times, that this share of the arrivals does not exceed.
  ///
  /// For exponential service: P(W > t) = C·e^(−c(1−ρ)t).
  package func waitQuantile(_ fraction: Double) -> Double? {
    guard utilisation < 1, fraction < 1 else { return nil }
    let excess = waitingProbability / (1 - fraction)
    return excess <= 1 ? 0 : log(excess) / (Double(servers) * (1 - utilisation))
  }
}
