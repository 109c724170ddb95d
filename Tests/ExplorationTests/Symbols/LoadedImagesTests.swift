import Foundation
import Runtime
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct `The files whose code runs` {
  private let maps = """
    5600aa000000-5600aa001000 r--p 00000000 fe:00 11 /tmp/a place/program
    5600aa001000-5600aa004000 r-xp 00001000 fe:00 11 /tmp/a place/program
    5600aa004000-5600aa005000 rw-p 00004000 fe:00 11 /tmp/a place/program
    5600ab000000-5600ab021000 rw-p 00000000 00:00 0  [heap]
    7f0000000000-7f0000008000 rw-s 00000000 fe:00 12 /tmp/rows.sqlite-shm
    7f0000100000-7f0000101000 r--p 00000000 fe:00 13 /usr/lib/libone.so
    7f0000101000-7f0000102000 r-xp 00001000 fe:00 13 /usr/lib/libone.so
    7f0000102000-7f0000103000 r-xp 00002000 fe:00 13 /usr/lib/libone.so
    7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0  [vdso]
    """

  @Test func `files with code are found, others are left alone`() {
    #expect(
      LoadedImages.images(in: maps) == [
        .init(path: "/tmp/a place/program", base: 0x5600_aa00_0000, end: 0x5600_aa00_4000),
        .init(path: "/usr/lib/libone.so", base: 0x7f00_0010_0000, end: 0x7f00_0010_3000),
      ]
    )
  }

  @Test(arguments: [0, 1, 127, 128, 300])
  func `the runtime reads the list as it was written`(count: Int) throws {
    let images = (0..<count).map { number in
      let base = UInt64(number + 1) << 20
      let path = "/folder/" + String(repeating: "long/", count: number) + "lib\(number).so"
      return LoadedImages.Image(path: path, base: base, end: base + 77)
    }
    let text = "\"\(Data(LoadedImages.compact(images)).base64EncodedString())\""
    let map = try JSONDecoder().decode(ImageMap.self, from: Data(text.utf8))
    #expect(map.map(\.path) == images.map(\.path))
    #expect(map.map { "\($0.baseAddress)" } == images.map { hexadecimal($0.base) })
    #expect(map.map { "\($0.endOfText)" } == images.map { hexadecimal($0.end) })
  }

  @Test func `this program and its libraries are among them`() throws {
    let map = try #require(LoadedImages.ofThisProgram)
    let paths = map.compactMap(\.path)
    #expect(paths.contains { $0.hasSuffix(".xctest") })
    #expect(paths.contains { $0.contains("libswiftCore") })
  }

  private func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
