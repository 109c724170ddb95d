// swift-tools-version: 6.3
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

/// A product of another package, which only the programs, `Benchmarking` and their rooms need.
///
/// A package that depends on this one for its other libraries says `traits: []`, and resolves none of these.
func external(_ name: String, from package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}

let argumentParser = external("ArgumentParser", from: "swift-argument-parser")
let collections = external("DequeModule", from: "swift-collections")
let heap = external("HeapModule", from: "swift-collections")
let subprocess = external("Subprocess", from: "swift-subprocess")
let system = external("SystemPackage", from: "swift-system")
let http = external("FlyingFox", from: "FlyingFox")
let sockets = external("FlyingSocks", from: "FlyingFox")
let histogram = external("Histogram", from: "hdrhistogram-swift")

// What runs at each step of an exploration is optimised in debug builds too: explorations are tests, and most
// of their time goes there. The code that is explored stays as its own package builds it. (From tools version 6.2
// on, other packages may depend on one with such flags, by its version too.)
let swiftOptimisedInDebug = SwiftSetting.unsafeFlags(["-O"], .when(configuration: .debug))
let cOptimisedInDebug = CSetting.unsafeFlags(["-O2"], .when(configuration: .debug))
let runsAtEachStep: Set = ["Basics", "ExplorableSynchronization", "Exploration"]

// The plugin has the whole program instrumented for explorations. In these rooms that is of no use, and makes each step
// take half as long again. Only the plugin sets the variable: the thread sanitizer needs them instrumented.
let leftUninstrumented: [SwiftSetting] =
  Context.environment["CONCURRENCY_LAB_EXPLORES"] == nil
  ? []
  : [
    .unsafeFlags(
      ["memory-accesses", "func-entry-exit", "atomics", "memintrinsics"].flatMap {
        ["-Xllvm", "-tsan-instrument-\($0)=0"]
      }
    )
  ]

/// A room of the house: a library target, the rooms it may look into, and the files that its code embeds.
func room(_ name: String, _ dependencies: Target.Dependency..., embedding files: [String] = [])
  -> Target
{
  .target(
    name: name,
    dependencies: dependencies,
    resources: files.map { .embedInCode($0) },
    swiftSettings: house
      + (runsAtEachStep.contains(name) ? [swiftOptimisedInDebug] + leftUninstrumented : [])
  )
}

