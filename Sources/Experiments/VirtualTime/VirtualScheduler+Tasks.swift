import Synchronization

/// The tasks an experiment starts: kept so that a run knows when all have ended, and can cancel them.
///
/// Touched by the thread that spawns and by the step in which a task ends, hence under a lock.
struct Roots {
  private enum Entry {
    case free
    /// Being started: the task exists before its handle is known here.
    case starting(tag: Int32)
    case running(Task<Void, Never>, tag: Int32)
    /// Ended before its handle was known.
    case ended
  }

  private var entries: [Entry] = []
  private var freeEntries: [Int] = []
  private(set) var count = 0

  mutating func begin(tag: Int32) -> Int {
    count += 1
    if let index = freeEntries.popLast() {
      entries[index] = .starting(tag: tag)
      return index
    }
    entries.append(.starting(tag: tag))
    return entries.count - 1
  }

  mutating func started(_ index: Int, as task: Task<Void, Never>) {
    switch entries[index] {
    case .starting(let tag): entries[index] = .running(task, tag: tag)
    case .ended: release(index)
    case .free, .running: preconditionFailure("task \(index) was started twice")
    }
  }

  mutating func end(_ index: Int) {
    count -= 1
    if case .starting = entries[index] { entries[index] = .ended } else { release(index) }
  }

  var tasks: [Task<Void, Never>] {
    entries.compactMap { if case .running(let task, _) = $0 { task } else { nil } }
  }

  var tags: [Int32] {
    entries.compactMap {
      switch $0 {
      case .running(_, let tag), .starting(let tag): tag
      case .free, .ended: nil
      }
    }
  }

  private mutating func release(_ index: Int) {
    entries[index] = .free
    freeEntries.append(index)
  }
}

/// A task that keeps its own books instead of being spawned.
///
/// `spawn` puts a function around the body to keep them, and while the body waits, that function keeps
/// a frame. Where a million tasks wait, it is cheaper to do by hand what `spawn` does: `register`,
/// start a `Task(executorPreference:)` that calls `begin` first and `end` last, `noteStart`.
extension VirtualScheduler {
  /// A task that is or will be started here.
  package struct Root: Sendable {
    fileprivate let index: Int
    fileprivate let tag: Int32
  }

  /// Expects a task to be started here, with that tag; 0 for none.
  package func register(tag: Int32) -> Root {
    Root(index: roots.withLock { $0.begin(tag: tag) }, tag: tag)
  }

  /// Notes the task that was started, and cancels it if the scheduler was stopped.
  package func noteStart(of root: Root, as task: Task<Void, Never>) {
    roots.withLock { $0.started(root.index, as: task) }
    if attention.load(ordering: .relaxed) & Attention.stop != 0 { task.cancel() }
  }

  /// The first act of a registered task.
  package func begin(_ root: Root) { if root.tag != 0 { tagCurrentTask(root.tag) } }

  /// The last act of a registered task.
  package func end(_ root: Root) {
    untagCurrentTask()
    roots.withLock { $0.end(root.index) }
  }
}

extension VirtualScheduler {
  /// Starts a task here; it runs when the scheduler is driven, cancelled if that was stopped.
  ///
  /// - Parameters:
  ///   - tag: the number that stands for the task in `current`; 0 for none.
  ///   - body: what the task does.
  /// - Returns: the task, to cancel or to await.
  @discardableResult
  package func spawn(
    tag: Int32 = 0,
    _ body: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    let root = register(tag: tag)
    let task = Task(executorPreference: self) {
      self.begin(root)
      await body()
      self.end(root)
    }
    noteStart(of: root, as: task)
    return task
  }

  /// How many spawned tasks have not ended.
  package var unfinished: Int { roots.withLock { $0.count } }

  /// The tags of the spawned tasks that have not ended, lowest first.
  package var unfinishedTags: [Int32] { roots.withLock { $0.tags }.sorted() }

  /// Cancels every spawned task that has not ended.
  ///
  /// What they do about it they do when the scheduler is driven next.
  package func cancelAll() {
    // Cancelling runs handlers, which may end tasks or spawn others: not under the lock.
    for task in roots.withLock({ $0.tasks }) { task.cancel() }
  }
}
