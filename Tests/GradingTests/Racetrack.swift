import TestSupport

/// What is graded here runs on these threads: other tests keep the pool busy, and a storm takes it for a
/// hang when nothing moves for seconds.
let racetrack = ThreadsExecutor(threads: 4)
