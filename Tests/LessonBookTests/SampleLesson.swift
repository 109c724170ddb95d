import LessonBook

/// A small lesson with every part a lesson can have.
enum SampleLesson {
  static let text = """
    # Lesson 1: A gate

    **Question:** How long do four tasks take through a gate of two?

    **Time:** 1 minute, virtual time

    A *permit* lets one task in. See [the glossary](GLOSSARY.md#permit).

    ## Experiment: four through two
    <!-- step: four-through-two -->

    Four tasks of 10 ms, two permits.

    **Predict** (duration): When does the last one end?
    <!-- answer: makespan -->

    ```console
    lab> run 4 limiter limit=2
    makespan 20 ms
    lab> why t4
    t4 waited 10 ms
    ```

    **Check:**

    - `makespan = 20ms`: four tasks through two permits are two rounds
    - `for mechanism = limiter: peak_running = 2`: never more than two
      at once

    <!-- fails: run 4 limiter limit=3 -->
    <!-- fails: run 5 limiter limit=2 -->
    <!-- fails: run 4 limiter limit=2; run 2 limiter limit=1 work=1ms -->

    <details><summary>Hint 1</summary>How many at once?</details>
    <details><summary>Hint 2</summary>Two, then two.</details>
    <details><summary>Hint 3</summary>

    Set `limit=2`.

    </details>
    <details><summary>Solution</summary>

    ```lab
    run 4 limiter limit=2
    ```

    </details>

    Two rounds of 10 ms.

    ## The code

    <!-- quote: Sources/Gate.swift -->
    ```swift
    func enter() {
      permits -= 1
      // …
    }
    ```

    ## Exercise
    <!-- step: own-gate -->

    <!-- exercise: limiter -->
    ```swift
    struct Gate {}
    ```

    **Check:**

    - `passed = yes`: your gate holds

    <details><summary>Hint 1</summary>One</details>
    <details><summary>Hint 2</summary>Two</details>
    <details><summary>Hint 3</summary>Three</details>
    <details><summary>Near miss: no lock</summary>

    ```swift
    struct Gate { var n = 1 }
    ```

    </details>
    <details><summary>Solution</summary>

    ```swift
    struct Gate { let lock = 1 }
    ```

    </details>

    ## Where to read more

    - A book
    """

  static func parse(
    _ text: String = text,
    file: String = "01-a-gate.md"
  ) -> (lesson: Lesson?, problems: [LessonProblem]) {
    var parser = LessonParser(file: file)
    let lesson = parser.parse(text)
    return (lesson, parser.problems)
  }
}
