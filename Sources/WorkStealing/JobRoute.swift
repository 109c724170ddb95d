/// How a job came to the worker that runs it.
package enum JobRoute: Sendable {
  /// From the worker's own queue; what it stole besides the first job is there too.
  case queue
  /// From the worker's slot: the job before it woke this one.
  case slot
  /// From outside the workers.
  case outside
  /// From another worker: the first of what was stolen.
  case stolen
}
