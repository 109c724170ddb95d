import ArgumentParser

@main struct Bench: AsyncParsableCommand { mutating func run() async throws { print("hi") } }
