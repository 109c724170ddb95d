private import Basics
private import Glibc
private import Synchronization

/// The names of functions, as they are in the binary, by addresses of their code.
///
/// Each question is one pass over the table of symbols. The runtime's own reader sorts them all for each, which took
/// a sixth of the time of explorations that ask where a task stands.
enum FunctionNames {
  /// Those of this program around these addresses; of an address that is in none, nothing.
  ///
  /// - Complexity: O(n log a) for n symbols and a addresses.
  static func at(_ addresses: some Sequence<UInt>) -> [UInt: String] {
    var names: [UInt: String] = [:]
    for (image, addresses) in LoadedImages.byImage(addresses) {
      let bias = image.loadBias
      for (address, name) in inFile(image.path, at: addresses.map { $0 - bias }) {
        names[address + bias] = name
      }
    }
    return names
  }

  /// The same by the addresses that a file of code itself gives its functions; nothing where it is none.
  static func inFile(_ path: String, at addresses: [UInt]) -> [UInt: String] {
    // Opened with no lock held: a job that waited for it meanwhile would be called blocked.
    guard let file = files.withLock({ $0[path] }) ?? File(path) else { return [:] }
    files.withLock { $0[path] = $0[path] ?? file }
    return names(in: file.bytes, addresses)
  }

  /// What was read before: it stays, for its pages are what costs the time.
  private static let files = Mutex<[String: File]>([:])

  /// A file in memory, for the program's life.
  ///
  /// `@unchecked Sendable` is safe: it is mapped for reading only, and never unmapped.
  private struct File: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init?(_ path: String) {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0, status.st_size > 0,
        let start = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
        start != MAP_FAILED
      else { return nil }
      bytes = UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
    }
  }

  /// From the table of all symbols, or, where the file was stripped of it, that of those for other files; see elf(5).
  private static func names(
    in file: UnsafeRawBufferPointer,
    _ addresses: [UInt]
  ) -> [UInt: String] {
    guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46]),
      let header = load(Elf64_Ehdr.self, at: 0, of: file), header.e_ident.4 == ELFCLASS64
    else { return [:] }
    let sections = (0..<UInt64(header.e_shnum)).compactMap {
      load(
        Elf64_Shdr.self,
        at: header.e_shoff &+ $0 * UInt64(MemoryLayout<Elf64_Shdr>.stride),
        of: file
      )
    }
    let tables = [SHT_SYMTAB, SHT_DYNSYM].lazy
      .compactMap { kind in sections.first { $0.sh_type == UInt32(kind) } }
    guard let table = tables.first, sections.indices.contains(Int(table.sh_link)) else {
      return [:]
    }
    let text = sections[Int(table.sh_link)].sh_offset
    let wanted = addresses.sorted()
    guard let first = wanted.first, let last = wanted.last else { return [:] }
    let stride = UInt64(MemoryLayout<Elf64_Sym>.stride)
    var names: [UInt: String] = [:]
    for index in 0..<table.sh_size / stride {
      guard let symbol = load(Elf64_Sym.self, at: table.sh_offset &+ index * stride, of: file)
      else { break }
      let start = UInt(symbol.st_value)
      let end = start &+ UInt(symbol.st_size)
      guard start <= last, first < end, Int32(symbol.st_info & 0xF) == STT_FUNC else { continue }
      var address = wanted.sortedIndex { $0 >= start }
      while address < wanted.count, wanted[address] < end {
        names[wanted[address]] = string(at: text &+ UInt64(symbol.st_name), of: file)
        address += 1
      }
    }
    return names
  }

  private static func load<Value: BitwiseCopyable>(
    _ type: Value.Type,
    at offset: UInt64,
    of file: UnsafeRawBufferPointer
  ) -> Value? {
    let size = UInt64(MemoryLayout<Value>.size)
    guard size <= file.count, offset <= UInt64(file.count) - size else { return nil }
    return file.loadUnaligned(fromByteOffset: Int(offset), as: type)
  }

  private static func string(at offset: UInt64, of file: UnsafeRawBufferPointer) -> String? {
    guard offset < file.count else { return nil }
    return String(decoding: file[Int(offset)...].prefix { $0 != 0 }, as: UTF8.self)
  }
}
