internal import FoundationEssentials
private import Glibc
private import Synchronization

/// The functions in a file of code, by the addresses that the file itself gives them.
///
/// The runtime's own reader sorts all symbols of a file anew for each question, which took a sixth of the time of
/// explorations that ask where a task stands.
struct FunctionTable: Sendable {
  private struct Function {
    var start: UInt
    var end: UInt
    /// Where the name begins in the file.
    var name: Int
  }

  private let file: Data
  /// In the order of their beginnings.
  private var functions: [Function] = []

  private static let ofImages = Mutex<[LoadedImages.Image: FunctionTable]>([:])

  /// The name, as it is in the binary, of the function of this program around an address; nil where none is known.
  ///
  /// - Complexity: O(log n) for n functions of a file, O(n log n) the first time.
  static func name(at address: UInt) -> String? {
    guard let image = LoadedImages.all.first(where: { $0.covers(address) }) else { return nil }
    // Read with no lock held: it takes long, and a job that waited for the lock meanwhile would be called blocked.
    let table = ofImages.withLock { $0[image] } ?? FunctionTable(of: image.path)
    ofImages.withLock { $0[image] = table }
    return table.name(at: address - image.loadBias)
  }

  /// Reads a file; no functions where it is none of code, or has no table of them.
  init(of path: String) {
    file = (try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)) ?? Data()
    functions = file.withUnsafeBytes { Self.functions(in: $0) }
    functions.sort { $0.start < $1.start }
  }

  /// From the table of all symbols, or, where the file was stripped of it, that of those for other files; see elf(5).
  private static func functions(in file: UnsafeRawBufferPointer) -> [Function] {
    guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46]),
      let header = load(Elf64_Ehdr.self, at: 0, of: file), header.e_ident.4 == ELFCLASS64
    else { return [] }
    let sections = (0..<Int(header.e_shnum)).compactMap {
      load(Elf64_Shdr.self, at: Int(header.e_shoff) + $0 * MemoryLayout<Elf64_Shdr>.stride, of: file)
    }
    let tables = [SHT_SYMTAB, SHT_DYNSYM].lazy
      .compactMap { kind in sections.first { $0.sh_type == UInt32(kind) } }
    guard let table = tables.first, sections.indices.contains(Int(table.sh_link)) else {
      return []
    }
    let names = Int(sections[Int(table.sh_link)].sh_offset)
    let stride = MemoryLayout<Elf64_Sym>.stride
    return (0..<Int(table.sh_size) / stride).compactMap { index in
      guard let symbol = load(Elf64_Sym.self, at: Int(table.sh_offset) + index * stride, of: file),
        Int32(symbol.st_info & 0xF) == STT_FUNC, symbol.st_value > 0
      else { return nil }
      let start = UInt(symbol.st_value)
      return Function(
        start: start,
        end: start + UInt(symbol.st_size),
        name: names + Int(symbol.st_name)
      )
    }
  }

  private static func load<Value: BitwiseCopyable>(
    _ type: Value.Type,
    at offset: Int,
    of file: UnsafeRawBufferPointer
  ) -> Value? {
    guard offset >= 0, offset + MemoryLayout<Value>.size <= file.count else { return nil }
    return file.loadUnaligned(fromByteOffset: offset, as: type)
  }

  /// The name of the function around an address of the file.
  func name(at address: UInt) -> String? {
    var (low, high) = (0, functions.count)
    while low < high {
      let middle = (low + high) / 2
      if functions[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address < functions[low - 1].end, functions[low - 1].name < file.count else {
      return nil
    }
    let name = functions[low - 1].name
    return file.withUnsafeBytes { String(decoding: $0[name...].prefix { $0 != 0 }, as: UTF8.self) }
  }
}
