import Foundation
import TestSupport
import Testing

/// What stands under the figures of the programs.
@Suite(.watched) struct `The programs as they are linked` {
  @Test(arguments: ["lab", "bench"])
  func `take over no lock, hop or clock`(program: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: BuiltProgram(program).path))
    #expect(bytes.range(of: Data("main".utf8)) != nil)
    for name in ["__tsan_func_entry", "taken_original"] {
      #expect(bytes.range(of: Data(name.utf8)) == nil, "\(program) defines \(name)")
    }
  }
}
