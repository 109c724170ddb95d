import Basics
import Foundation
import Rendering
import TestSupport
import Testing

@testable import Shell

/// A run that is watched, key by key: held from the beginning, so that every moment is known.
@Suite(.watched) struct WatchingTests {
  /// What stands on the screen after each of the texts was typed, from a session that has carried out a line.
  private func screens(
    after line: String,
    _ typed: [String],
    width: Int = 200,
    height: Int = 24
  ) async throws -> [String] {
    let lab = Lab()
    await lab.run(line)
    let background = try #require(await lab.session.background)
    let format = TextFormat(width: width, height: height)
    // It lets virtual time pass on the thread that draws.
    let screens = await onOwnThread("drawing") {
      let frames = TimelineFrames(background)
      _ = frames.press(UInt8(ascii: " "))
      return typed.map { text in
        for key in text.utf8 { _ = frames.press(key) }
        return frames.frame(format).lines.joined(separator: "\n")
      }
    }
    await lab.session.leave()
    return screens
  }

  private static let (right, left, down) = ("\u{1B}[C", "\u{1B}[D", "\u{1B}[B")
  private static let (home, end) = ("\u{1B}[H", "\u{1B}[F")

  @Test func `an arrow lets the next event happen, and goes back to any earlier one`() async throws
  {
    let seen = try await screens(
      after: "spawn 3 limiter limit=1 work=100ms",
      ["", Self.right, Self.right, Self.left, Self.home, Self.end, Self.right + Self.right]
    )
    let told = [
      "0 s · 0 of 3 ended", "100 ms · 1 of 3 ended", "200 ms · 2 of 3 ended",
      "100 ms · 1 of 3 ended", "0 s · 0 of 3 ended", "200 ms · 2 of 3 ended",
      "300 ms · 3 of 3 ended",
    ]
    for (screen, told) in zip(seen, told) { #expect(screen.contains("\n" + told), "\(screen)") }
    #expect(seen[3].contains("earlier than now"))
    #expect(seen[5].contains("held: space goes on"))
  }

  @Test func `a task is selected, told and cancelled, and who goes next is seen`() async throws {
    let seen = try await screens(
      after: "spawn 4 limiter limit=1 work=100ms",
      ["/2\r", "c\r", Self.right, "/9\r", "c9\r"]
    )
    #expect(
      seen[0].contains("\nt02 has waited 0 s so far, since 0 s behind t01 ahead in the queue")
    )
    #expect(seen[1].contains("t02 was told to cancel") && seen[1].contains("0 s cancelled"))
    #expect(seen[2].contains("\n  t03   ····") && seen[2].contains("▸ t02   x"), "\(seen[2])")
    #expect(seen[3].contains("there are 4 tasks") && seen[4].contains("there are 4 tasks"))
  }

