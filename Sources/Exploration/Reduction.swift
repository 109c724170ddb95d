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
/// **Under a bound on pre-emptions** partial-order reductions are not sound as they stand: the schedule that
/// stands for another may need more pre-emptions (Coons, Musuvathi, McKinley, "Bounded partial-order
/// reduction", OOPSLA 2013). These three keep the number. Renaming two tasks renames who pre-empts whom.
/// Cancelling and waking take no turn, and change nothing about whose turn it was; so the agent that goes on
/// just after them pre-empts the same agent as it did when others stepped in between, or nobody.
///
/// What is not used, and why: sleep sets and dynamic partial-order reduction need all that each step
/// reads and writes; fingerprints of states need the limiter's private state and the locals of suspended
/// functions. Between jobs both would have to be declared by hand for every limiter, and a declaration
/// that is wrong would hide just the schedules one looks for. Inside synchronous code the operation that a
/// step begins with is known, and that is not enough: until the next one the step may cancel a task, look
/// whether its own is cancelled, resume a continuation that nobody waits for yet, or join an actor's line,
/// and the runtime tells nobody. Two steps on different locks, one of which cancels what the other one
/// asks about, do not commute; a sleep set would take them for steps that do. The tests run every small
/// case with and without reduction, inside code with 0, 1, 2 and any number of pre-emptions, and compare
/// the verdicts and the sets of observations.
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
