import Experiments
import Foundation
import Mechanisms
import Rendering
import TestSupport
import Testing

@Suite(.watched)
struct RunJSONLinesTests {
  @Test
  func `a run of two tasks is these lines, byte for byte`() {
    let run = SampleRun.together(2, limit: 1, work: 100 * millisecond).run()
    #expect(
      RunJSONLines.text(run) == """
        {"schema":"lab-run/1","mechanism":"limiter","limit":1,"tasks":2,"seed":1,"clock":"virtual","unit":"ns","workers":1}
        {"t":0,"task":"t01","event":"arrived","worker":"w1","kind":"suspend","service_ns":100000000}
        {"t":0,"task":"t01","event":"admitted","worker":"w1"}
        {"t":0,"task":"t02","event":"arrived","worker":"w1","kind":"suspend","service_ns":100000000}
        {"t":100000000,"task":"t01","event":"finished","worker":"w1"}
        {"t":100000000,"task":"t02","event":"admitted","worker":"w1","cause":"t01"}
        {"t":200000000,"task":"t02","event":"finished","worker":"w1"}
        {"summary":{"makespan_ns":200000000,"peak_running":1,"throughput_per_s":10.000,\
        "waiting_ns":{"mean":50000000,"p50":0,"p90":100000000,"p99":100000000,"max":100000000},\
        "service_ns":{"mean":100000000,"p50":100000000,"p90":100000000,"p99":100000000,"max":100000000},\
        "response_ns":{"mean":150000000,"p50":100000000,"p90":200000000,"p99":200000000,"max":200000000},\
        "threads_peak":1,"fifo_inversions":0,"finished":2,"failed":0,"cancelled":0,"rejected":0,\
        "permits_left":0,"violations":[]}}

        """
    )
  }

  @Test
  func `every line of a random run is JSON, in the order of time, and in pieces it is the same`()
    throws
  {
    let run = SampleRun.random(2_000, limit: 4, seed: 3).run()
    var pieces: [String] = []
    RunJSONLines.write(run) { pieces.append($0) }
    #expect(pieces.count > 1)
    #expect(pieces.joined() == RunJSONLines.text(run))
    var last: Int64 = 0
    let lines = RunJSONLines.text(run).split(separator: "\n")
    #expect(lines.count == run.events.count + 2)
    for line in lines {
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      )
      if let time = object["t"] as? Int64 {
        #expect(time >= last)
        last = time
      }
    }
  }

  @Test
  func `text that JSON would trip over is escaped`() throws {
    var run = SampleRun.together(1, limit: 1, work: 1).run(mechanism: "a \"b\" \\ \u{1}\n\t é")
    run.limit = nil
    run.stoppedBecause = "say \"why\""
    run.permitsLeft = 2
    let lines = RunJSONLines.text(run).split(separator: "\n").map(String.init)
    #expect(
      lines[0].hasPrefix(
        #"{"schema":"lab-run/1","mechanism":"a \"b\" \\ \u0001\n\t é","limit":null,"#
      )
    )
    let last = try #require(lines.last)
    #expect(
      last.contains(
        #""permits_left":2,"stopped_because":"say \"why\"","violations":["permit-leak: "#
      )
    )
    _ = try JSONSerialization.jsonObject(with: Data(last.utf8))
  }
}
