internal import CExplorable
internal import FoundationEssentials
internal import Glibc

/// A symbolizer that runs, and answers as often as it is asked.
///
/// It reads the whole table of symbols of a program before its first answer: a quarter of a second of a processor for a
/// large one. It ends when this program does, or closes its end of the connection.
struct SymbolizerProgram: ~Copyable {
  let process: pid_t
  /// What it is asked by and answers through.
  private let connection: Int32

  /// How long it may say nothing, in milliseconds.
  private static let patience: Int32 = 30_000
  /// How many questions are on their way at once: they have room in the connection though nobody reads the answers.
  private static let questionsAtOnce = 64

  /// Nil if it cannot be started.
  init?(_ program: String, _ arguments: [String]) {
    var ends: [Int32] = [-1, -1]
    guard connection_for_one(&ends) else { return nil }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      close(ends[1])
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // The calling thread may keep signals back, and the program must be one that can be ended.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    guard posix_spawn(&child, program, &actions, &attributes, &words, environ) == 0 else {
      close(ends[0])
      return nil
    }
    process = child
    connection = ends[0]
  }

  deinit {
    close(connection)
    kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
  }

  /// Its answers, a line each, in the order of the questions; nil if it has ended, or says nothing for half a minute.
  func answers(to questions: [String]) -> [Data]? {
    var answers: [Data] = []
    var rest = Data()
    while answers.count < questions.count {
      let next = questions.dropFirst(answers.count).prefix(Self.questionsAtOnce)
      guard send(next.map { $0 + "\n" }.joined()) else { return nil }
      let end = answers.count + next.count
      while answers.count < end {
        guard let bytes = received() else { return nil }
        rest.append(contentsOf: bytes)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          answers.append(rest[..<end])
          rest = Data(rest[(end + 1)...])
        }
      }
    }
    return answers
  }

  private func send(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // It may have ended: an error then, and no signal.
      let count = rest.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// What comes next; nil at its end, or if nothing comes.
  private func received() -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      var waiting = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
      let isReady = poll(&waiting, 1, Self.patience)
      if isReady < 0, errno == EINTR { continue }
      guard isReady > 0 else { return nil }
      let count = read(connection, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      return count > 0 ? buffer[..<count] : nil
    }
  }
}
