/// Which schedules need not be looked at because another one stands for them.
///
/// The explorer runs whole jobs of real code and cannot see what they read and write, so it does not
/// know of two steps whether they commute. The reductions here need no such knowledge. Each maps any
/// schedule to one that is kept, with the same violations and, up to the names of tasks, the same
/// observations in the same order.
///
/// **Fresh tasks are interchangeable** (`ordersFreshTasks`). In a symmetric scenario the tasks run the
/// same body and differ in their number only, which the limiter is never told. Tasks that have not
/// begun have no state but whether they are cancelled. So if a schedule begins task 3 where task 2 is
/// fresh too, and both or neither are cancelled, swapping the numbers 2 and 3 from there on gives
/// another schedule of the same scenario, in which the same code runs in the same order. By induction
/// over the steps every schedule is a renaming of one that always begins, and cancels, the lowest
/// fresh task of its kind. For N tasks this saves a factor of up to N!.
///
/// **A fresh task is cancelled just before it begins** (`beginsCancelledAtOnce`). Cancelling a task
/// that has not begun sets a flag in it and does nothing else: it has no child to pass it on to and no
/// handler to run, and nobody but the driver knows the task to look at its flag. So the
/// cancellation commutes with every step but the task's own first, and can be moved to just before
/// that. If the schedule ends earlier, with a violation, the cancellation had no part in it and the
/// schedule without it is kept. (A schedule that ends because nothing can run has begun every task: a
/// fresh task can always run.)
///
/// **A task wakes just before it goes on** (`goesOnWhenWoken`). Waking a sleeper makes its next step
/// ready and does nothing else. Only two things can tell whether it happened: that step, and the
/// cancellation of the task, which a woken sleeper survives and a sleeping one does not. So waking
/// commutes with every step but those and can be moved to just before the first of them. This holds
/// only while the step is the task's own: a sleeper that belongs to an actor joins the actor's queue,
/// where its place matters, and is left alone.
///
/// What is not used, and why: sleep sets and dynamic partial-order reduction need the memory that each
/// step touches; fingerprints of states need the limiter's private state and the locals of suspended
/// functions. Both would have to be declared by hand for every limiter, and a declaration that is wrong
/// would hide just the schedules one looks for. The tests run every small case with and
/// without reduction and compare the verdicts and the sets of observations.
package struct Reduction: Hashable, Sendable {
  package var ordersFreshTasks: Bool
  package var beginsCancelledAtOnce: Bool
  package var goesOnWhenWoken: Bool

  /// Every schedule by itself.
  package static let none = Reduction(
    ordersFreshTasks: false,
    beginsCancelledAtOnce: false,
    goesOnWhenWoken: false
  )

  /// All that is sound.
  package static let full = Reduction(
    ordersFreshTasks: true,
    beginsCancelledAtOnce: true,
    goesOnWhenWoken: true
  )
}
