import Benchmarking

@main struct Program {
  static func main() async { await Bench.main() }
}