/// A program: arguments, wiring and exit codes only.
func program(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

/// Tests, with what all of them need: the watchdog, which every suite has as a trait.
///
/// With `Exploration`, the compiler imports `ExplorationTesting` too.
func tests(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  let explores = dependencies.contains {
    if case .byNameItem("Exploration", _) = $0 { true } else { false }
  }
  return .testTarget(
    name: name,
    dependencies: dependencies + ["TestSupport"] + (explores ? ["ExplorationTesting"] : []),
    swiftSettings: house
  )
}

let package = Package(
  name: "ConcurrencyLab",
  // For `Limiters`, which is portable: the first versions that have `Mutex` and `Atomic`. All else is for Linux.
  platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .visionOS(.v2), .watchOS(.v11)],
  products: [
    .library(name: "Limiters", targets: ["Limiters"]),
    .library(name: "ExplorableSynchronization", targets: ["ExplorableSynchronization"]),
    // What takes over calls comes with the product: targets of this package that need the room alone get none.
    .library(name: "Exploration", targets: ["Exploration", "ExplorationTesting", "CInterception"]),
    .plugin(name: "Explore", targets: ["ExplorePlugin"]),
    .library(name: "WorkStealing", targets: ["WorkStealing"]),
    .library(name: "Benchmarking", targets: ["Benchmarking"]),
    .executable(name: "lab", targets: ["lab"]),
    .executable(name: "bench", targets: ["bench"]),
  ],
  traits: [
    .trait(name: "Programs", description: "The programs and what they need of other packages."),
    .default(enabledTraits: ["Programs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    // Exactly this version: how many connections it has open is read from what it logs.
    .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
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

    .systemLibrary(
      name: "CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]
    ),

    // Counts allocations by defining malloc itself; the bench and the graders of exercises link it, the lab does not.
    .target(name: "CAllocations"),

    // What explorable locks and atomics look at before each operation.
    .target(name: "CExplorable", cSettings: [cOptimisedInDebug]),
    // Takes over the locks, the hops and the clock of the programs that link it, which are explored ones only.
    .target(
      name: "CInterception",
      dependencies: ["CExplorable"],
      cSettings: [cOptimisedInDebug]
    ),

    // Has the compiler import ExplorationTesting where a test imports Exploration.
    .target(name: "CExplorationOverlay"),

    // What several rooms need and none owns: the machine's clocks, threads, seeded numbers, words.
    room("Basics"),

    room("Limiters"),
    // The same files over locks and atomics that an exploration can stop at.
    room("ExplorableLimiters", "ExplorableSynchronization"),
    room("WorkStealing", "Basics"),
    room("RealWork", "Basics", "Limiters", "CSQLite", http, sockets),
    room("ExplorableSynchronization", "Basics", "CExplorable"),
    room(
      "Exploration",
      "Basics",
      "ExplorableSynchronization",
      "CExplorable",
      "CExplorationOverlay",
      embedding: ["Colours.css", "StepsPage.css", "StepsPage.js"].map { "Pages/\($0)" }
    ),
    .plugin(
      name: "ExplorePlugin",
      capability: .command(
        intent: .custom(
          verb: "explore",
          description:
            "Builds the tests so that explorations see locks, atomics and hops, and runs them."
        )
      ),
      path: "Sources/ExplorePlugin"
    ),
    // A test's body explored, by a trait. No program links it.
    room("ExplorationTesting", "Exploration", "Basics", "CExplorable"),
    room("LessonBook", "Basics"),

    room("Specimens", "Basics", "ExplorableLimiters", "ExplorableSynchronization"),
    room("Mechanisms", "Basics", "Limiters", "Specimens", collections),
    room("ExplorableMechanisms", "ExplorableLimiters", "Limiters", "Mechanisms"),
    room(
      "Experiments",
      "Limiters",
      "Specimens",
      "Mechanisms",
      "ExplorableMechanisms",
      "Exploration",
      "WorkStealing",
      "RealWork",
      "Basics",
      collections,
      heap,
      subprocess,
      system
    ),
    room(
      "Rendering",
      "Basics",
      "Exploration",
      "Experiments",
      "Mechanisms",
      "WorkStealing",
      embedding: [
        "Pages/Chart.js", "Pages/ComparisonPage.css", "Pages/ComparisonPage.js",
        "Pages/RunPage.css",
        "Pages/RunPage.js", "Pictures/RunSVG.css",
      ]
    ),
    room(
      "Shell",
      "Experiments",
      "Exploration",
      "Rendering",
      "LessonBook",
      "Mechanisms",
      "Basics",
      "CLibedit",
      embedding: ["Manifest", "ReadMe", "Limit", "LimitBench", "LimitTests"].map {
        "Lessons/TakenPackage/\($0).txt"
      }
    ),
    // All of the bench, for the program of this package and for those of others.
    room(
      "Benchmarking",
      "Basics",
      "CAllocations",
      "Experiments",
      "Exploration",
      "ExplorableSynchronization",
      "Limiters",
      "Mechanisms",
      "RealWork",
      "WorkStealing",
      argumentParser,
      heap,
      histogram,
      embedding: ["Plots/Plot.css", "Report/Report.css", "Report/Report.js"].map { "Publish/\($0)" }
    ),

    // Grades what learners write in the course's exercises. No program of this package links it: the
    // lab builds one around a learner's file, and reads what that one writes (`GradeReport.swift` of LessonBook).
    room(
      "Grading",
      "Basics",
      "CAllocations",
      "Experiments",
      "Exploration",
      "ExplorableSynchronization",
      "LessonBook",
      "Rendering",
      "Mechanisms",
      "Limiters",
      "RealWork"
    ),

    program("lab", "Experiments", "Shell", "Basics", argumentParser),
    program("bench", "Benchmarking"),

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
    tests("ExplorableLimitersTests", "ExplorableLimiters", "Exploration"),
    // The files of `WorkStealing` are among its own, over locks that an exploration can stop at.
    tests(
      "ExplorableWorkStealingTests",
      "Exploration",
      "ExplorableSynchronization",
      "Basics"
    ),
    tests("WorkStealingTests", "WorkStealing", "Limiters", "Basics"),
    // Writes rows until it is killed: what a database keeps of them is tested.
    .executableTarget(
      name: "row-writer",
      dependencies: ["RealWork"],
      path: "Tests/RowWriter",
      swiftSettings: house
    ),
    // Serves files as servers do that are broken, overloaded or changed meanwhile.
    .target(
      name: "UnrulyServer",
      dependencies: ["Basics"],
      path: "Tests/UnrulyServer",
      swiftSettings: house
    ),
    // Fetches, cancels at random, and counts what is left of it in the process.
    .executableTarget(
      name: "fetch-storm",
      dependencies: ["RealWork", "Limiters", "Basics"],
      path: "Tests/FetchStorm",
      swiftSettings: house
    ),
    // Downloads from the unruly server in four processes that are killed at random, and looks at every file.
    .executableTarget(
      name: "download-storm",
      dependencies: ["RealWork", "UnrulyServer", "Basics", "TestSupport"],
      path: "Tests/DownloadStorm",
      swiftSettings: house
    ),
    // A bench with limiters of its own, as another package has one.
    .executableTarget(
      name: "own-bench",
      dependencies: ["Benchmarking", "Limiters"],
      path: "Tests/OwnBench",
      swiftSettings: house
    ),
    tests(
      "RealWorkTests",
      "RealWork",
      "UnrulyServer",
      "Exploration",
      "Limiters",
      "Basics",
      "row-writer",
      "fetch-storm",
      "download-storm"
    ),
    tests("ExplorationTests", "Exploration", "ExplorableSynchronization", "Basics", "Limiters"),
    tests("ExplorationTestingTests", "Exploration"),
    // Ordinary Swift, as packages have it: explored without a line changed, since the compiler instruments it.
    .testTarget(
      name: "UnchangedCodeTests",
      dependencies: ["Exploration", "ExplorationTesting", "CInterception", "TestSupport"],
      swiftSettings: house + [.unsafeFlags(["-Xfrontend", "-sanitize=thread"])]
    ),
    tests("LessonBookTests", "LessonBook", "Basics"),
    tests(
      "GradingTests",
      "Grading",
      "LessonBook",
      "Experiments",
      "Exploration",
      "ExplorableLimiters",
      "ExplorableSynchronization",
      "Mechanisms",
      "Basics",
      "main-queue-grade"
    ),
    // Grades an answer that goes by the main queue, as the lab's own programs grade.
    .executableTarget(
      name: "main-queue-grade",
      dependencies: ["Grading"],
      path: "Tests/MainQueueGrade",
      swiftSettings: house
    ),
    // Echoes the lines it reads: the line editor, with nothing of the lab around it.
    .executableTarget(
      name: "echo-editor",
      dependencies: ["Shell", "Basics"],
      path: "Tests/EchoEditor",
      swiftSettings: house
    ),
    tests("SpecimensTests", "Specimens", "Limiters"),
    tests("MechanismsTests", "Mechanisms", "Limiters", "Basics"),
    tests(
      "ExperimentsTests",
      "Experiments",
      "Mechanisms",
      "WorkStealing",
      "Exploration",
      "Basics"
    ),
    tests("RenderingTests", "Rendering", "Experiments", "Mechanisms", "Basics"),
    tests(
      "ShellTests",
      "Shell",
      "Experiments",
      "LessonBook",
      "Mechanisms",
      "Rendering",
      "Basics",
      "echo-editor"
    ),
    tests("BenchmarkingTests", "Benchmarking", "Mechanisms", "Basics"),
    // The built programs, as a person or a script runs them.
    tests(
      "ProgramsTests",
      "lab",
      "bench",
      "own-bench",
      "Benchmarking",
      "Mechanisms",
      "Shell",
      "Basics"
    ),
  ]
)

// A learner's exercise is built by `lab` from a hidden folder that it writes,
// in the same dialect; a warning is no error there. It is compiled against limiters, locks and atomics that
// an exploration can stop at, and with what shows it threads, queues, and each access to memory that may be shared: a
// race in an answer is a failure.
if Context.environment["CONCURRENCY_LAB_EXERCISE"] != nil {
  package.targets.append(
    .executableTarget(
      name: "grade",
      dependencies: [
        "Grading", "Exploration", "ExplorableLimiters", "ExplorableSynchronization",
        "CInterception",
      ],
      path: ".build/exercise/Learner",
      swiftSettings: dialect + [.unsafeFlags(["-Xfrontend", "-sanitize=thread"])]
    )
  )
}

// The thread sanitizer's step of .ci/run builds the tests that it runs, and what they need.
if let names = Context.environment["CONCURRENCY_LAB_TESTS"] {
  let chosen = names.split(whereSeparator: \.isWhitespace).map(String.init)
  package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
