@_exported public import ExplorableSynchronization

// The files of `WorkStealing`, unchanged, over locks, atomics and sleep that an exploration can stop at: what a
// module declares comes before what its files import, so with these names they mean the ones below.

typealias Atomic = ExplorableSynchronization.Atomic
typealias Mutex = ExplorableSynchronization.Mutex
typealias ThreadParker = ExplorableSynchronization.Parker
