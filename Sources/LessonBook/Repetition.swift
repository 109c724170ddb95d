extension Lesson {
  /// The parts that a claim can stand in: the text, and each step that commands pass.
  package var partsWithClaims: [String] {
    [Self.textPart] + steps.filter { $0.exercise == nil }.map(\.id)
  }

  /// No step is called so: a step's name has no space.
  fileprivate static let textPart = "the text"
}

extension Rehearsal {
  /// Takes a part of a lesson once, and tells of each claim about the wall clock whether it held.
  ///
  /// Of the text, the transcripts of the wall clock and the commands of claims come in reading order, in one
  /// lab, as a reader would type them. Of a step it is the solution.
  package func findings(in lesson: Lesson, part: String) async -> [ClaimFinding] {
    guard lesson.usesWallClock else { return [] }
    guard let section = lesson.steps.first(where: { $0.id == part }) else {
      return await findings(inTextOf: lesson)
    }
    let commands = section.solution.commands.flatMap(\.commands)
    let evidence = await evidence(of: commands, in: await lab.begin())
    // As the learner's own runs are judged.
    return section.checks.judge(evidence).filter { result in
      evidence.contains { $0.isOfWallClock && result.check.mayConcern($0) }
    }
    .map { ClaimFinding($0, in: lesson.file) }
  }

  private func findings(inTextOf lesson: Lesson) async -> [ClaimFinding] {
    var findings: [ClaimFinding] = []
    let conversation = await lab.begin()
    var seen: [any MetricSource] = []
    for block in lesson.blocks {
      let evidence: [any MetricSource]
      let checks: [Check]
      switch block.content {
      case .transcript(let transcript) where !transcript.isExact:
        evidence = await self.evidence(
          of: transcript.exchanges.map(\.command),
          in: conversation
        )
        checks = transcript.predicates
        seen += evidence
      case .claim(let claim):
        evidence =
          claim.commands.isEmpty
          ? seen : await self.evidence(of: claim.commands, in: conversation)
        checks = claim.checks
      case .text, .transcript, .commands, .quotation, .code, .figure, .picture:
        continue
      }
      findings += checks.map { ClaimFinding($0.judgeNewest(evidence), in: lesson.file) }
    }
    return findings
  }

  private func evidence(
    of commands: [String],
    in conversation: any LabConversation
  ) async -> [any MetricSource] {
    var evidence: [any MetricSource] = []
    for command in commands { evidence += await conversation.run(command).evidence }
    return evidence
  }
}

extension Lesson {
  /// Every block, in the order in which it stands in the file.
  fileprivate var blocks: [LessonBlock] {
    (introduction + sections.flatMap(\.allBlocks)).sorted { $0.line < $1.line }
  }
}

extension Check {
  /// Judges the newest run that it is about: a claim holds of what was seen, not of the best of it.
  fileprivate func judgeNewest(_ evidence: [any MetricSource]) -> CheckResult {
    let source = evidence.last { concerns($0) }
    return [self].judge(source.map { [$0] } ?? [])[0]
  }

  /// Whether it is about such a source, whatever its figures are.
  fileprivate func mayConcern(_ source: some MetricSource) -> Bool {
    source.value(of: expectation.metric) != nil
      && conditions.allSatisfy { source.value(of: $0.metric) != nil }
  }
}
