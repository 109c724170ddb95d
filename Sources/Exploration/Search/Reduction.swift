/// Which schedules need not be looked at because another one stands for them.
///
/// **Between jobs** the explorer runs whole jobs of real code and cannot see what they read and write, so it does not
/// know of two steps whether they commute. The first three reductions need no such knowledge. Each maps any schedule to
/// one that is kept, with the same violations and, up to the names of tasks, the same observations in the same order.
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
/// **In instrumented code a schedule is left where it has come to a state that another has gone on from**
/// (`mergesCourses`). What a step touches is known there: the locks and atomics of the code under study, all
/// `pthread` locks, those of libraries and of the runtime too, tasks, continuations, actors, queues, and what the
/// runtime tells a sanitizer that it puts in an order (`Touches.h`). A step that finds what another has left comes
/// behind it. Two schedules with the same steps, of which the same come behind the same, are linear extensions of one
/// partial order and have led to the same state; the numbers of `Touches.h` are the same for both and differ for any
/// other two. So the second is left, if all that can come behind it within the bound came behind the first:
/// `VisitedStates` says when. Every order of two steps is run at least once from each state, and left only behind
/// both: of steps that commute nobody has to know it before they have run. So nothing is assumed of what a step
/// would do elsewhere, which sleep sets and persistent sets do, and the bound on pre-emptions costs no soundness: a
/// state counts with what was spent on the way there.
///
/// What it rests on: that each thing by which tasks tell each other something is touched. Memory is not, as long as
/// it is used in an order that something else gives it, which is what free of data races means; a race is found in the
/// schedules that are run, for whether two accesses are ordered is the same in all linear extensions. Of what
/// is only half seen a step comes behind all others: it cancels a task, ends a scope with `async let`, wakes a sleeper,
/// calls what is not taken over, or runs a job without instrumented code. What is counted or kept as a set needs no
/// order, for it is the same in whichever order it came about: how many own an object, whether a task is cancelled, its
/// priority. There what a step finds is a part of it: whether the task that goes on is cancelled, and how urgent it is;
/// whether a weak reference has its object; whether somebody is the only owner; whose release has a `deinit` run.
/// Not seen: what code without the instrumentation shares by other means than `pthread` locks, and what belongs to the
/// system, such as files. Where part of the code under study is not instrumented, or threads of the system have a say,
/// no schedule is left. Nor is what the fairness bound counts a part of the state: a search in which it has kept
/// somebody from going on begins anew, and counts it in.
///
/// The tests run programs with and without it, within 0, 1, 2 and any number of pre-emptions: some written for it, some
/// drawn at random, all of a few deeds; the step `drawn` of `.ci/long` draws more. They compare what the schedules that
/// were not left have come to; and they have each kind of dependency overlooked, to see that outcomes are missed then.
/// That is what is known of it. No proof says that each thing is noted by which tasks can tell each other something.
package struct Reduction: Hashable, Sendable {
  package var ordersFreshTasks: Bool
  package var beginsCancelledAtOnce: Bool
  package var goesOnWhenWoken: Bool
  /// Only in instrumented code, of which it is known what its steps touch.
  package var mergesCourses = false
  /// What is overlooked of what steps touch: nothing, but in tests.
  var overlooked: Touches.Oversight = []

  /// Every schedule by itself.
  package static let none = Reduction(
    ordersFreshTasks: false,
    beginsCancelledAtOnce: false,
    goesOnWhenWoken: false
  )

  /// All of those between jobs.
  package static let full = Reduction(
    ordersFreshTasks: true,
    beginsCancelledAtOnce: true,
    goesOnWhenWoken: true
  )

  /// That, and in instrumented code the merging of courses.
  package static let merging: Reduction = {
    var reduction = full
    reduction.mergesCourses = true
    return reduction
  }()

  /// The part that suits code that reports nothing.
  var ofAnyCode: Reduction {
    var reduction = Reduction.none
    reduction.mergesCourses = mergesCourses
    reduction.overlooked = overlooked
    return reduction
  }
}
