import Foundation
import LessonBook
import Mechanisms
import TestSupport
import Testing

@testable import Shell

/// Every way in which a line can be wrong, and what is said about it.
@Suite(.watched) struct ErrorCatalogueTests {
  /// A wrong line, the word the carets stand under, and the message.
  struct Wrong: Sendable, CustomTestStringConvertible {
    var line: String
    var word: String
    var message: String
    /// What was done before it.
    var before: String?

    init(_ line: String, at word: String, _ message: String, after before: String? = nil) {
      self.line = line
      self.word = word
      self.message = message
      self.before = before
    }

    var testDescription: String { before.map { "\($0); \(line)" } ?? line }
  }

  /// What is said where no mechanism has that name.
  private static let listsAll =
    "'mechanisms' lists all \(Numeral.text(Catalogue.mechanisms.count))."
  /// The mechanisms that have no threads of their own.
  private static let virtual = Catalogue.mechanisms.filter { $0.profile.clock == .any }.map(\.id)
    .joined(separator: ", ")

  static let catalogue = [
    Wrong(
      "export SCRATCH format=csv",
      at: "SCRATCH",
      "'SCRATCH' cannot be written: it is a folder.",
      after: "run 3"
    ),
    Wrong("source SCRATCH", at: "SCRATCH", "'SCRATCH' cannot be read: it is a folder."),
    Wrong(#"run 5 "limiter"#, at: #""limiter"#, #"this quote is never closed. Add " at the end."#),
    Wrong("runn 5", at: "runn", "no command 'runn'. Did you mean 'run'? 'help' lists all."),
    Wrong("wa", at: "wa", "'wa' could be watch or wait. Write more of it."),
    Wrong(
      "help cloks",
      at: "cloks",
      "no command or topic 'cloks'. Did you mean 'clocks'? 'help' lists all."
    ),
    Wrong("help nothing", at: "nothing", "no command or topic 'nothing'. 'help' lists all."),
    Wrong("run", at: "run", "the number of tasks is missing. Write: run N [MECH] [key=value]…"),
    Wrong(
      "run limiter",
      at: "run",
      "the number of tasks is missing. Write: run N [MECH] [key=value]…"
    ),
    Wrong(
      "run x",
      at: "x",
      "'x' is neither a number of tasks nor a mechanism. Write: run N [MECH] [key=value]…"
    ),
    Wrong(
      "run 0",
      at: "0",
      "the number of tasks cannot be '0'. Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run 5000001",
      at: "5000001",
      "the number of tasks cannot be '5000001'. Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run -3",
      at: "-3",
      "the number of tasks cannot be '-3'. Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run 5 limiter pool",
      at: "pool",
      "'pool' is one word too many. 'run' takes one mechanism. Did you mean: compare 5 limiter pool."
    ),
    Wrong(
      "run limiter pool",
      at: "pool",
      "'pool' is one word too many. 'run' takes one mechanism."
    ),
    Wrong(
      "use limiter pool",
      at: "pool",
      "'pool' is one word too many. 'use' takes one mechanism."
    ),
    Wrong(
      "run 5 limiter limit 3",
      at: "limit",
      "'limit' is one word too many. Did you mean limit=3?"
    ),
    Wrong(
      "run 4 limiter limit",
      at: "limit",
      "'limit' is one word too many. A value is written limit=…"
    ),
    Wrong(
      "run 4 limiter lim",
      at: "lim",
      "'lim' is one word too many. A value is written limit=…"
    ),
    Wrong(
      "run 5 limitr limit 3",
      at: "limitr",
      "no mechanism 'limitr'. Did you mean 'limiter'? \(listsAll)"
    ),
    Wrong(
      "use poool 3",
      at: "poool",
      "no mechanism 'poool'. Did you mean 'pool'? \(listsAll)"
    ),
    Wrong(
      "run twelve",
      at: "twelve",
      "the number of tasks cannot be 'twelve'. Did you mean 12? Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run twelv limiter",
      at: "twelv",
      "the number of tasks cannot be 'twelv'. Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "compare twelve pool limiter",
      at: "twelve",
      "the number of tasks cannot be 'twelve'. Did you mean 12? Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run inf",
      at: "inf",
      "'inf' is not a number of tasks. Write a whole number from 1 to 5000000."
    ),
    Wrong(
      "run 5 limiter limit = 3",
      at: "=",
      "a key, '=' and the value are one word, as in limit=…"
    ),
    Wrong(
      "run 5 limiter limit =3",
      at: "=3",
      "a key, '=' and the value are one word, as in limit=…"
    ),
    Wrong(
      "explore limiter tasks 2",
      at: "tasks",
      "'tasks' is one word too many. Did you mean tasks=2?"
    ),
    Wrong(
      "compare pool limit 4",
      at: "limit",
      "'limit' is one word too many. Did you mean limit=4?"
    ),
    Wrong(
      "compare 5 limiter@lane",
      at: "limiter@lane",
      "no mechanism 'limiter@lane'. Behind '@' there can be lanes, apple-model or linux-model, as in limiter@lanes."
    ),
    Wrong(
      "inversion work=exp:20ms",
      at: "exp:20ms",
      "work= cannot be 'exp:20ms'. Write a duration such as 20ms."
    ),
    Wrong(
      "run 5 cancel=t01@1ms,t01@2ms",
      at: "t01@1ms,t01@2ms",
      "cancel= cannot be 't01@1ms,t01@2ms'. Write a share such as 10%, or tasks and times such as t03@50ms,t07@1s."
    ),
    Wrong("run 5 6", at: "6", "'6' is one word too many. Write: run N [MECH] [key=value]…"),
    Wrong(
      "run 5 limitr",
      at: "limitr",
      "no mechanism 'limitr'. Did you mean 'limiter'? \(listsAll)"
    ),
    Wrong(
      "run 5 specimen-unchecked",
      at: "specimen-unchecked",
      "no mechanism 'specimen-unchecked'. 'mechanisms --specimens' lists all."
    ),
    Wrong(
      "run 5 specimen-lost-wakeup",
      at: "specimen-lost-wakeup",
      "no mechanism 'specimen-lost-wakeup'. Did you mean 'specimen-lost-wake-up'? "
        + "'mechanisms --specimens' lists all."
    ),
    Wrong(
      "explore specimen-check",
      at: "specimen-check",
      "no mechanism 'specimen-check'. Did you mean 'specimen-check-then-act'? "
        + "'mechanisms --specimens' lists all."
    ),
    Wrong(
      "explore lost-wakeup",
      at: "lost-wakeup",
      "no mechanism 'lost-wakeup'. Did you mean 'specimen-lost-wake-up'? "
        + "'mechanisms --specimens' lists all."
    ),
    Wrong("run 5 gcd", at: "gcd", "'gcd' could be gcd-semaphore or gcd-gate. Write more of it."),
    Wrong(
      "run 5 yours",
      at: "yours",
      "what you write in an exercise is explored, not run: 'explore yours', 'step yours'."
    ),
    Wrong(
      "explore yours",
      at: "yours",
      "'yours' is the limiter, pool or account that you write in an exercise, and this page has none. "
        + "'lesson 7' has the first."
    ),
    Wrong(
      "explore yours",
      at: "yours",
      "there is no file of yours yet. 'exercise' starts one.",
      after: toTheExercise
    ),
    Wrong("run 5 xyzzy", at: "xyzzy", "no mechanism 'xyzzy'. \(listsAll)"),
    Wrong(
      "run 5 lmit=3",
      at: "lmit",
      "'run' has no key 'lmit'. Did you mean 'limit'? 'help run' lists them."
    ),
    Wrong("run 5 foo=3", at: "foo", "'run' has no key 'foo'. 'help run' lists them."),
    Wrong("run 5 w=40ms", at: "w", "'w' could be work or workers. Write more of it."),
    Wrong("run 5 limit=3 lim=4", at: "lim", "'limit=' is given twice. Keep one."),
    Wrong(
      "run 5 limit=0",
      at: "0",
      "limit= cannot be '0'. Write a whole number from 1 to 1000000."
    ),
    Wrong("run 5 limit=", at: "", "limit= has no value. Write a whole number from 1 to 1000000."),
    Wrong(
      "run 5 limit=many",
      at: "many",
      "limit= cannot be 'many'. Write a whole number from 1 to 1000000."
    ),
    Wrong(
      "run 5 work=40",
      at: "40",
      "work= cannot be '40'. Write 40ms, exp:40ms, uniform:10ms..70ms or lognormal:40ms,0.5."
    ),
    Wrong(
      "run 1200 limiter limit=1 work=140000m",
      at: "140000m",
      "1200 tasks of 2333 h 20 m each on average are 319 years of work, and a run may have at most 30. "
        + "Give it fewer tasks or a shorter work=."
    ),
    Wrong(
      "run 1200 limiter arrivals=every:140000m",
      at: "every:140000m",
      "1200 tasks, one every 2333 h 20 m, arrive over 319 years, and a run may have at most 30. "
        + "Give it fewer tasks or a shorter arrivals=."
    ),
    Wrong(
      "spawn 100 work=140000m",
      at: "spawn",
      "the run in the background could take 133 years with these tasks, and may take at most 120. "
        + "Spawn fewer or shorter tasks.",
      after: Array(repeating: "spawn 100 limiter limit=1 work=140000m", count: 4)
        .joined(separator: "; ")
    ),
    Wrong(
      "run 5 work=epx:20ms",
      at: "epx:20ms",
      "work= cannot be 'epx:20ms'. Did you mean 'exp:20ms'? Write 40ms, exp:40ms, uniform:10ms..70ms or lognormal:40ms,0.5."
    ),
    Wrong(
      "run 5 kind=blok",
      at: "blok",
      "kind= cannot be 'blok'. Did you mean 'block'? Write suspend, block, spin, download, "
        + "fetch, query or copy."
    ),
    Wrong(
      "run 5 arrivals=togther",
      at: "togther",
      "arrivals= cannot be 'togther'. Did you mean 'together'? Write together, every:10ms or poisson:200/s."
    ),
    Wrong(
      "run 5 cancel=t3",
      at: "t3",
      "cancel= cannot be 't3'. Write a share such as 10%, or tasks and times such as t03@50ms,t07@1s."
    ),
    Wrong("run 5 cancel=t09@1ms", at: "t09@1ms", "there is no task 9: this run has 5 tasks."),
    Wrong("run 5 fail=0.5", at: "0.5", "fail= cannot be '0.5'. Write a share from 0% to 100%."),
    Wrong("run 5 fail=120%", at: "120%", "fail= cannot be '120%'. Write a share from 0% to 100%."),
    Wrong(
      "run 5 priority=hi",
      at: "hi",
      "priority= cannot be 'hi'. Write low, medium, high or mixed."
    ),
    Wrong(
      "run 5 operation-queue depends=chian",
      at: "chian",
      "depends= cannot be 'chian'. Did you mean 'chain'? Write none, chain or first."
    ),
    Wrong(
      "run 5 clock=vitual",
      at: "vitual",
      "clock= cannot be 'vitual'. Did you mean 'virtual'? Write auto, virtual or real."
    ),
    Wrong(
      "run 5 workers=0",
      at: "0",
      "workers= cannot be '0'. Write a whole number from 1 to 10000."
    ),
    Wrong(
      "run 5 seed=-1",
      at: "-1",
      "seed= cannot be '-1'. Write a whole number from 0 to 18446744073709551615."
    ),
    Wrong(
      "explore limiter bound=2000",
      at: "2000",
      "bound= cannot be '2000'. Write a whole number from 0 to 1000."
    ),
    Wrong(
      "run 5 operation-queue relimit=3",
      at: "3",
      "relimit= cannot be '3'. Write limits and times such as 6@100ms,1@1s."
    ),
    Wrong(
      "run 5 operation-queue pause=3ms..1ms",
      at: "3ms..1ms",
      "pause= cannot be '3ms..1ms'. Write a span such as 100ms..300ms."
    ),
    Wrong(
      "run 5 operation-queue clock=virtual",
      at: "virtual",
      "OperationQueue owns its threads, so it runs on the wall clock only. Leave clock= out, take the model of it with platform=linux, or use \(virtual)."
    ),
    Wrong(
      "run 5 operation-queue",
      at: "operation-queue",
      "OperationQueue owns its threads, so it runs on the wall clock only. Write 'set clock auto' first, take the model of it with platform=linux, or use \(virtual).",
      after: "set clock virtual"
    ),
    Wrong(
      "run 5 executor=lanes",
      at: "lanes",
      "executor=lanes has real threads, so it runs on the wall clock. Write 'set clock auto' first.",
      after: "set clock virtual"
    ),
    Wrong(
      "spawn 3 operation-queue",
      at: "operation-queue",
      "limiter limit=3 runs in the background. Spawn more into it, 'wait' for it, or begin another beside it with a new name=.",
      after: "spawn 3 limiter clock=virtual"
    ),
    Wrong(
      "spawn 3 kind=fetch",
      at: "fetch",
      "the run in the background has kind=suspend for all its tasks. Leave kind= out, or 'wait' for the run first.",
      after: "spawn 3 limiter clock=virtual"
    ),
    Wrong(
      "spawn 2 clock=virtual",
      at: "virtual",
      "the run in the background is on the wall clock. Leave clock= out, or 'wait' for the run first.",
      after: "spawn 3 gcd-gate work=1ms"
    ),
    Wrong(
      "spawn 2 gcd-gate clock=virtual",
      at: "virtual",
      "the run in the background is on the wall clock. Leave clock= out, or 'wait' for the run first.",
      after: "spawn 3 gcd-gate work=1ms"
    ),
    Wrong(
      "spawn 2 executor=lanes",
      at: "lanes",
      "the run in the background is not on lanes. Leave executor= out, or 'wait' for the run first.",
      after: "spawn 3 gcd-gate work=1ms"
    ),
    Wrong(
      "spawn 2 clock=auto",
      at: "auto",
      "the run in the background is on the wall clock. Leave clock= out, or 'wait' for the run first.",
      after: "spawn 3 limiter clock=real work=1ms"
    ),
    Wrong(
      "spawn 2 kind=fetch clock=virtual",
      at: "fetch",
      "the run in the background has kind=suspend for all its tasks. Leave kind= out, or 'wait' for the run first.",
      after: "spawn 3 limiter executor=lanes work=1ms"
    ),
    Wrong(
      "spawn 2 platform=linux clock=virtual",
      at: "linux",
      "gcd-gate limit=3 runs in the background. Spawn more into it, 'wait' for it, or begin another beside it with a new name=.",
      after: "spawn 3 gcd-gate work=1ms"
    ),
    Wrong(
      "spawn 2 limit=9",
      at: "9",
      "limiter limit=3 runs in the background. Spawn more into it, 'wait' for it, or begin another beside it with a new name=.",
      after: "spawn 3 limiter"
    ),
    Wrong(
      "run 3 specimen-trap limit=1",
      at: "specimen-trap",
      "specimen-trap ends the program that runs it, or never comes back, so only an exploration may run it, in a program of its own. Write: explore specimen-trap."
    ),
    Wrong(
      "set memory lots",
      at: "lots",
      "memory= cannot be 'lots'. Write a whole number of gigabytes from 1 to 100000, such as 20."
    ),
    Wrong(
      "lab run 12 limiter",
      at: "lab",
      "this is the lab already. Write: run 12 limiter."
    ),
    Wrong(
      "swift run lab -c stats",
      at: "swift",
      "this is the lab already. Write: stats."
    ),
    Wrong(
      "lab pictures",
      at: "lab",
      "this is the lab, which has no command of that name. 'help' lists all."
    ),
    Wrong(
      "run 5 gcd-gate executor=lanes",
      at: "lanes",
      "gcd-gate has threads of its own, so no executor runs its tasks. Leave executor= out, or use \(virtual)."
    ),
    Wrong(
      "run 5 limiter clock=virtual executor=lanes",
      at: "lanes",
      "executor=lanes has real threads, so it runs on the wall clock. Leave clock= out."
    ),
    Wrong(
      "run 5 limiter platform=apple",
      at: "apple",
      "limiter has no model. platform= is for operation-queue, gcd-semaphore and gcd-gate."
    ),
    Wrong(
      "compare 5 main-actor-queue platform=apple",
      at: "apple",
      "main-actor-queue has no model. platform= is for operation-queue, gcd-semaphore and gcd-gate."
    ),
    Wrong(
      "run 5 gcd-gate platform=windows",
      at: "windows",
      "platform= cannot be 'windows'. Write apple or linux."
    ),
    Wrong(
      "run 5 gcd-gate platform=linux clock=real",
      at: "real",
      "gcd-gate@linux-model is a model, which runs in virtual time and does no real work. Leave clock= out, or run the real one: leave platform= out."
    ),
    Wrong(
      "explore gcd-gate@apple-model",
      at: "gcd-gate@apple-model",
      "gcd-gate@apple-model is a model of threads, with no code of its own to explore. Use 'run'."
    ),
    Wrong(
      "compare 5 limiter@lanes executor=global",
      at: "limiter@lanes",
      "executor= is for all mechanisms. Leave it out, or @lanes."
    ),
    Wrong(
      "compare 5 gcd-gate@lanes",
      at: "gcd-gate@lanes",
      "gcd-gate has threads of its own, so no executor runs its tasks. Leave @lanes out."
    ),
    Wrong(
      "run 5 limiter executor=rails",
      at: "rails",
      "executor= cannot be 'rails'. Write global or lanes."
    ),
    Wrong(
      "run 5 task-group relimit=3@5ms",
      at: "3@5ms",
      "task-group cannot change its limit while it runs: its loop was given the number when it began. Use operation-queue, limiter or pool."
    ),
    Wrong(
      "run 5 pool pause=1ms..2ms",
      at: "1ms..2ms",
      "pool cannot be suspended: an element that comes back goes to the first in line at once. Use operation-queue."
    ),
    Wrong(
      "run 5 pool depends=chain",
      at: "chain",
      "pool knows no dependencies between tasks. Use operation-queue."
    ),
    Wrong("timeline", at: "timeline", "there is no run to show yet. Try: run 12 limiter limit=3."),
    Wrong(
      "timeline wokers",
      at: "wokers",
      "the view cannot be 'wokers'. Did you mean 'workers'? Write tasks or workers.",
      after: "run 3"
    ),
    Wrong("why", at: "why", "the task is missing. Write: why tNN [run=].", after: "run 3"),
    Wrong("why x", at: "x", "the task cannot be 'x'. Write its name, such as t03.", after: "run 3"),
    Wrong("why t9", at: "t9", "there is no task 9: this run has 3 tasks.", after: "run 3"),
    Wrong("events t9", at: "t9", "there is no task 9: this run has 3 tasks.", after: "run 3"),
    Wrong("stats now", at: "now", "'now' is one word too many. Write: stats [run=]."),
    Wrong(
      "diff",
      at: "diff",
      "'diff' needs two runs. Try: run 12 limiter limit=3; run 12 limiter limit=4; diff."
    ),
    Wrong("diff=3", at: "diff=3", "no command 'diff=3'. Did you mean 'diff'? 'help' lists all."),
    Wrong("show x=3", at: "x", "'show' takes no keys."),
    Wrong("stats of 7", at: "7", "there is no run '7'. 'runs' lists them.", after: "run 3"),
    Wrong(
      "name 1 2nd",
      at: "2nd",
      "a run cannot be called '2nd'. Write a letter, then letters, digits, - or _.",
      after: "run 3"
    ),
    Wrong("!!", at: "!!", "there is no line to repeat yet."),
    Wrong(
      "expect",
      at: "expect",
      "what to expect is missing. Write: expect FIGURE = VALUE…",
      after: "run 3"
    ),
    Wrong(
      "expect makspan = 3",
      at: "makspan",
      "there is no figure 'makspan'. Did you mean 'makespan'? 'help figures' lists all.",
      after: "run 3"
    ),
    Wrong(
      "expect makespan",
      at: "makespan",
      "'makespan' compares nothing; write a figure, one of = != < <= > >=, and a value, as in makespan = 400ms.",
      after: "run 3"
    ),
    Wrong(
      "expect makespan = soon",
      at: "soon",
      "there is no figure 'soon'. 'help figures' lists all.",
      after: "run 3"
    ),
    Wrong(
      "expect waiting(t09) = 5ms",
      at: "waiting(t09)",
      "there is no task t09: this run has 3 tasks.",
      after: "run 3"
    ),
    Wrong(
      "expect waiting(t01) <= waiting(t09)",
      at: "waiting(t09)",
      "there is no task t09: this run has 3 tasks.",
      after: "run 3"
    ),
    Wrong(
      "expect waiting(soon) = 5ms",
      at: "waiting(soon)",
      "'soon' is no task. Write its name, such as waiting(t03).",
      after: "run 3"
    ),
    Wrong(
      "expect makespan(t01) = 5ms",
      at: "makespan(t01)",
      "makespan is a figure of the whole run. Leave (t01) out.",
      after: "run 3"
    ),
    Wrong(
      "export",
      at: "export",
      "the file is missing. Write: export FILE [force] [format=] [run=].",
      after: "run 3"
    ),
    Wrong(
      "export picture",
      at: "picture",
      "the ending of 'picture' says no format. End it in .json, .svg, .html, .csv or .jsonl, or give format=.",
      after: "run 3"
    ),
    Wrong(
      "export picture.svg format=png",
      at: "png",
      "format= cannot be 'png'. Write chrome, svg, html, csv or jsonl.",
      after: "run 3"
    ),
    Wrong(
      "export picture.svg fore",
      at: "fore",
      "the last word cannot be 'fore'. Write force, or nothing.",
      after: "run 3"
    ),
    Wrong(
      "export SCRATCH/there.svg",
      at: "SCRATCH/there.svg",
      "'SCRATCH/there.svg' exists. Add 'force' to replace it.",
      after: "run 3"
    ),
    Wrong(
      "export both.svg",
      at: "both.svg",
      "'export' writes what was shown last, a comparison of limiter and pool, and there is no SVG picture of that. Write .html, .csv or .jsonl, or name a run, as in: export both.svg of limiter.",
      after: "run 3; compare 3 limiter pool"
    ),
    Wrong(
      "export /nowhere/run.svg",
      at: "/nowhere/run.svg",
      "'/nowhere/run.svg' cannot be written: no such file or directory.",
      after: "run 3"
    ),
    Wrong(
      "run 12 limiter &",
      at: "&",
      "'&' is for other shells. Write: spawn 12 limiter."
    ),
    Wrong("run 12&", at: "&", "'&' is for other shells. Write: spawn 12."),
    Wrong(
      "compare 5 pool &",
      at: "&",
      "'&' is for other shells. Only a run goes on in the background, and 'spawn' begins it."
    ),
    Wrong(
      "kill t03",
      at: "kill",
      "no command 'kill'. 'cancel t03' cancels a task of the run in the background, 'cancel all' every one."
    ),
    Wrong(
      "add 3",
      at: "add",
      "no command 'add'. 'spawn 3' adds three to the run in the background, the key a in 'watch' one more."
    ),
    Wrong(
      "play",
      at: "play",
      "no command 'play'. 'watch' plays the last run, 'watch 3' that of this number."
    ),
    Wrong(
      "jobs",
      at: "jobs",
      "no command 'jobs'. 'status all' tells of each run in the background, 'runs' lists those that ended too."
    ),
    Wrong(
      "fg",
      at: "fg",
      "no command 'fg'. 'watch' shows the run in the background, 'wait' waits for it."
    ),
    Wrong("bg", at: "bg", "no command 'bg'. 'spawn' begins a run in the background."),
    Wrong("race", at: "race", "the number of tasks is missing. Write: race N [MECH]… [key=value]…"),
    Wrong("race 5 pool pool", at: "pool", "pool is named twice. Name each once."),
    Wrong(
      "race 5 limiter poool",
      at: "poool",
      "no mechanism 'poool'. Did you mean 'pool'? \(listsAll)"
    ),
    Wrong(
      "race 5 pool main-actor-queue clock=virtual",
      at: "virtual",
      "the main actor runs on the main thread, so main-actor-queue runs on the wall clock only. Leave clock= out, or use \(virtual)."
    ),
    Wrong(
      "race 5 platform=linux clock=real",
      at: "real",
      "operation-queue@linux-model is a model, which runs in virtual time and does no real work. Leave clock= out, or run the real one: use operation-queue."
    ),
    Wrong(
      "repeat",
      at: "repeat",
      "the number of times is missing. Write: repeat N COMMAND… [seeds=]."
    ),
    Wrong(
      "repeat run 12",
      at: "run",
      "the number of times cannot be 'run'. Write a whole number from 2 to 1000."
    ),
    Wrong(
      "repeat 1 run 12",
      at: "1",
      "the number of times cannot be '1'. Write a whole number from 2 to 1000."
    ),
    Wrong(
      "repeat 5",
      at: "repeat",
      "what to repeat is missing. Write: repeat N COMMAND… [seeds=]."
    ),
    Wrong(
      "repeat 5 explore limiter",
      at: "explore",
      "'explore' cannot be repeated: only a run has these figures. Write: repeat 5 run N [MECH] [key=value]…"
    ),
    Wrong(
      "repeat 5 runn 12",
      at: "runn",
      "no command 'runn'. Did you mean 'run'? 'help' lists all."
    ),
    Wrong(
      "repeat 5 run 12 limitr",
      at: "limitr",
      "no mechanism 'limitr'. Did you mean 'limiter'? \(listsAll)"
    ),
    Wrong(
      "repeat 5 run",
      at: "run",
      "the number of tasks is missing. Write: run N [MECH] [key=value]…"
    ),
    Wrong(
      "repeat 5 run 12 name=a",
      at: "a",
      "one name cannot be that of 5 runs. Leave name= out, and 'name' one of them afterwards."
    ),
    Wrong(
      "repeat 5 seeds=all run 12",
      at: "all",
      "seeds= cannot be 'all'. Write follow or same."
    ),
    Wrong(
      "repeat 5 seeds=same run 12 seeds=same",
      at: "seeds",
      "'seeds=' is given twice. Keep one."
    ),
    Wrong(
      "compare limiter",
      at: "compare",
      "the number of tasks is missing. Write: compare N [MECH]… [key=value]…"
    ),
    Wrong(
      "compare limiter x",
      at: "x",
      "'x' is neither a number of tasks nor a mechanism. Write: compare N [MECH]… [key=value]…"
    ),
    Wrong("compare 5 limiter limiter", at: "limiter", "limiter is named twice. Name each once."),
    Wrong(
      "compare 5 limiter clock=virtual gcd-gate",
      at: "virtual",
      "GCD owns its threads, so gcd-gate runs on the wall clock only. Leave clock= out, take the model of it with platform=linux, or use \(virtual)."
    ),
    Wrong("status", at: "status", "nothing runs in the background. Try: spawn 12 limiter limit=3."),
    Wrong(
      "cancel t01",
      at: "cancel",
      "nothing runs in the background. Try: spawn 12 limiter limit=3."
    ),
    Wrong(
      "spawn 2 kind=spin",
      at: "spin",
      "the run in the background has kind=suspend for all its tasks. Leave kind= out, or 'wait' for the run first.",
      after: "spawn 3"
    ),
    Wrong(
      "spawn 2 name=all",
      at: "all",
      "'all' means every run in the background. Choose another name.",
      after: "spawn 3"
    ),
    Wrong(
      "wait c",
      at: "c",
      "no run 'c' goes on in the background. There: pool and a.",
      after: "spawn 3 pool; spawn 3 name=a"
    ),
    Wrong(
      "limit 3 aa",
      at: "aa",
      "no run 'aa' goes on in the background. Did you mean 'a'? There: a.",
      after: "spawn 3 name=a"
    ),
    Wrong(
      "status a of b",
      at: "a",
      "a run is named twice. Keep 'b'.",
      after: "spawn 3 name=a; spawn 3 name=b"
    ),
    Wrong(
      "spawn 2 name=2nd",
      at: "2nd",
      "name= cannot be '2nd'. Write a letter, then letters, digits, - or _."
    ),
    Wrong(
      "spawn 2 priority=mixed",
      at: "mixed",
      "the run in the background has priority=high for all its tasks. Leave priority= out, or 'wait' for the run first.",
      after: "spawn 3 priority=high"
    ),
    Wrong(
      "spawn 2 depends=none",
      at: "none",
      "the run in the background has depends=chain for all its tasks. Leave depends= out, or 'wait' for the run first.",
      after: "spawn 3 operation-queue depends=chain work=60ms"
    ),
    Wrong(
      "cancel",
      at: "cancel",
      "the task, or 'all', is missing. Write: cancel tNN… [RUN] [run=].",
      after: "spawn 3"
    ),
    Wrong(
      "cancel x",
      at: "x",
      "'x' is no task. Write its name, such as t03, or all.",
      after: "spawn 3"
    ),
    Wrong("cancel t9", at: "t9", "there is no task 9: this run has 3 tasks.", after: "spawn 3"),
    Wrong(
      "spawn 4 cancel=t03@10ms",
      at: "t03@10ms",
      "there is no task 3 among the new ones: they have the numbers 7 to 10.",
      after: "spawn 6 limiter limit=1"
    ),
    Wrong(
      "spawn 1 cancel=t08@10ms",
      at: "t08@10ms",
      "there is no task 8 among the new ones: they have the numbers 7 to 7.",
      after: "spawn 6 limiter limit=1"
    ),
    Wrong(
      "spawn 2 pool",
      at: "pool",
      "limiter limit=3 runs in the background. Spawn more into it, 'wait' for it, or begin another beside it with a new name=.",
      after: "spawn 3"
    ),
    Wrong(
      "spawn 2 workers=3",
      at: "3",
      "the run in the background has 2 workers. Leave workers= out, or 'wait' for the run first.",
      after: "spawn 3 workers=2"
    ),
    Wrong(
      "spawn 2 workers=3",
      at: "3",
      "the run in the background has 2 workers. Leave workers= out, or 'wait' for the run first.",
      after: "spawn 3 executor=lanes workers=2"
    ),
    Wrong(
      "spawn 2 workers=3",
      at: "3",
      "the run in the background has a worker for each processor. Leave workers= out, or 'wait' for the run first.",
      after: "spawn 3 executor=lanes"
    ),
    Wrong(
      "spawn 2 relimit=3@1ms",
      at: "spawn",
      "relimit= and pause= belong to the run's beginning. Use 'limit', 'suspend' and 'resume' now.",
      after: "spawn 3"
    ),
    Wrong(
      "advance",
      at: "advance",
      "the time is missing. Write: advance D [RUN] [run=].",
      after: "spawn 3"
    ),
    Wrong(
      "advance soon",
      at: "soon",
      "'soon' is no duration of at most 100 days. Write 250us, 40ms, 1.5s or 2m.",
      after: "spawn 3"
    ),
    Wrong(
      "advance 5ms",
      at: "advance",
      "main-actor-queue runs on the wall clock, which advances by itself. 'wait' waits for the tasks.",
      after: "spawn 3 main-actor-queue work=60ms"
    ),
    Wrong(
      "limit",
      at: "limit",
      "the limit is missing. Write: limit K [RUN] [run=].",
      after: "spawn 3"
    ),
    Wrong(
      "limit none",
      at: "none",
      "the limit cannot be 'none'. Write a whole number from 1 to 1000000.",
      after: "spawn 3"
    ),
    Wrong(
      "limit 3",
      at: "limit",
      "task-group cannot change its limit while it runs: its loop was given the number when it began. Use operation-queue, limiter or pool.",
      after: "spawn 3 task-group"
    ),
    Wrong(
      "suspend; wait",
      at: "wait",
      "operation-queue is suspended, so those that wait would never end. 'resume' it first.",
      after: "spawn 3 operation-queue limit=1 work=10m"
    ),
    Wrong(
      "suspend",
      at: "suspend",
      "limiter cannot be suspended: a free permit goes to the first in line at once. Use operation-queue.",
      after: "spawn 3"
    ),
    Wrong(
      "use",
      at: "use",
      "the mechanism is missing. Write: use MECH [limit=]. 'mechanisms' lists all."
    ),
    Wrong(
      "use poool",
      at: "poool",
      "no mechanism 'poool'. Did you mean 'pool'? \(listsAll)"
    ),
    Wrong("set limit", at: "limit", "limit has no value. Write a whole number from 1 to 1000000."),
    Wrong(
      "set limt 4",
      at: "limt",
      "'set' has no key 'limt'. Did you mean 'limit'? 'help set' lists them."
    ),
    Wrong(
      "set limit none",
      at: "none",
      "limit= cannot be 'none'. Write a whole number from 1 to 1000000."
    ),
    Wrong("set describe maybe", at: "maybe", "describe= cannot be 'maybe'. Write on or off."),
    Wrong(
      "mechanisms all",
      at: "all",
      "the option cannot be 'all'. Write --specimens, or nothing."
    ),
    Wrong(
      "explain",
      at: "explain",
      "the mechanism is missing. Write: explain MECH. 'mechanisms' lists all."
    ),
    Wrong("source", at: "source", "the file is missing. Write: source FILE."),
    Wrong(
      "source nowhere.lab",
      at: "nowhere.lab",
      "'nowhere.lab' cannot be read: no such file or directory."
    ),
    Wrong(
      "history some",
      at: "some",
      "how many cannot be 'some'. Write a whole number from 1 to 1000000."
    ),
    Wrong(
      "explore",
      at: "explore",
      "the mechanism is missing. Write: explore MECH [all] [key=value]…. 'mechanisms' lists all."
    ),
    Wrong(
      "explore limiter everything",
      at: "everything",
      "'everything' is no option of explore; 'all' goes on behind the first violation."
    ),
    Wrong(
      "explore gcd-gate",
      at: "gcd-gate",
      "GCD owns its threads, so gcd-gate runs on the wall clock only. Only virtual time can be explored: use \(virtual)."
    ),
    Wrong(
      "explore limiter strategy=al",
      at: "al",
      "strategy= cannot be 'al'. Write exhaustive, random or pct."
    ),
    Wrong(
      "explore limiter tasks=0",
      at: "0",
      "tasks= cannot be '0'. Write a whole number from 1 to 60."
    ),
    Wrong("replay", at: "replay", "the schedule is missing. Write: replay SCHEDULE."),
    Wrong(
      "replay nonsense",
      at: "nonsense",
      "'nonsense' is not a schedule; one looks like v3:SCENARIO:8c1f03d2:1,2,c2 and is printed by explore."
    ),
    Wrong(
      "9",
      at: "9",
      "there is no choice 9. Choose from 1 to 4.",
      after: "step limiter tasks=2 limit=1"
    ),
    Wrong("back x", at: "x", "'x' is no number of steps.", after: "step limiter tasks=2 limit=1"),
    Wrong(
      "goto",
      at: "goto",
      "goto needs a step's number or a fork's name.",
      after: "step limiter tasks=2 limit=1"
    ),
    Wrong(
      "goto 99",
      at: "99",
      "there are only 0 steps so far.",
      after: "step limiter tasks=2 limit=1"
    ),
    Wrong(
      "fork",
      at: "fork",
      "fork needs a name for the position. Write: fork NAME.",
      after: "step limiter tasks=2 limit=1"
    ),
    Wrong("fork a b", at: "b", "'b' is one word too many.", after: "step limiter tasks=2 limit=1"),
    Wrong(
      "goto b",
      at: "b",
      "'b' is no number of steps or a fork: a.",
      after: "step limiter tasks=2 limit=1; fork a"
    ),
    Wrong(
      "1",
      at: "1",
      "nothing can happen any more. 'back' takes a step back, 'done' ends the game.",
      after: "step limiter tasks=1 limit=1; auto"
    ),
    Wrong("starve kind=sleep", at: "sleep", "kind= cannot be 'sleep'. Write block or suspend."),
    Wrong("word xyzzy", at: "xyzzy", "'xyzzy' is not in the glossary. 'word' lists what is."),
    Wrong("lesson 99", at: "99", "no lesson '99'. There are 1 to LESSONS: 'lessons' lists them."),
    Wrong(
      "check",
      at: "check",
      "no lesson is under way. 'lesson 1' begins the first, 'lessons' lists all."
    ),
    Wrong(
      "leave",
      at: "leave",
      "no lesson is under way. 'lesson 1' begins the first, 'lessons' lists all."
    ),
    Wrong(
      "exercise",
      at: "exercise",
      "this lesson has no exercise in Swift. 'next' goes on.",
      after: "lesson 1"
    ),
    Wrong(
      "exercise grade",
      at: "exercise",
      "there is no file to grade yet. 'exercise' starts one.",
      after: toTheExercise
    ),
    Wrong(
      "exercise compare",
      at: "exercise",
      "this comes once the step is passed, or given up. 'exercise grade', then 'check'.",
      after: toTheExercise
    ),
    Wrong(
      "exercise compare",
      at: "exercise",
      "there is no file of yours to compare.",
      after: toTheExercise + "; solution; solution"
    ),
    Wrong(
      "exercise take /tmp/mine",
      at: "exercise",
      "only the limiters of lessons 9 and 16 are made a package of.",
      after: toTheExercise
    ),
    Wrong(
      "exercise again twice",
      at: "twice",
      "'twice' is one word too many: 'grade' takes a file, 'take' a folder.",
      after: toTheExercise
    ),
    Wrong(
      "exercise grade /nowhere/Answer.swift",
      at: "/nowhere/Answer.swift",
      "'/nowhere/Answer.swift' cannot be read: no such file or directory.",
      after: toTheExercise
    ),
    Wrong(
      "exercise grade puzzle",
      at: "exercise",
      "this comes once the step is passed, or given up. 'exercise grade', then 'check'.",
      after: toTheExercise
    ),
    Wrong(
      "exercise reveal",
      at: "exercise",
      "there is no puzzle to reveal yet. 'exercise puzzle'.",
      after: toTheExercise + "; solution; solution"
    ),
    Wrong(
      "export comparison.html",
      at: "export",
      "there is no comparison to export, or it was too large to keep. Try: compare 12 limiter pool; export comparison.html."
    ),
    Wrong(
      "export lesson.html",
      at: "export",
      "no lesson has been begun. Try: lesson 1."
    ),
    Wrong(
      "export game.html",
      at: "export",
      "no schedule has been told yet. Try: explore specimen-lost-wake-up; export game.html."
    ),
    Wrong(
      "puzzle yesterday",
      at: "yesterday",
      "the day cannot be 'yesterday'. Write today, or nothing; seed= has other days."
    ),
    Wrong(
      "exercise now",
      at: "now",
      "what to do cannot be 'now'. Write start, grade, watch, again, compare, puzzle, reveal or take.",
      after: toTheExercise
    ),
    Wrong(
      "inversion remedy=hope",
      at: "hope",
      "remedy= cannot be 'hope'. Write none, ceiling, inherit or short."
    ),
    Wrong(
      "run 3 | ",
      at: "|",
      "behind '|' comes a command of your shell, as in: events | grep t03."
    ),
    Wrong(
      "run 3 || stats",
      at: "||",
      "'||' is for other shells. A line ends at the first command that fails; '|' gives what a command says to a program, as in: events | grep t03."
    ),
    Wrong(
      "| cat",
      at: "cat",
      "in front of '|' comes a command of the lab, as in: events | grep t03."
    ),
    Wrong(
      "run 3 | echo 'a",
      at: "| echo 'a",
      "behind '|' a quote is never closed. Add ' at the end."
    ),
    Wrong(
      "run 3 && stats",
      at: "&&",
      "'&&' is for other shells. Write ';': a line ends at the first command that fails."
    ),
    Wrong(
      "source < file",
      at: "<",
      "'<' is for other shells. 'source FILE' carries out a file's lines."
    ),
    Wrong(
      "open",
      at: "open",
      "there is no page of what was shown last, an exploration of limiter. 'export what.jsonl' writes it.",
      after: "explore limiter tasks=2 limit=1 inside=no"
    ),
    Wrong("stats >", at: ">", "behind '>' comes the name of a file, as in: stats > stats.txt."),
    Wrong("run 3 > a.svg b.svg", at: "b.svg", "'b.svg' comes after the file, which must be last."),
    Wrong(
      "run 3 > a.txt | cat",
      at: "cat",
      "what goes to a file goes to no program too. Keep one of the two."
    ),
    Wrong(
      "run 3 >> SCRATCH/more.svg",
      at: "SCRATCH/more.svg",
      "'>>' cannot add to a file in this format. Write '>', or another file."
    ),
    Wrong(
      "mechanisms > SCRATCH/all.svg",
      at: "SCRATCH/all.svg",
      "there is no SVG picture of what 'mechanisms' shows. End the file's name in .txt for its words, or in .jsonl."
    ),
    Wrong(
      "run 3 > SCRATCH/no/a.svg",
      at: "SCRATCH/no/a.svg",
      "'SCRATCH/no/a.svg' cannot be written: there is no folder SCRATCH/no."
    ),
    Wrong("stats | false", at: "false", "'false' ended with status 1.", after: "run 3"),
    Wrong(
      "stats | kill -9 $$",
      at: "kill -9 $$",
      "'kill -9 $$' was ended by signal 9.",
      after: "run 3"
    ),
    Wrong(
      "barrier",
      at: "barrier",
      "a barrier is a block, which ends when it returns: it has no part in kind=suspend. Begin a run with kind=block.",
      after: "spawn 2 operation-queue kind=suspend work=1ms"
    ),
    Wrong(
      "barrier",
      at: "barrier",
      "limiter knows no barriers: a free permit goes to the first in line at once; run(weight:) with the whole limit has it to itself. Use operation-queue, gcd-semaphore or gcd-gate.",
      after: "spawn 2 limiter"
    ),
    Wrong(
      "notify",
      at: "notify",
      "pool tells nobody when all is done: each task is awaited by itself, and nobody is told of all; shutdown() waits for them. Use operation-queue, gcd-semaphore or gcd-gate.",
      after: "spawn 2 pool"
    ),
    Wrong(
      "notify",
      at: "notify",
      "with kind=copy the mechanism cannot say when all has ended: a task comes to it late, when a cache, say, has been asked. 'wait' says when all has ended.",
      after: "spawn 2 gcd-gate kind=copy work=1ms"
    ),
    Wrong("reset 99", at: "99", "no lesson '99'. 'lessons' lists them."),
    Wrong("reset", at: "reset", "no lesson is under way. Write: reset N, or reset all."),
  ]

  /// How many lessons there are, counted once.
  private static let lessons = Result {
    try Classroom(folder: packageFolder + "/Lessons").course().lessons.count
  }

  /// To the step of lesson 7 that has one in Swift, giving up what comes before.
  private static let toTheExercise =
    "lesson 7; solution; solution; next; next; next; solution; solution; next"

  @Test(arguments: catalogue)
  func `a wrong line is told, with carets under the wrong word`(_ wrong: Wrong) async throws {
    let scratch = try ScratchFolder()
    _ = try scratch.file("there.svg", "")
    let lab = Lab(
      display: Display(width: 400),
      classroom: Classroom(folder: packageFolder + "/Lessons")
    )
    let lessons = try Self.lessons.get()
    let placed = { (text: String) in
      text.replacing("SCRATCH", with: scratch.path).replacing("LESSONS", with: String(lessons))
    }
    if let before = wrong.before { await lab.run(before) }
    let line = placed(wrong.line)
    let complaints = await lab.complaints(about: line)
    let complaint = try #require(complaints.first)
    let carets = complaint.prefix { $0 == " " || $0 == "^" }
    #expect(complaint.dropFirst(carets.count) == placed(wrong.message))
    let start = carets.prefix { $0 == " " }.count - Lab.prompt.count
    let marked = line.dropFirst(start).prefix(carets.count { $0 == "^" })
    // Where there is no word, one caret shows its place.
    let word = placed(wrong.word)
    #expect(word.isEmpty ? start == line.count && carets.hasSuffix("^ ") : marked == word)
    await lab.session.leave()
  }

  @Test
  func `a wrong line in a file is told with the file and the line`() async throws {
    let scratch = try ScratchFolder()
    let bad = try scratch.file("bad.lab", "run 2\nrunn\nrun 3\n")
    let lab = Lab()
    #expect(await lab.outcome(of: "source \(bad); show") == .failed)
    #expect(
      lab.output.takeComplaints()
        == ["\(bad):2: no command 'runn'. Did you mean 'run'? 'help' lists all."]
    )
    #expect(!lab.output.takeText().contains("mechanism  limiter"), "what follows is left out")
  }

