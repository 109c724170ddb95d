@_exported public import ExplorableSynchronization

// The files of `Limiters`, unchanged, over locks and atomics that an exploration can stop at: what a module
// declares comes before what its files import, so with these names they mean the ones below.

@usableFromInline typealias Atomic = ExplorableSynchronization.Atomic
typealias Mutex = ExplorableSynchronization.Mutex
