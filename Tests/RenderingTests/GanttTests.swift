import Experiments
import Rendering
import Testing
import Tracing
import Workloads

@Suite
struct GanttTests {
  let twelve = SampleRun.together(12, limit: 3, work: 100 * millisecond).run()

  @Test
  func `twelve tasks through three permits are four rounds`() {
    #expect(
      Gantt.tasks(twelve, TextFormat(width: 64, height: 11)) == """
                0         100       200       300       400 ms
          t01   ██████████|
          t02   ██████████|
          t03   ██████████|
          t04   ··········██████████|
          t05   ··········██████████|
          …     (6 more like these)
          t12   ······························██████████|
        running 3333333333333333333333333333333333333333
        waiting ██████████▆▆▆▆▆▆▆▆▆▆▃▃▃▃▃▃▃▃▃▃  at most 9

        """
    )
  }
}
