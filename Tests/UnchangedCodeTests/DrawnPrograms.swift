/// A program of two or three tasks, each of which does a few things that others may notice.
///
/// `DrawnScene` says what they do.
struct DrawnProgram: Sendable {
  indirect enum Deed: Hashable, Sendable {
    case load(Int)
    case store(Int)
    case add(Int)
    case compare(Int)
    case take(Int)
    /// Takes the lock only if it is free.
    case tryToTake(Int)
    /// Takes the one lock in the other.
    case nest(Int)
    case yield
    case visit(Int)
    case visitTwice(Int)
    case wait(Int)
    case open(Int)
    /// Another one, counted from the task itself.
    case cancel(Int)
    case ask
    case sleep(Int)
    /// How much time has passed.
    case time
    case group
    case main
    case start(Int)
    case child(Int)
    case draw
    /// Lets go of the object that all have.
    case drop
    /// Looks at the object without having it.
    case look
    case raise(Int)
    case rank
    /// Puts a number in the place of another.
    case swap(Int)
    /// Gives a number to a stream.
    case give
    /// Gives work to a queue.
    case send

    /// Does it only if what the task has seen last was odd.
    case when(Deed)
    /// Looks at a number until it is not 0, and yields in between, but not for ever.
    case spin(Int)

    // Locks of the system.

    case takeInTime
    case tryRecursively
    case read
    case write
    case tryToRead
    case tryToWrite
    /// Stores what others look at while they hold the same lock.
    case guardedStore
    case guardedLoad
    case spinLock

    // What blocks a thread.

    /// One at a time, by a semaphore.
    case enterAlone
    case signal
    case await
    case awaitNow
    case awaitInTime
    case awaitWord
    case awaitWordInTime
    case tellOne
    case tellAll

    // Queues.

    case sync
    case sendAnywhere
    case sendAlone
    case mainQueue
    case join
    case joinNow
    case workInGroup
    case notify
    case work
    case cancelWork
    case isWorkCancelled

    // Tasks, groups and actors.

    case value(Int)
    case detach
    case urgent(Int)
    case atOnce
    case groupThatIsCancelled
    case groupThatThrows
    case groupThatDiscards
    case groupOfWriters
    case groupInTime
    case through(Int)
    case stay(Int)
    case waitInside
    case call
    case visitByQueue
    /// On an executor of one's own.
    case elsewhere

    // Continuations and cancellation.

    case waitLooking(Int)
    case expect
    case answer
    case giveNewest
    case receive
    case handle
    case cancelSelf
    case check
    /// Whether another one is cancelled.
    case askOther(Int)

    // Who has an object.

    case isAlone
    case dropHidden
    case dropActor
    /// Lets go of what is taken apart on the main actor.
    case dropResident

    // What a library has a lock for.

    case keep
    case recall
    case operate
    case cancelOperation
    case isOperating

    // Threads, and semaphores of the system.

    case thread
    case threadThatCounts
    case threadOfFoundation
    case threadThatSignals
    /// Waits for the end of the last thread that was started; returns what threads have seen.
    case joinThread
    case countOfThreads
    case post
    case takePost
    case tryPost
    case enterBySemaphore
  }

  let tasks: [[Deed]]
  /// Within how many pre-emptions it is to be explored; nil for any number.
  let preemptions: Int?

  init(_ tasks: [[Deed]], within preemptions: Int? = 2) {
    self.tasks = tasks
    self.preemptions = preemptions
  }

  func has(_ deed: Deed) -> Bool {
    tasks.contains { $0.contains { $0 == deed || $0 == .when(deed) } }
  }

  /// All programs of so many tasks, each of so many deeds of these; of those that differ in the order of their tasks
  /// only, one.
  static func all(tasks: Int, deeds: Int, of alphabet: [Deed]) -> [DrawnProgram] {
    var parts: [[Int]] = [[]]
    for _ in 0..<deeds { parts = parts.flatMap { part in alphabet.indices.map { part + [$0] } } }
    var choices: [[Int]] = [[]]
    for _ in 0..<tasks {
      choices = choices.flatMap { choice in
        parts.indices.filter { $0 >= choice.last ?? 0 }.map { choice + [$0] }
      }
    }
    return choices.map { choice in
      DrawnProgram(choice.map { parts[$0].map { alphabet[$0] } })
    }
  }

  var name: String {
    tasks.map { deeds in deeds.map(\.name).joined(separator: ", ") }.joined(separator: " | ")
  }
}

