internal import CSQLite

/// What SQLite says when a statement fails.
package struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// SQLite's result code, the extended one.
  package let code: Int32
  package let message: String
  package let statement: String

  package init(code: Int32, message: String, statement: String) {
    (self.code, self.message, self.statement) = (code, message, statement)
  }

  /// Another connection was writing for as long as this one would wait.
  package var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }

  /// The connection is of no use any more; another one may be.
  package var breaksConnection: Bool {
    [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOMEM, SQLITE_MISUSE]
      .contains(code & 0xFF)
  }

  package var description: String {
    let advice =
      if isBusy {
        "; another connection wrote for longer than this one waits: keep transactions short"
      } else if code & 0xFF == SQLITE_FULL {
        "; free some space on its disk"
      } else if code & 0xFF == SQLITE_IOERR {
        "; its disk may be full or broken, and this connection cannot be used any more: open another"
      } else if breaksConnection {
        "; this connection cannot be used any more: open another"
      } else {
        ""
      }
    return "\(message) (SQLite's code \(code)), in: \(statement)\(advice)"
  }
}
