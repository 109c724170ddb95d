internal import Basics
internal import Glibc

/// Tells the line at which a program traps that is not, or not only, explored.
package enum TrapTeller {
  /// Signals of code that cannot go on.
  ///
  /// An abort is none of them: the system's library calls it in the middle of its own work, and telling allocates.
  private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE]

  /// Has the line be told at which this program traps from now on; then the signal goes its usual way.
  ///
  /// - Parameters:
  ///   - others: how the names of functions begin that are not the code whose line is told.
  ///   - tell: told the line, if one is known, by a thread of its own.
  package static func begin(
    besides others: [String],
    _ tell: @escaping @Sendable (SourcePlace) -> Void
  ) {
    Standstill.prepare()
    let home = ThreadSemaphore()
    Standstill.watchLastingly(home)
    OSThread("traps") {
      while true {
        home.wait()
        guard let fall = Standstill.take() else { continue }
        let place = SourceLines(of: [fall.points], besides: others).places(of: fall.points).first
        if let place { tell(place) }
        Standstill.end()
      }
    }.detach()
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_sigaction = { signal, information, context in
        let address = information.map { UInt(bitPattern: $0.pointee._sifields._sigfault.si_addr) }
        Standstill.stand(at: context, signal: signal, address: address ?? 0, canBeLeft: false)
        // It comes again when this handler has returned, and ends the program as it would have.
        var usual = sigaction()
        usual.__sigaction_handler.sa_handler = SIG_DFL
        sigaction(signal, &usual, nil)
      }
      action.sa_flags = SA_ONSTACK | SA_SIGINFO
      sigaction(signal, &action, nil)
    }
  }
}