  @Test(arguments: [(40, 12), (40, 24), (60, 10), (80, 24), (200, 60)])
  func `of the keys those are told that fit, whole, and the picture keeps its lines`(
    _ width: Int,
    _ height: Int
  ) async throws {
    let seen = try await screens(
      after: "spawn 9 limiter limit=1 work=100ms",
      ["", "?", "/9\r", "l2\r", "m"],
      width: width,
      height: height
    )
    for screen in seen {
      let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count < height && lines.allSatisfy { $0.count <= width }, "\(screen)")
      #expect(lines.contains { $0.hasPrefix("running") || $0.hasPrefix("run ") }, "\(screen)")
    }
    #expect(seen[1].contains("q leaves · ? hides this"), "\(seen[1])")
    let whole = TextFormat(width: 1000)
    let all = TimelineKeys.help(lines: 1, whole)[0].components(separatedBy: " · ")
    let told = TimelineKeys.help(lines: 3, TextFormat(width: width)).joined(separator: " · ")
      .components(separatedBy: " · ")
    #expect(told.filter { $0 != "…" }.allSatisfy { all.contains($0) }, "\(told)")
    #expect(told.last == "…" || told == all)
  }

  @Test func `one more task joins, as long as the one that is selected`() async throws {
    let seen = try await screens(
      after: "spawn 2 limiter limit=1 work=100ms",
      [Self.right + "/1\ra", Self.right + Self.right]
    )
    #expect(seen[0].contains("t03 joined, of 100 ms") && seen[0].contains("1 of 3 ended"))
    #expect(seen[1].contains("300 ms · 3 of 3 ended"), "\(seen[1])")
  }

  @Test func `the limit is changed while one looks, and the line moves`() async throws {
    let seen = try await screens(
      after: "spawn 6 limiter limit=1 work=100ms",
      [Self.right + "l5\r", Self.right, "l2000000\r"]
    )
    #expect(seen[0].contains("the limit is 5 now") && seen[0].contains("\nlimit   1111"))
    #expect(seen[1].contains("200 ms · 6 of 6 ended"), "\(seen[1])")
    #expect(seen[2].contains("the limit is at most 1000000"))
  }

  @Test func `what cannot be done says why, and the past stays as it was`() async throws {
    let seen = try await screens(
      after: "spawn 3 limiter limit=1 work=100ms",
      ["s", "c\r", Self.right + Self.home + "/3\rc\r", "m"]
    )
    #expect(seen[0].contains("limiter cannot be suspended: a free permit goes"), "\(seen[0])")
    #expect(seen[1].contains("select a task first"))
    #expect(seen[2].contains("this moment is past, and stays as it was. End goes to now"))
    #expect(seen[3].contains("marked 0 s") && seen[3].contains("\n        v"))
  }

  @Test func `a run that has ended is played, and nothing is done to it`() async throws {
    let lab = Lab()
    await lab.run("run 3 limiter limit=1 work=100ms")
    let run = try #require(await lab.session.runs.last)
    let frames = TimelineFrames(playing: run)
    let format = TextFormat(width: 120, height: 24)
    for key in (" " + Self.right).utf8 { _ = frames.press(key) }
    #expect(frames.frame(format).lines.last?.hasPrefix("100 ms · 1 of 3 ended") == true)
    for key in "a".utf8 { _ = frames.press(key) }
    #expect(frames.frame(format).lines.last?.contains("this run has ended") == true)
    for key in Self.end.utf8 { _ = frames.press(key) }
    let end = frames.frame(format)
    #expect(!end.isLast && end.lines.last?.contains("the end: Home goes to the beginning") == true)
    _ = frames.press(UInt8(ascii: " "))
    #expect(!frames.frame(format).isLast, "whoever has used its keys leaves it")
    #expect(frames.press(UInt8(ascii: "q")))
    let kept = frames.kept(TextFormat(width: 120)).joined(separator: "\n")
    #expect(Gantt.tasks(run, TextFormat(width: 120)).hasPrefix(kept))
  }

  @Test func `in virtual time a run in the background that is over is played from its beginning`()
    async throws
  {
    let seen = try await screens(
      after: "spawn 3 limiter limit=1 work=100ms; idle",
      ["", Self.right, Self.end]
    )
    #expect(seen[0].contains("\n0 s · 0 of 3 ended"), "\(seen[0])")
    #expect(seen[1].contains("\n100 ms · 1 of 3 ended"), "\(seen[1])")
    #expect(seen[2].contains("\n300 ms · 3 of 3 ended"), "\(seen[2])")
  }

  @Test func `a letter that means nothing lets nothing go on, and an arrow drops it`() async throws
  {
    let seen = try await screens(
      after: "spawn 3 limiter limit=1 work=100ms",
      [Self.right + "x", Self.right, "cb", Self.down]
    )
    #expect(seen[0].contains("100 ms · 1 of 3 ended") && seen[0].contains("held"), "\(seen[0])")
    #expect(seen[0].contains("for the prompt: x (Esc drops it)"))
    #expect(seen[1].contains("200 ms · 2 of 3 ended") && !seen[1].contains("for the prompt"))
    #expect(seen[2].contains("for the prompt: cb"))
    #expect(seen[3].contains("▸ t03") && !seen[3].contains("for the prompt"), "\(seen[3])")
  }

  @Test func `a queue that is suspended says so wherever it is asked about`() async throws {
    let lab = Lab()
    let text = await lab.run(
      "spawn 4 operation-queue limit=1 work=60m; suspend; status; resume"
    )
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("at ") }
    #expect(lines.count == 3, "\(text)")
    for line in lines.prefix(2) {
      #expect(line.hasSuffix(", suspended: 'resume' has it admit again"), "\(line)")
    }
    #expect(lines.last?.contains("suspended") == false, "\(text)")
    await lab.session.leave()
  }
}

/// When a view that is watched goes by itself.
@Suite(.watched) struct ViewEndingTests {
  private static let second: Int64 = 1_000_000_000

  /// Whether each frame is the last: the time, whether it is over then, and whether a line waits.
  private func areLast(_ frames: [(Int64, Bool, Bool)], isUsed: Bool = false) -> [Bool] {
    var ending = ViewEnding()
    ending.isUsed = isUsed
    return frames.map { ending.isLast(at: $0, isOver: $1, awaits: $2) }
  }

  @Test func `a view stays for a moment at its end, for a key that comes just then`() {
    let end = 5 * Self.second
    let linger = ViewEnding.linger
    let frames = [
      (0, false, false), (end, true, false), (end + linger - 1, true, false),
      (end + linger, true, false),
    ]
    #expect(areLast(frames) == [false, false, false, true])
  }

  @Test func `a view that was hardly seen, or before which a line waits, goes at once`() {
    #expect(areLast([(0, true, false)]) == [true])
    let awaited = [(0, false, true), (5 * Self.second, true, true)]
    #expect(areLast(awaited, isUsed: true) == [false, true])
  }

  @Test func `a view whose keys were used stays until it is left`() {
    let frames = (0..<100).map { ($0 * Self.second, true, false) }
    #expect(areLast(frames, isUsed: true) == frames.map { _ in false })
  }
}
