import Foundation
import Glibc
import RealWork

/// Commits rows to an SQLite file, says so of each on standard output, and kills itself in the middle.
///
/// `row-writer FILE MICROSECONDS`: how long it goes on after its first row.
@main
enum RowWriter {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let microseconds = UInt32(arguments[2]) else { exit(2) }
    let pool = DatabasePool(arguments[1], readers: 1)
    _ = try await pool.write { database in
      try database.rows("CREATE TABLE IF NOT EXISTS row (number INTEGER PRIMARY KEY, text TEXT)")
    }
    var isBegun = false
    while true {
      let number = try await pool.write { database -> Int64 in
        let last = try database.rows("SELECT coalesce(max(number), 0) FROM row")
        guard case .integer(let number)? = last.first?.first else { return 0 }
        let text = Database.Value.text(String(repeating: "\(number + 1) ", count: 500))
        try database.rows("INSERT INTO row VALUES (?, ?)", .integer(number + 1), text)
        return number + 1
      }
      let line = "\(number)\n"
      _ = line.withCString { write(1, $0, strlen($0)) }
      if isBegun { continue }
      isBegun = true
      killItself(after: microseconds)
    }
  }

  /// Has the system kill this process at a moment that nothing here chooses.
  private static func killItself(after microseconds: UInt32) {
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_SIGNAL)
    event.sigev_signo = SIGKILL
    var timer: timer_t?
    var setting = itimerspec()
    setting.it_value.tv_sec = Int(microseconds / 1_000_000)
    // A time of nothing would take the alarm back.
    setting.it_value.tv_nsec = max(1, Int(microseconds % 1_000_000) * 1_000)
    guard timer_create(CLOCK_MONOTONIC, &event, &timer) == 0,
      timer_settime(timer, 0, &setting, nil) == 0
    else { exit(3) }
  }
}
