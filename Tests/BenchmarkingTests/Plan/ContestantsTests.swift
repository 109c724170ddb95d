import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

/// Which limiters a program may bring along.
@Suite(.watched) struct ContestantsTests {
  private func entry(_ id: String) throws -> CatalogueEntry {
    let limiter = try #require(Catalogue.entry("limiter"))
    return CatalogueEntry(id: id, limiter.profile, make: limiter.make)
  }

  @Test(arguments: ["", "my limiter", "-mine", "höher", "a,b", "mine;"])
  func `a name that would not go into the tables is refused`(name: String) throws {
    let complaint = Contestants.add(try entry(name))
    #expect(complaint?.contains("cannot be a limiter's name") == true)
    #expect(Contestants.entry(name) == nil)
  }

  @Test(arguments: ["limiter", "specimen-barging", "floor-semaphore"])
  func `a name that is taken is refused`(name: String) throws {
    #expect(Contestants.add(try entry(name))?.contains("is taken") == true)
  }
}
