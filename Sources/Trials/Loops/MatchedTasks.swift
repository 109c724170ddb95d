internal import Workloads

extension [SimulatedTask] {
  /// The same tasks with arrivals and service times stretched or shortened, each by one factor, until
  /// their rate and their mean service are exactly what was asked for.
  ///
  /// A trial has time for a few hundred arrivals, and so few drawn at random miss their mean by a tenth:
  /// a utilisation of .8 could come out as .7 or as 1. What is random about the tasks, in which order
  /// short and long gaps and services follow one another, stays.
  func matched(perSecond rate: Double, meanService: Int64) -> [SimulatedTask] {
    guard let first, let last, last.arrival > first.arrival else { return self }
    let span = Double(count - 1) * 1e9 / rate
    let stretch = span / Double(last.arrival - first.arrival)
    let drawn = map { Double($0.service) }.reduce(0, +) / Double(count)
    return map { task in
      var task = task
      task.arrival = Int64((Double(task.arrival - first.arrival) * stretch).rounded())
      task.service = Int64((Double(task.service) * Double(meanService) / drawn).rounded())
      return task
    }
  }
}