extension DrawnProgram.Deed {
  fileprivate var name: String {
    if case .when(let deed) = self { "when(\(deed.name))" } else { "\(self)" }
  }
}

extension DrawnProgram {
  /// Deeds that others of the same family are most likely to notice.
  private static let families: [[Deed]] = [
    [
      .load(0), .load(1), .store(0), .store(1), .add(0), .compare(0), .swap(0), .spin(0),
      .when(.store(1)), .when(.load(1)),
    ],
    [
      .take(0), .take(1), .tryToTake(0), .tryToTake(1), .nest(0), .nest(1), .takeInTime,
      .tryRecursively, .guardedStore, .guardedLoad, .spinLock, .when(.take(1)),
    ],
    [.read, .write, .tryToRead, .tryToWrite, .guardedStore, .guardedLoad],
    [.enterAlone, .signal, .await, .awaitNow, .awaitInTime, .when(.signal)],
    [.awaitWord, .awaitWordInTime, .tellOne, .tellAll],
    [
      .send, .sync, .sendAnywhere, .sendAlone, .mainQueue, .main, .join, .joinNow,
      .workInGroup, .notify, .visitByQueue,
    ],
    [.work, .cancelWork, .isWorkCancelled, .send, .sync, .when(.cancelWork)],
    [
      .yield, .value(1), .detach, .start(0), .urgent(0), .atOnce, .child(0), .child(1), .group,
      .raise(1), .rank,
    ],
    [
      .groupThatIsCancelled, .groupThatThrows, .groupThatDiscards, .groupOfWriters, .groupInTime,
      .load(0), .store(0), .cancel(1),
    ],
    [
      .visit(0), .visit(1), .visitTwice(0), .through(0), .through(1), .stay(0), .waitInside, .call,
      .start(0), .urgent(0), .visitByQueue, .main, .elsewhere,
    ],
    [
      .wait(0), .open(0), .waitLooking(1), .open(1), .expect, .answer, .give, .receive, .giveNewest,
    ],
    [
      .cancel(1), .ask, .handle, .cancelSelf, .check, .sleep(1), .sleep(2), .child(0), .receive,
      .give, .value(1), .askOther(1),
    ],
    [.sleep(1), .sleep(2), .time, .awaitInTime, .takeInTime, .groupInTime],
    [.drop, .look, .isAlone, .dropHidden, .dropActor, .dropResident, .main, .when(.drop)],
    [.draw, .keep, .recall, .raise(1), .rank],
    [.operate, .cancelOperation, .isOperating, .keep, .recall, .take(0)],
    [
      .thread, .threadThatCounts, .threadOfFoundation, .threadThatSignals, .joinThread,
      .countOfThreads, .post, .takePost, .tryPost, .enterBySemaphore,
    ],
  ]

  /// Draws a program: mostly of a few deeds that others notice, so that they meet in many ways.
  init(drawnBy seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func draw(_ count: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int((state >> 11) % UInt64(count))
    }
    for _ in 0..<8 { _ = draw(2) }
    let families = Self.families
    var pool: [Deed] =
      switch draw(8) {
      case 0..<4: families[draw(families.count)]
      case 4..<6: families[draw(families.count)] + families[draw(families.count)]
      default: families.flatMap { $0 }
      }
    if draw(2) == 0 {
      let few = (0..<(2 + draw(3))).map { _ in pool[draw(pool.count)] }
      pool = few
    }
    let count = draw(4) == 0 ? 3 : 2
    // What a deed tells and who comes first afterwards are two things, and a search may lose one of them.
    let endsWithLock = draw(2) == 0
    // Many small programs show more than a few large ones: how many schedules there are grows with the power of this.
    let most = count == 2 ? 2 + draw(2) : 1
    tasks = (0..<count).map { _ in
      let deeds = (0...draw(most)).map { _ in
        let deed = pool[draw(pool.count)]
        return switch deed {
        case .cancel: Deed.cancel(1 + draw(count - 1))
        case .raise: Deed.raise(1 + draw(count - 1))
        case .askOther: Deed.askOther(1 + draw(count - 1))
        default: draw(12) == 0 ? Deed.when(deed) : deed
        }
      }
      return deeds + (endsWithLock ? [.take(0)] : [])
    }
    preemptions = [0, 1, 1, 1, 1, 2, 2, nil][draw(8)]
  }
}
