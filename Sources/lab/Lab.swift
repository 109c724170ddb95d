import ArgumentParser

@main struct Lab: AsyncParsableCommand { mutating func run() async throws { print("hi") } }
