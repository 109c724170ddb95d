/// The house as a diagram that code hosts draw (Mermaid): which room looks into which.
struct HousePicture {
  /// For each room, the rooms that it may import.
  let rooms: [String: Set<String>]

  init(_ directions: ImportDirections) { rooms = directions.table.mapValues(\.rooms) }

  init(_ rooms: [String: Set<String>]) { self.rooms = rooms }

  /// An arrow for each import that does not follow from the others: with them the picture would be black.
  ///
  /// - Complexity: O(n³) for n rooms.
  var text: String {
    let arrows = rooms.keys.sorted().flatMap { room in
      needed(by: room).sorted().map { "  \(room) --> \($0)" }
    }
    return (["graph TD"] + arrows).joined(separator: "\n")
  }

  private func needed(by room: String) -> Set<String> {
    let direct = rooms[room] ?? []
    return direct.filter { one in !direct.contains { $0 != one && reaches($0, one) } }
  }

  private func reaches(_ room: String, _ other: String) -> Bool {
    let next = rooms[room] ?? []
    return next.contains(other) || next.contains { reaches($0, other) }
  }
}
