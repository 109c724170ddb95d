package import Foundation

/// Images in memory, up to so many bytes; the one that was not asked for longest goes first.
package struct MemoryStore: Sendable {
  private struct Entry {
    var image: Data
    var lastUse: Int
  }

  private let mostBytes: Int
  private var entries: [String: Entry] = [:]
  private var bytes = 0
  private var uses = 0

  package init(mostBytes: Int) { self.mostBytes = mostBytes }

  /// - Complexity: O(1).
  package mutating func image(_ name: String) -> Data? {
    uses += 1
    entries[name]?.lastUse = uses
    return entries[name]?.image
  }

  /// Keeps an image; one that is larger than the store is not kept.
  ///
  /// - Complexity: O(n) for n images, for each that has to go.
  package mutating func keep(_ image: Data, as name: String) {
    remove(name)
    guard image.count <= mostBytes else { return }
    while bytes + image.count > mostBytes,
      let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      remove(oldest.key)
    }
    uses += 1
    entries[name] = Entry(image: image, lastUse: uses)
    bytes += image.count
  }

  private mutating func remove(_ name: String) {
    bytes -= entries.removeValue(forKey: name)?.image.count ?? 0
  }
}
