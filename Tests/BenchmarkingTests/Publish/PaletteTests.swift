import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

@Suite(.watched) struct `The colours of the plots` {
  @Test func `are one for each mechanism`() {
    let styles = Catalogue.mechanisms.map { Palette.style(of: $0.id) }
    #expect(Set(styles).count == styles.count, "Palette.swift has a colour too few: \(styles)")
  }
}
