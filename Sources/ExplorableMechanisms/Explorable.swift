@_exported public import ExplorableLimiters
@_exported public import Mechanisms

// The adapters of `Mechanisms`, unchanged, over limiters that an exploration can stop inside of: what a module
// declares comes before what its files import, so with these names they mean the ones below.
//
// So this is a module of its own: in `Experiments` these names would take the place of the limiters whose visits it
// times, and whoever imports it would see two of each.

typealias ActorQueue = ExplorableLimiters.ActorQueue
typealias AsyncPool = ExplorableLimiters.AsyncPool
typealias ConcurrencyLimiter = ExplorableLimiters.ConcurrencyLimiter
typealias FIFOQueue = ExplorableLimiters.FIFOQueue
