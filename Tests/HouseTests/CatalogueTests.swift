import TestSupport
import Testing

@Suite(.watched) struct `The catalogue's lines` {
  private static let catalogue = "Sources/Mechanisms/Catalogue.swift"

  @Test func `name every mechanism and every specimen that has a file`() throws {
    let files = try SourceTree.files(in: "Sources/Mechanisms", withExtensions: ["swift"])
    try #require(files.count > 10)
    let catalogue = try SourceTree.file(Self.catalogue)
    for finding in CatalogueChecks.missing(from: catalogue, among: files) {
      Issue.record("\(finding)")
    }
  }

  @Test func `reach every specimen through an adapter`() throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    for finding in CatalogueChecks.withoutAdapter(among: files) { Issue.record("\(finding)") }
  }

  // MARK: - The checker, checked

  private static let example = SourceFile(
    path: catalogue,
    text: """
      package enum Catalogue {
        package static let mechanisms: [CatalogueEntry] = [
          CatalogueEntry(LimiterMechanism.self),
        ]

        package static let specimens: [CatalogueEntry] = [
          CatalogueEntry(WrongMechanism.self),
        ]
      }
      """
  )

  private static func empty(_ path: String) -> SourceFile { SourceFile(path: path, text: "") }

  @Test func `are asked for when missing, as the line to add`() {
    let findings = CatalogueChecks.missing(
      from: Self.example,
      among: [
        Self.empty("Sources/Mechanisms/Mechanism.swift"),
        Self.empty("Sources/Mechanisms/Visit.swift"),
        Self.empty("Sources/Mechanisms/LimiterMechanism.swift"),
        Self.empty("Sources/Mechanisms/BarrierMechanism.swift"),
        Self.empty("Sources/Mechanisms/Specimens/WrongMechanism.swift"),
        Self.empty("Sources/Mechanisms/Specimens/WorseMechanism.swift"),
      ]
    )
    #expect(
      findings.map(\.description) == [
        "Sources/Mechanisms/BarrierMechanism.swift: is not in the catalogue; add to "
          + "Catalogue.mechanisms in \(Self.catalogue):  CatalogueEntry(BarrierMechanism.self),",
        "Sources/Mechanisms/Specimens/WorseMechanism.swift: is not in the catalogue; add to "
          + "Catalogue.specimens in \(Self.catalogue):  CatalogueEntry(WorseMechanism.self),",
      ]
    )
  }

  @Test func `do not count for a specimen when they stand among the mechanisms`() {
    let findings = CatalogueChecks.missing(
      from: Self.example,
      among: [Self.empty("Sources/Mechanisms/Specimens/LimiterMechanism.swift")]
    )
    #expect(findings.count == 1)
  }

  @Test func `find the specimen nobody carries, and the one carried by way of another`() {
    let findings = CatalogueChecks.withoutAdapter(among: [
      SourceFile(path: "Sources/Specimens/Base.swift", text: "// DEFECT: it sinks."),
      SourceFile(path: "Sources/Specimens/Boat.swift", text: "// DEFECT: Base.\nlet base: Base"),
      SourceFile(path: "Sources/Specimens/Lost.swift", text: "// DEFECT: nobody knows it."),
      SourceFile(path: "Sources/Specimens/Helper.swift", text: "// No limiter at all."),
      SourceFile(
        path: "Sources/Mechanisms/Specimens/BoatMechanism.swift",
        text: "// unlike Lost\nlet boat: Boat"
      ),
    ])
    #expect(findings.map(\.path) == ["Sources/Specimens/Lost.swift"])
  }
}