  @Test
  func `files that source each other are stopped, and the depth is told once`() async throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("self.lab", "source \(scratch.path)/self.lab\n")
    let lab = Lab()
    #expect(await lab.outcome(of: "source \(file)") == .failed)
    #expect(
      lab.output.takeComplaints()
        == [
          "\(file):1: Files may call each other with 'source' at most 16 deep. "
            + "Does this file call itself?"
        ]
    )
    // The depth is counted down again: a file may be sourced any number of times.
    let plain = try scratch.file("plain.lab", "show\n")
    for _ in 0..<40 { #expect(await lab.outcome(of: "source \(plain)") == .done) }
  }

  @Test
  func `lessons need their folder, and a second process needs the program`() async {
    let lab = Lab(display: Display(width: 200))
    #expect(
      await lab.complaints(about: "lessons") == [
        "no folder 'Lessons' found from here upwards. Start the lab in the package's folder, or "
          + "with --lessons DIR."
      ]
    )
    #expect(
      await lab.complaints(about: "starve")
        == ["this needs the program 'lab' itself, to start it a second time."]
    )
    let useless = Lab(classroom: Classroom(program: "/bin/true"))
    let complaints = await useless.complaints(about: "starve")
    #expect(complaints.first?.hasPrefix("the second process did not tell what it saw: ") == true)
  }

  @Test
  func `a lesson says what kind of guess it wants`() async {
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("lesson 1")
    let complaints = await lab.complaints(about: "predict never")
    #expect(complaints.first?.contains("'never' is not a guess. Write ") == true, "\(complaints)")
  }

  @Test(arguments: ["3 ducks", "about three DUCKS!; run 4"])
  func `a word in which nothing is counted is no guess, and is pointed at`(_ line: String) async {
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("lesson 1")
    let complaints = await lab.complaints(about: line).joined(separator: "\n")
    let column = Lab.prompt.count + (line.hasPrefix("about") ? 12 : 2)
    let carets = String(repeating: " ", count: column) + "^^^^^ "
    let message = "nothing is counted in 'ducks' here. Did you mean 3?"
    #expect(complaints.hasPrefix(carets + message), "\(complaints)")
  }

  @Test
  func `a step of a lesson that asks nothing says so`() async {
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("lesson 1")
    for _ in 0..<20 {
      let complaints = await lab.complaints(about: "predict 300ms")
      if complaints == ["this step asks for no guess. 'check', 'hint' or 'next'."] { return }
      await lab.run("solution; solution; next")
    }
    Issue.record("no step of lesson 1 goes without a guess")
  }

  // MARK: The layout

  @Test
  func `in a narrow window the message goes below the carets`() async {
    let lab = Lab(display: Display(width: 40))
    #expect(
      await lab.complaints(about: "run 5 limitr") == [
        """
                      ^^^^^^
        no mechanism 'limitr'. Did you mean
        'limiter'? 'mechanisms' lists all ten.
        """
      ]
    )
  }

  @Test
  func `carets stand under the word, though wide characters stand before it or in it`() async {
    let lab = Lab(display: Display(width: 200))
    let (prompt, message) = (
      String(repeating: " ", count: 8), "Write a whole number from 1 to 1000000."
    )
    #expect(
      await lab.complaints(about: "run 5 limiter limit=漢字").first
        == prompt + String(repeating: " ", count: 20) + "^^^^ limit= cannot be '漢字'. " + message
    )
    #expect(
      await lab.complaints(about: "predict 漢字 e\u{301}; run 5 limit=x").first
        == prompt
        + "^^^^^^^ no lesson is under way. 'lesson 1' begins the first, 'lessons' lists all."
    )
    #expect(
      await lab.complaints(about: "source \"漢字\" e\u{301}; show").first
        == prompt + String(repeating: " ", count: 14)
        + "^ 'e\u{301}' is one word too many. Write: source FILE."
    )
  }

  @Test
  func `a line that wraps around has no carets`() async {
    let lab = Lab(display: Display(width: 40))
    let complaints = await lab.complaints(about: "run 5 limiter limit=3 work=100ms sed=7 clok=real")
    #expect(complaints == ["'run' has no key 'sed'. Did you mean\n'seed'? 'help run' lists them."])
  }

  // MARK: Whether the catalogue is whole

  @Test
  func `every message of the shell stands in the catalogue`() throws {
    let told =
      Self.catalogue.map(\.message) + [
        // Told by the tests above.
        "Files may call each other with 'source' at most 16 deep. Does this file call itself?",
        "no folder 'Lessons' found from here upwards. Start the lab in the package's folder, or ",
        "this needs the program 'lab' itself, to start it a second time",
        "the second process did not tell what it saw: ", "'never' is not a guess. Write ",
        "this step asks for no guess. 'check', 'hint' or 'next'",
        "nothing is counted in 'ducks' here. Did you mean 3?",
        // Told by the tests of the lesson commands.
        "the starting file cannot be written to the place: ",
        "a script must name what to forget. Write: reset N, or reset all",
        // Told by the tests of export.
        "with --json there are only JSON Lines on standard output. Leave format= out, or name a file",
        // Told by the tests of large runs.
        "5,000,000 tasks need about 20 GB of memory, and a script may use 1 GB. Give it fewer tasks, or write "
          + "before it: set memory 20",
      ]
    var missing: [String] = []
    for message in try Self.messagesInSources() where !message.pieces.isEmpty {
      if !told.contains(where: { message.fits($0) }) { missing.append("\(message)") }
    }
    #expect(missing == [], "add a wrong line for each of these to the catalogue")
  }

  /// The fixed parts of a message in the sources, between what is put in.
  struct Message: CustomStringConvertible {
    var file: String
    var pieces: [String]

    var description: String { "\(file): \(pieces.joined(separator: "…"))" }

    func fits(_ text: String) -> Bool {
      var rest = text[...]
      for piece in pieces {
        guard let range = rest.firstRange(of: piece) else { return false }
        rest = rest[range.upperBound...]
      }
      return true
    }
  }

  /// The first string after each `ShellError(` in the shell's sources.
  static func messagesInSources() throws -> [Message] {
    let folder = packageFolder + "/Sources/Shell"
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    var messages: [Message] = []
    for case let file as String in files where file.hasSuffix(".swift") {
      // An exercise is built by the compiler: what can go wrong there is told where that is tested.
      if file.contains("Exercise") { continue }
      let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
      for part in text.split(separator: "ShellError(").dropFirst() {
        // A message that was made elsewhere is told elsewhere.
        guard let quote = part.firstIndex(of: "\""),
          !part[..<quote].contains(where: { $0 == ")" || $0 == ":" })
        else { continue }
        messages.append(Message(file: file, pieces: pieces(of: part[quote...].dropFirst())))
      }
    }
    #expect(messages.count > 30, "the sources are not where they were")
    return messages
  }

  /// The fixed parts of a string literal that begins here.
  private static func pieces(of literal: Substring) -> [String] {
    var pieces: [String] = []
    var piece = ""
    var depth = 0
    var index = literal.startIndex
    while index < literal.endIndex {
      let character = literal[index]
      if depth > 0 {
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
      } else if character == "\"" {
        break
      } else if character == "\\" {
        index = literal.index(after: index)
        if literal[index] == "(" {
          pieces.append(piece)
          piece = ""
          depth = 1
        } else {
          piece.append(literal[index])
        }
      } else {
        piece.append(character)
      }
      index = literal.index(after: index)
    }
    return (pieces + [piece]).filter { !$0.isEmpty }
  }
}
