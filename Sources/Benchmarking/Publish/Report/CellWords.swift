extension Cell {
  /// The question in words rather than in names and values: what stands over its table.
  var words: String {
    let body =
      switch workload {
      case "uncontended": "One task passes through again and again; a permit is always free"
      case "hand-off": "Two tasks hand one permit to and fro"
      case "across-priorities": "Two tasks, one of them more urgent, hand one permit to and fro"
      case "cancel-others": "Tasks wait while others that wait are cancelled"
      case "contended-empty": "\(many) compete for \(permits); the body does nothing"
      case "contended-yield": "\(many) compete for \(permits) and suspend while they hold one"
      case "contended-critical-section":
        "\(many) compete for \(permits) to add to one shared counter"
      case "fan-out": "A batch of \(many), at most \(limit ?? 1) at once"
      case "fan-out-computing":
        "A batch of \(many), at most \(limit ?? 1) at once, each computing for \(each)"
      case "open-loop":
        "Requests come by a clock and take \(percent(utilisation)) of what \(permits) can serve"
      case "overload": "Half as much again as \(permits) can serve, then relief"
      case "cancel-random": "\(percent(cancelFraction)) of \(many) are cancelled while they wait"
      case "cancel-head":
        "\(percent(cancelFraction)) of \(many) are cancelled, the first in line first"
      case "cancel-tail":
        "\(percent(cancelFraction)) of \(many) are cancelled, the last in line first"
      case "fairness": "\(many) want \(permits) all the time"
      case "memory": "\(many) \(tasks == 1 ? "waits" : "wait") for one permit"
      case "threads": "\(many) of \(each) each, at most \(limit ?? 1) at once"
      case "scaling": "\(many) compete for \(permits) on \(count(processors ?? 1, "processor"))"
      case "wake-up": "A thread outside hands a task to an executor that sleeps"
      case "resting": "There is nothing to do"
      case "virtual-run": "\(many) in virtual time, at most \(limit ?? 1) at once"
      case "image-cache-distinct":
        "A screen of \(images), all different, at most \(limit ?? 1) fetched at once"
      case "image-cache-repeated":
        "A screen of \(images), each about four times, at most \(limit ?? 1) fetched at once"
      case "image-cache-distinct-warm": "A screen of \(images), all different, all on disk"
      case "image-cache-repeated-warm":
        "A screen of \(images), each about four times, all on disk"
      case "files":
        "A list of \(count(tasks ?? 1, "file")), at most \(limit ?? 1) downloaded at once"
      case "sqlite-read": "\(many) read rows over \(count(limit ?? 1, "connection"))"
      case "sqlite-mixed":
        "\(many) read over \(count(limit ?? 1, "connection")) and write, one time in ten, over one"
      default: workload
      }
    return body + [shape, manner].compactMap { $0 }.map { "; \($0)" }.joined()
  }

  private var shape: String? {
    guard workload == "open-loop" else { return nil }
    return serviceDistribution == "fixed"
      ? "each takes \(each)" : "each takes \(each) in the mean, some much longer"
  }

  private var manner: String? {
    switch serviceKind {
    case "block": "bodies block their thread"
    case "spin": "bodies compute"
    case "suspend": "bodies suspend"
    default: nil
    }
  }

  private var many: String { count(tasks ?? 1, "task") }
  private var images: String { count(tasks ?? 1, "image") }
  private var permits: String { count(limit ?? 1, "permit") }
  private var each: String { Quantity.text(Double(service ?? 0), unit: "ns") }

  private func percent(_ share: Double?) -> String { "\(Int(((share ?? 0) * 100).rounded())) %" }

  private func count(_ number: Int, _ noun: String) -> String {
    Quantity.count(number, noun)
  }
}
