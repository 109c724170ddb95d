@_exported public import ExplorableLimiters
@_exported public import Mechanisms

// The adapters of `Mechanisms`, unchanged, over limiters that an exploration can stop inside of: what a module
// declares comes before what its files import, so with these names they mean the ones below.

typealias ActorQueue = ExplorableLimiters.ActorQueue
typealias AsyncPool = ExplorableLimiters.AsyncPool
typealias ConcurrencyLimiter = ExplorableLimiters.ConcurrencyLimiter
typealias FIFOQueue = ExplorableLimiters.FIFOQueue
