import Mechanisms
import TestSupport
import Testing

@Suite(.watched) struct `The catalogue` {
  @Test func `lists the mechanisms by the names people and scripts rely on`() {
    #expect(
      Catalogue.mechanisms.map(\.id) == [
        "operation-queue", "gcd-semaphore", "gcd-gate", "limiter", "pool", "fifo-queue",
        "actor-queue", "main-actor-queue", "task-group", "none",
      ]
    )
  }

  @Test func `uses each name once and finds each by it`() {
    let entries = Catalogue.mechanisms + Catalogue.specimens
    #expect(Set(entries.map(\.id)).count == entries.count)
    for entry in entries {
      #expect(Catalogue.entry(entry.id)?.id == entry.id)
      #expect(type(of: entry.make(MechanismSetup(limit: 1))).id == entry.id)
    }
    #expect(Catalogue.entry("limitr") == nil)
  }

  @Test func `names a defect for every specimen and for nothing else`() {
    for entry in Catalogue.specimens {
      #expect(entry.id.hasPrefix("specimen-"))
      #expect(entry.profile.defect?.isEmpty == false)
    }
    for entry in Catalogue.mechanisms {
      #expect(!entry.id.hasPrefix("specimen-"))
      #expect(entry.profile.defect == nil)
    }
  }

  @Test func `lists the specimens by the names people and scripts rely on`() {
    #expect(
      Catalogue.specimens.map(\.id) == [
        "specimen-published-limiter", "specimen-double-resume", "specimen-leaked-permit",
        "specimen-lost-wake-up", "specimen-check-then-act", "specimen-two-locks",
        "specimen-no-last-look",
        "specimen-held-lock", "specimen-throwing-body",
        "specimen-stranded-waiter", "specimen-barging", "specimen-nested-deadlock",
        "specimen-plain-tasks",
      ]
    )
  }

  @Test func `says of every specimen, and of nothing else, how its defect is made to show`() {
    let violations: Set = [
      "over-admission", "lost-wake-up", "deadlock", "permit-leak", "order", "double-resume",
      "ran-after-cancel",
    ]
    for entry in Catalogue.specimens {
      #expect(violations.contains(entry.profile.exposure?.violation ?? ""), "\(entry.id)")
    }
    for entry in Catalogue.mechanisms { #expect(entry.profile.exposure == nil) }
  }

  @Test(arguments: (Catalogue.mechanisms + Catalogue.specimens + Catalogue.misuses).map(\.id))
  func `says of each what it is, in a line and at length`(id: String) throws {
    let profile = try #require(Catalogue.entry(id)).profile
    #expect(!profile.summary.isEmpty)
    #expect(!profile.summary.contains("\n"))
    #expect(profile.summary.count <= 90)
    #expect(profile.explanation.count > profile.summary.count)
  }

  @Test(arguments: (Catalogue.mechanisms + Catalogue.specimens).map(\.id))
  func `says why, where one runs on the wall clock only`(id: String) throws {
    let profile = try #require(Catalogue.entry(id)).profile
    #expect((profile.clock == .real) == (profile.realOnlyReason != nil))
  }

  @Test(arguments: (Catalogue.mechanisms + Catalogue.specimens).map(\.id))
  func `makes no two claims that contradict each other`(id: String) throws {
    let profile = try #require(Catalogue.entry(id)).profile
    let nobodyWaits = profile.limit == .none
    #expect((profile.waiting == .none) == nobodyWaits)
    #expect((profile.cancellation == .neverWaits) == nobodyWaits)
    #expect((profile.order == .priority) == profile.controls.contains(.priorities))
    if profile.limit != .any { #expect(!profile.controls.contains(.limit)) }
  }

  @Test(
    arguments: Catalogue.mechanisms.map(\.id),
    [MechanismProfile.Control.limit, .suspension, .barrier, .notification]
  )
  func `says why it cannot be steered, where it cannot`(
    id: String,
    control: MechanismProfile.Control
  ) throws {
    let profile = try #require(Catalogue.entry(id)).profile
    #expect(profile.controls.contains(control) == (profile.lacks[control] == nil))
  }
}
