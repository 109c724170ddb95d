extension RandomAccessCollection {
  /// The place of the first element of which `isBehind` is true, or else the end; it must be true of all
  /// behind that one.
  package func sortedIndex(where isBehind: (Element) -> Bool) -> Index {
    var low = startIndex
    var count = count
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if isBehind(self[middle]) {
        count = half
      } else {
        low = index(after: middle)
        count -= half + 1
      }
    }
    return low
  }
}
