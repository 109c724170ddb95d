internal import Basics
internal import FoundationEssentials
private import Glibc
internal import Runtime

/// The files whose code this program runs.
///
/// The runtime's own `ImageMap.capture` reads the beginning of each file that is mapped, also of one that
/// another thread is about to cut short or to unmap, as SQLite does with its shared memory: the program then
/// ends by a signal. So the list is made of what the kernel says of its mappings, and nothing but code is taken.
enum LoadedImages {
  struct Image: Hashable {
    var path: String
    var base: UInt64
    /// The first address after its code.
    var end: UInt64

    /// Its file's name, without the folders.
    var name: Substring {
      path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
    }

    func covers(_ address: UInt) -> Bool { base <= address && address < end }

    /// How far the file's own addresses are from those of the program that runs: nothing where the file says where
    /// it must lie.
    var loadBias: UInt {
      // The kind of file, in the header that every image begins with.
      let header = UnsafeRawPointer(bitPattern: UInt(base))
      let isFixed = header?.load(fromByteOffset: 16, as: UInt16.self) == UInt16(ET_EXEC)
      return isFixed ? 0 : UInt(base)
    }
  }

  /// Those of this program when they were first asked for; none if they cannot be read.
  static let all = KernelFile.text("/proc/self/maps").map(images) ?? []

  /// The one in which code lies at the address; nil if none does.
  static func ofCode(at address: UInt) -> Image? { all.first { $0.covers(address) } }

  /// The addresses of each image that has any of these; one that no image covers is left out.
  static func byImage(_ addresses: some Sequence<UInt>) -> [Image: [UInt]] {
    var found: [Image: [UInt]] = [:]
    for address in addresses {
      guard let image = ofCode(at: address) else { continue }
      found[image, default: []].append(address)
    }
    return found
  }

  /// The same as the runtime wants them.
  static let ofThisProgram = map()

  private static func map() -> ImageMap? {
    if all.isEmpty { return nil }
    let text = "\"\(Data(compact(all)).base64EncodedString())\""
    return try? JSONDecoder().decode(ImageMap.self, from: Data(text.utf8))
  }

  /// Those of what `/proc/self/maps` says; see proc_pid_maps(5).
  static func images(in maps: String) -> [Image] {
    var starts: [Substring: UInt64] = [:]
    var images: [Image] = []
    for line in maps.split(separator: "\n") {
      // from-to, what is allowed, offset, device, inode, path: the path may contain blanks.
      let fields = line.split(separator: " ", maxSplits: 5)
      let range = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard fields.count == 6, range.count == 2 else { continue }
      let path = fields[5].drop { $0 == " " }
      guard path.hasPrefix("/") else { continue }
      if UInt64(fields[2], radix: 16) == 0 { starts[path] = range[0] }
      guard fields[1].contains("x"), let base = starts[path] else { continue }
      if images.last?.base == base {
        images[images.count - 1].end = range[1]
      } else {
        images.append(Image(path: String(path), base: base, end: range[1]))
      }
    }
    return images
  }

  /// The images in the runtime's compact format, see CompactImageMapFormat.md of the Swift project.
  ///
  /// Version 0, words of 64 bits, no platform, no build identities, no path abbreviated.
  static func compact(_ images: [Image]) -> [UInt8] {
    var bytes: [UInt8] = [2, 0] + sevenBits(images.count)
    for image in images {
      // Eight bytes of address, then eight to the end of its code.
      bytes.append(0b0011_1111)
      withUnsafeBytes(of: image.base.bigEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: (image.end - image.base).bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(0)
      var path = Array(image.path.utf8)[...]
      while !path.isEmpty {
        // A piece of up to 63 bytes, its length first.
        let piece = path.prefix(63)
        bytes.append(UInt8(piece.count))
        bytes.append(contentsOf: piece)
        path = path.dropFirst(63)
      }
      bytes.append(0)
    }
    return bytes
  }

  /// A number in pieces of seven bits, the highest first; the top bit says that one more follows.
  private static func sevenBits(_ number: Int) -> [UInt8] {
    var bytes = [UInt8(number & 0x7F)]
    var rest = number >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }
}
