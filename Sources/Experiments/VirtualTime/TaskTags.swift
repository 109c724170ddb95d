/// Names for Swift tasks: which number the experiment gave to which task.
///
/// A job tells which task it belongs to only by its address, and addresses are used again. So an
/// entry also keeps the task's serial number, unique in the process, and counts only while both
/// agree: a name can never pass to a stranger that moved in later. Entries are overwritten or
/// removed, never merely added, so the table is bounded by the number of distinct addresses.
///
/// An open-addressing table with linear probing: two look-ups a step must cost nanoseconds.
struct TaskTags {
  struct Entry {
    fileprivate var address: UInt = 0
    fileprivate var serial: UInt64 = 0
    var tag: Int32 = 0
    /// The last other task that made this one runnable.
    var cause: Int32 = 0
  }

  private var entries: [Entry] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  /// The entry of the task at `address`, where it has one.
  func find(_ address: UInt, serial: UInt64) -> Entry? {
    guard let index = index(of: address), entries[index].serial == serial else { return nil }
    return entries[index]
  }

  mutating func set(_ address: UInt, serial: UInt64, tag: Int32, cause: Int32) {
    if (count + 1) * 2 > entries.count { grow() }
    var index = home(of: address)
    while entries[index].address != 0, entries[index].address != address {
      index = (index + 1) & (entries.count - 1)
    }
    if entries[index].address == 0 { count += 1 }
    entries[index] = Entry(address: address, serial: serial, tag: tag, cause: cause)
  }

  mutating func setCause(_ address: UInt, to cause: Int32) {
    if let index = index(of: address) { entries[index].cause = cause }
  }

  /// Removes the entry at `address`, moving later entries of its cluster up so that no search ends
  /// early at the gap.
  mutating func remove(_ address: UInt) {
    guard var gap = index(of: address) else { return }
    let mask = entries.count - 1
    var next = (gap + 1) & mask
    while entries[next].address != 0 {
      let distanceFromHome = (next &- home(of: entries[next].address)) & mask
      if distanceFromHome >= (next &- gap) & mask {
        entries[gap] = entries[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    entries[gap] = Entry()
    count -= 1
  }

  private func index(of address: UInt) -> Int? {
    guard count > 0 else { return nil }
    var index = home(of: address)
    while entries[index].address != 0 {
      if entries[index].address == address { return index }
      index = (index + 1) & (entries.count - 1)
    }
    return nil
  }

  private func home(of address: UInt) -> Int {
    // Addresses differ mostly in their middle bits: multiply, then take from the top.
    let mixed = UInt64(address) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (entries.count - 1)
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: Entry(), count: max(64, old.count * 2))
    for entry in old where entry.address != 0 {
      var index = home(of: entry.address)
      while entries[index].address != 0 { index = (index + 1) & (entries.count - 1) }
      entries[index] = entry
    }
  }
}
