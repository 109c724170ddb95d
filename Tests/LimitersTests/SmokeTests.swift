import Limiters
import Testing

@Suite struct SmokeTests {
  @Test func `pool of actors`() async throws {
    actor Worker {
      var n = 0
      func bump() { n += 1 }
    }
    let pool = AsyncPool(maxElements: 1) { Worker() }
    let n = try await pool.withElement { worker in
      worker.bump()
      return worker.n
    }
    #expect(n == 1)
  }
}
