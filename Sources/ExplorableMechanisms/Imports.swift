// The adapters of limiters here are those of `Mechanisms`, compiled a second time from the same files,
// over limiters whose locks and atomics an exploration can stop at. What their files import stands here,
// since there they import the limiters as shipped.
@_exported public import ExplorableLimiters
@_exported public import Mechanisms
@_exported public import Workloads
