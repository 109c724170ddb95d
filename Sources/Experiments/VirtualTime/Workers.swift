/// The modelled pool: which of its workers are free.
///
/// A job runs on the free worker with the lowest number, as a pool that wakes the most recently used
/// thread tends to do; that keeps timelines compact and the choice deterministic. A job that ends or
/// suspends gives its worker back at once, one that holds keeps it.
struct Workers {
  /// One bit a worker, set while it is free.
  private var free: [UInt64]

  init(count: Int) {
    precondition(count >= 1, "a pool needs at least 1 worker, not \(count)")
    free = Array(repeating: .max, count: (count + 63) / 64)
    let rest = count % 64
    if rest != 0 { free[free.count - 1] = (1 << UInt64(rest)) - 1 }
  }

  /// Takes the lowest-numbered free worker, from 1; nil while all are held.
  mutating func take() -> Int32? {
    for word in free.indices where free[word] != 0 {
      let bit = free[word].trailingZeroBitCount
      free[word] &= free[word] - 1
      return Int32(word * 64 + bit + 1)
    }
    return nil
  }

  mutating func giveBack(_ worker: Int32) {
    let index = Int(worker) - 1
    free[index / 64] |= 1 << UInt64(index % 64)
  }
}
