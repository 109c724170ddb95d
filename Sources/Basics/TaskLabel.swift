/// How a simulated task is called wherever a person reads of it.
package enum TaskLabel {
  /// `t01`: as many digits as the highest number of the tasks amongst which it is told has, at least
  /// two.
  package static func text(_ number: Int, amongst tasks: Int) -> String {
    let digits = String(number)
    let width = max(2, String(tasks).utf8.count)
    return "t" + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
