/// What `clock` shows, counted from this call.
func stopwatch<C: Clock>(on clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
  if C.self == ContinuousClock.self {
    // The usual clock by itself: through the protocol's witnesses, reading it costs several times as much.
    let start = ContinuousClock.now
    return { start.duration(to: .now) }
  }
  let start = clock.now
  return { start.duration(to: clock.now) }
}
