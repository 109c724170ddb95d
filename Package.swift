// swift-tools-version: 6.2
import PackageDescription

// One setting for every target: the Swift 6 language mode, the upcoming features the code is written
// against, and no warnings. `NonisolatedNonsendingByDefault` is what lets a limiter run its body in
// the caller's isolation without a hop.
let dialect: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let house = dialect + [.treatAllWarnings(as: .error)]

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser",
  package: "swift-argument-parser"
)
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")

/// A room of the house: a library target, the rooms it may look into, and the files that its code embeds.
func room(_ name: String, _ dependencies: Target.Dependency..., embedding files: [String] = [])
  -> Target
{
  .target(
    name: name,
    dependencies: dependencies,
    resources: files.map { .embedInCode($0) },
    swiftSettings: house
  )
}

/// A program: arguments, wiring and exit codes only.
func program(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

/// Tests, with what all of them need: the watchdog, which every suite has as a trait.
func tests(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: house)
}

let package = Package(
  name: "ConcurrencyLab",
  // For `Limiters`, which is portable and needs the Mutex of macOS 15. All else is for Linux.
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Limiters", targets: ["Limiters"]),
    .library(name: "ExplorableSynchronization", targets: ["ExplorableSynchronization"]),
    .library(name: "Exploration", targets: ["Exploration"]),
    .library(name: "WorkStealing", targets: ["WorkStealing"]),
    .executable(name: "lab", targets: ["lab"]),
    .executable(name: "bench", targets: ["bench"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    // Without its Foundation part, which nothing here uses.
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    .package(url: "https://github.com/apple/swift-system", from: "1.5.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibedit",
      pkgConfig: "libedit",
      providers: [.apt(["libedit-dev"])]
    ),

    // Counts allocations by standing in front of malloc; only the bench links it.
    .target(name: "CAllocations"),

    // What explorable locks and atomics look at before each operation.
    .target(name: "CExplorable"),

    // What several rooms need and none owns: the machine's clocks, threads, seeded numbers, words.
    room("Basics"),

    room("Limiters"),
    // The same files over locks and atomics that an exploration can stop at.
    .target(
      name: "ExplorableLimiters",
      dependencies: ["ExplorableSynchronization"],
      swiftSettings: house + [.define("EXPLORABLE")]
    ),
    room("WorkStealing", "Basics"),
    room("Tracing", "Basics"),
    room("VirtualTime", "Basics", collections, heap),
    room("ExplorableSynchronization", "Basics", "CExplorable"),
    room("Exploration", "Basics", "ExplorableSynchronization"),
    room("Workloads", "Basics"),
    room("ChildProcesses", subprocess, system),
    room("GradeReport"),
    room("LessonBook", "Basics"),
    room("Terminal", "Basics", "CLibedit"),

    room("Specimens", "Basics", "ExplorableLimiters"),
    room("Mechanisms", "Limiters", "Specimens", "Tracing", "Workloads"),
    .target(
      name: "ExplorableMechanisms",
      dependencies: ["ExplorableLimiters", "Mechanisms", "Workloads"],
      swiftSettings: house + [.define("EXPLORABLE")]
    ),
    room(
      "Experiments",
      "Limiters",
      "Mechanisms",
      "ExplorableMechanisms",
      "Tracing",
      "Workloads",
      "VirtualTime",
      "Exploration",
      "WorkStealing",
      "Basics",
      heap
    ),
    room(
      "Rendering",
      "Basics",
      "Tracing",
      "Experiments",
      "Workloads",
      "Mechanisms",
      "WorkStealing",
      embedding: ["Colours.css", "RunPage.css", "RunPage.js", "RunSVG.css"]
    ),
    room(
      "Shell",
      "Experiments",
      "Exploration",
      "Rendering",
      "LessonBook",
      "ChildProcesses",
      "GradeReport",
      "Mechanisms",
      "Tracing",
      "Workloads",
      "Basics"
    ),
    room("Statistics", "Basics", heap),
    room(
      "Trials",
      "ChildProcesses",
      "Statistics",
      "Mechanisms",
      "Tracing",
      "Workloads",
      "Basics",
      "CAllocations",
      histogram
    ),
    room(
      "Publishing",
      "Basics",
      "Trials",
      "Statistics",
      "Mechanisms",
      histogram,
      embedding: ["Plots/Plot.css", "Report/Report.css"]
    ),

    // Grades what learners write in the course's exercises. No program of this package links it: the
    // lab builds one around a learner's file, and reads what that one writes (GradeReport).
    room(
      "Grading",
      "Basics",
      "Experiments",
      "Exploration",
      "GradeReport",
      "Rendering",
      "Mechanisms",
      "Tracing",
      "Workloads"
    ),

    program("lab", "Shell", "Terminal", "Basics", argumentParser),
    program("bench", "Trials", "Publishing", argumentParser),

    // What the test targets share: the watchdog, running programs, pseudo-terminals, executors.
    .target(
      name: "TestSupport",
      dependencies: ["Basics", "Limiters"],
      path: "Tests/TestSupport",
      swiftSettings: house
    ),
    tests("HouseTests"),
    tests("BasicsTests", "Basics"),
    tests("LimitersTests", "Limiters", "Basics"),
    tests("WorkStealingTests", "WorkStealing", "Limiters", "Basics"),
    tests("TracingTests", "Tracing", "Basics"),
    tests("VirtualTimeTests", "VirtualTime", "Basics"),
    tests("ExplorationTests", "Exploration", "ExplorableSynchronization", "Basics", "Limiters"),
    tests("WorkloadsTests", "Workloads", "Basics"),
    tests("LessonBookTests", "LessonBook"),
    tests(
      "GradingTests",
      "Grading",
      "GradeReport",
      "Exploration",
      "Limiters",
      "Mechanisms",
      "Basics"
    ),
    // Echoes the lines it reads: the line editor, with nothing of the lab around it.
    .executableTarget(
      name: "echo-editor",
      dependencies: ["Terminal"],
      path: "Tests/EchoEditor",
      swiftSettings: house
    ),
    tests("TerminalTests", "Terminal", "Basics", "echo-editor"),
    tests("SpecimensTests", "Specimens", "Limiters"),
    tests("MechanismsTests", "Mechanisms", "Tracing", "Workloads", "Limiters"),
    tests(
      "ExperimentsTests",
      "Experiments",
      "Mechanisms",
      "Tracing",
      "Workloads",
      "WorkStealing",
      "Exploration",
      "Basics"
    ),
    tests("RenderingTests", "Rendering", "Experiments", "Tracing", "Workloads", "Basics"),
    tests(
      "ShellTests",
      "Shell",
      "Experiments",
      "LessonBook",
      "Mechanisms",
      "Rendering",
      "Workloads",
      "Basics"
    ),
    tests("ChildProcessesTests", "ChildProcesses"),
    tests("StatisticsTests", "Statistics", "Basics", "Workloads"),
    tests("TrialsTests", "Trials", "Mechanisms", "Tracing", "Workloads"),
    tests("PublishingTests", "Publishing", "Trials", "Statistics", "Basics", "Workloads"),
    // The built programs, as a person or a script runs them.
    tests("ProgramsTests", "lab", "bench", "Trials", "Publishing", "Shell"),
  ]
)

// A learner's exercise is built by `lab` in a folder of its own, from this manifest and these sources,
// in the same dialect; a warning is no error there.
if Context.environment["CONCURRENCY_LAB_EXERCISE"] != nil {
  package.targets.append(
    .executableTarget(
      name: "grade",
      dependencies: ["Grading", "Exploration", "Limiters"],
      path: "Learner",
      swiftSettings: dialect
    )
  )
}
