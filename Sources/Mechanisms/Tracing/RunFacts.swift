/// What must be known of a run, beside its events, to read them.
package struct RunFacts: Hashable, Sendable {
  /// How many tasks the run has.
  package var tasks: Int
  /// The limit the mechanism promised to keep at the start of this run; nil where it promised none.
  ///
  /// A `limit` event changes it.
  package var limit: Int?
  /// Whether the mechanism promised to admit in the order of arrival.
  package var promisesOrder: Bool
  /// Whether a task in service holds its worker: true for blocking and spinning work.
  package var serviceHoldsWorker: Bool
  /// Tasks that ask for no permit, where others of the run do: nobody overtakes by not standing in line.
  package var withoutPermit: Set<TaskID>

  package init(
    tasks: Int,
    limit: Int?,
    promisesOrder: Bool,
    serviceHoldsWorker: Bool,
    withoutPermit: Set<TaskID> = []
  ) {
    self.tasks = tasks
    self.limit = limit
    self.promisesOrder = promisesOrder
    self.serviceHoldsWorker = serviceHoldsWorker
    self.withoutPermit = withoutPermit
  }
}
