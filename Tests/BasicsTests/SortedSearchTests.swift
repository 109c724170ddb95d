import Basics
import TestSupport
import Testing

@Suite(.watched) struct SortedSearchTests {
  @Test(arguments: 0...20)
  func `the first of which it is true is found, wherever it is`(count: Int) {
    let numbers = (0..<count).map { $0 * 2 }
    for bound in -1...count * 2 {
      let found = numbers.sortedIndex(where: { $0 > bound })
      #expect(found == numbers.firstIndex { $0 > bound } ?? numbers.endIndex)
      let slice = numbers.dropFirst(3)
      #expect(
        slice.sortedIndex(where: { $0 > bound })
          == slice.firstIndex { $0 > bound } ?? slice.endIndex
      )
    }
  }
}
