extension Task where Failure == Never {
  /// Starts a detached task on `executor`; nil for the global pool.
  ///
  /// A task that is created with nil as its preference counts as one with a preference all the same: it takes
  /// a lock of the runtime (6.3.1) each time it goes on, to look up what it prefers. One without any does not.
  @discardableResult
  package static func detached(
    name: String? = nil,
    on executor: (any TaskExecutor)?,
    priority: TaskPriority? = nil,
    operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task {
    if let executor {
      Task.detached(
        name: name,
        executorPreference: executor,
        priority: priority,
        operation: operation
      )
    } else {
      Task.detached(name: name, priority: priority, operation: operation)
    }
  }

  /// Starts a task on `executor`; nil for the global pool.
  ///
  /// It has the priority and the task-local values of its caller. As `detached`, it states no preference where the
  /// executor is nil.
  static func started(
    on executor: (any TaskExecutor)?,
    operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task {
    if let executor {
      Task(executorPreference: executor, operation: operation)
    } else {
      Task(operation: operation)
    }
  }
}
