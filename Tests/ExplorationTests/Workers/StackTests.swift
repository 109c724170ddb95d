import CDispatch
import CExplorable
import Foundation
import TestSupport
import Testing

@testable import Exploration

/// What stands on a thread's stack, told from the state in which a signal finds it.
@Suite(.watched) struct `Stacks that a signal finds` {
  #if arch(x86_64)
  /// Where the program of that code jumps on to a function of a library: three such jumps in a row, as the linker
  /// writes them.
  private func jump(inProgramOf own: UInt) -> UInt? {
    guard let image = LoadedImages.all.first(where: { $0.covers(own) }),
      let base = UnsafeRawPointer(bitPattern: image.loadBias)
    else { return nil }
    func isJump(_ offset: Int) -> Bool {
      let code = base + offset
      return code.load(as: UInt8.self) == 0xFF && (code + 1).load(as: UInt8.self) == 0x25
        && (code + 6).load(as: UInt8.self) == 0x68
    }
    return stride(from: 0, to: 1 << 23, by: 16).first {
      isJump($0) && isJump($0 + 16) && isJump($0 + 32)
    }
    .map { UInt(bitPattern: base + $0) }
  }

  @Test func `a thread on its way into a library is found in the code that calls`() throws {
    // An address of this program's code, as a call leaves it on the stack.
    var own = [stack_frame](repeating: stack_frame(), count: 8)
    let caller = try #require(own[..<stack_frames(&own, own.count)].first).point
    let point = try #require(jump(inProgramOf: caller))
    var stack = [caller + 1]
    var frames = [stack_frame](repeating: stack_frame(), count: 8)
    let found = stack.withUnsafeMutableBufferPointer { stack in
      var context = ucontext_t()
      context.uc_mcontext.gregs.16 = Int64(point)
      context.uc_mcontext.gregs.15 = Int64(UInt(bitPattern: stack.baseAddress))
      return stack_frames_at(&context, &frames, frames.count)
    }
    #expect(frames[..<found].map(\.point) == [point, caller])
  }
  #endif
}
