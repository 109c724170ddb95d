import TestSupport
import Testing

@testable import Limiters

private enum Operation: CaseIterable {
  case reserve
  case putFirst
  case putLast
  case fail
  case end
  case take
  case abandon
}

private struct Numbered: Error, Equatable {
  let number: Int
}

/// What `ResultState` should do, written so that it is seen to be right: it looks at lists.
private struct Model {
  var limit: Int
  var ordered: Bool
  var reserved: [Int] = []
  var done: [Int] = []
  var taken: [Int] = []
  var error: Numbered?
  var errorIsTaken = false
  var hasEnded = false
  var isAbandoned = false

  var running: [Int] { reserved.filter { !done.contains($0) } }
  /// Which result comes next, if it is ready.
  var next: Int? {
    let ready = (ordered ? done.sorted() : done).filter { !taken.contains($0) }
    return ordered ? ready.first { $0 == taken.count } : ready.first
  }
}

@Suite(.watched) struct `Results as they come are led so that` {
  @Test(arguments: [true, false], [1, 2].fewUnlessSearching { $0 == 2 })
  func `each is given once, in order, and who waits is told, whatever happens in five steps`(
    ordered: Bool,
    limit: Int
  ) {
    forEverySequence(of: Operation.allCases, length: 5) { operations in
      var state = ResultState<Int, Numbered, String>(ordered: ordered)
      var model = Model(limit: limit, ordered: ordered)
      var workerWaits = false
      var takerWaits = false
      var failures = 0
      for operation in operations {
        let at: Comment = "\(operation) of \(operations), ordered: \(ordered), limit \(limit)"
        switch operation {
        case .reserve:
          // One that waits asks again when it was told; one that has ended does not ask.
          if workerWaits || model.hasEnded { continue }
          switch state.reserve(upTo: limit, "worker") {
          case .place(let place):
            #expect(place == model.reserved.count, at)
            #expect(model.reserved.count - model.taken.count < limit, at)
            #expect(model.error == nil && !model.isAbandoned, at)
            model.reserved.append(place)
          case .stop: #expect(model.error != nil || model.isAbandoned, at)
          case .wait:
            #expect(model.reserved.count - model.taken.count == limit, at)
            #expect(model.error == nil && !model.isAbandoned, at)
            workerWaits = true
          }
        case .putFirst, .putLast:
          guard let place = operation == .putFirst ? model.running.first : model.running.last else {
            continue
          }
          let hadNext = model.next != nil
          let told = state.put(place * 10, at: place)
          if model.error != nil || model.isAbandoned {
            model.reserved.removeAll { $0 == place }
            #expect(told == nil, at)
          } else {
            model.done.append(place)
            #expect(told == (takerWaits && !hadNext && model.next != nil ? "taker" : nil), at)
            if told != nil { takerWaits = false }
          }
        case .fail:
          if model.hasEnded { continue }
          failures += 1
          let told = state.fail(Numbered(number: failures))
          #expect(told == (workerWaits ? "worker" : nil), at)
          workerWaits = false
          model.error = model.error ?? Numbered(number: failures)
        case .end:
          // Only when nothing runs, and the loop that takes elements has ended.
          if model.hasEnded || !model.running.isEmpty || workerWaits { continue }
          #expect(state.end() == (takerWaits ? "taker" : nil), at)
          takerWaits = false
          model.hasEnded = true
        case .take:
          if takerWaits || model.isAbandoned { continue }
          switch state.take("taker") {
          case .value(let value, let worker):
            #expect(value == model.next.map { $0 * 10 }, at)
            #expect(worker == (workerWaits ? "worker" : nil), at)
            workerWaits = false
            if let next = model.next { model.taken.append(next) }
          case .failed(let error):
            #expect(model.next == nil && model.hasEnded && !model.errorIsTaken, at)
            #expect(error == model.error, at)
            model.errorIsTaken = true
          case .ended:
            #expect(model.next == nil && model.hasEnded, at)
            #expect(model.error == nil || model.errorIsTaken, at)
          case .wait:
            #expect(model.next == nil && !model.hasEnded, at)
            takerWaits = true
          }
        case .abandon:
          // Whoever takes is there no more, so it does not wait either.
          if takerWaits || model.isAbandoned { continue }
          #expect(state.abandon() == (workerWaits ? "worker" : nil), at)
          workerWaits = false
          model.isAbandoned = true
        }
      }
    }
  }
}
