import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct PercentilesTests {
  @Test(arguments: Array(1...30) + [49, 50, 51, 99, 100, 101, 120])
  func `the p-th percentile is the smallest value that at least p percent do not exceed`(count: Int)
  {
    let values = (1...count).map { Int64($0) * 10 }
    for percent in 1...100 {
      let byDefinition = values.first { value in
        values.count { $0 <= value } * 100 >= percent * count
      }
      #expect(Percentiles.nearestRank(percent, of: values) == byDefinition)
    }
  }

  @Test
  func `no values come to nothing`() {
    let none = Percentiles([])
    #expect(none.count == 0)
    #expect([none.mean, none.min, none.p50, none.p90, none.p99, none.max] == [0, 0, 0, 0, 0, 0])
  }

  @Test
  func `the mean is rounded to the nearest nanosecond and does not overflow`() {
    #expect(Percentiles([1, 2]).mean == 2)
    #expect(Percentiles([1, 1, 2]).mean == 1)
    #expect(Percentiles([.max, .max, .max - 3]).mean == .max - 1)
  }

  @Test
  func `the order of the values does not matter`() {
    #expect(Percentiles([5, 1, 9, 3]) == Percentiles([9, 5, 3, 1]))
    #expect(Percentiles([5, 1, 9, 3]).p50 == 3)
  }
}
