"""Evaluate a Python agent, change its prompt, and see whether the change is an improvement."""

import burnish

QUESTIONS = [{"id": f"q{n}", "a": n, "b": 3 * n + 1, "expected": str(4 * n + 1)} for n in range(50)]


def calculator(configuration: dict, item: dict) -> str:
    """Stands for an agent: it only carries when it is told to."""
    if "carry" in configuration["sections"]["system"]:
        return str(item["a"] + item["b"])
    return str(item["a"] % 10 + item["b"] % 10)


def evaluate(system: str) -> burnish.EvaluationResult:
    agent = burnish.Agent(
        name="calculator", configuration={"sections": {"system": system}}, run=calculator
    )
    suite = burnish.Suite(dataset=QUESTIONS, scorers=[{"kind": "exact_match", "field": "expected"}])
    return burnish.evaluate(agent, suite)


before = evaluate("Add the numbers.")
after = evaluate("Add the numbers, and carry.")
for name, result in (("before", before), ("after", after)):
    low, high = result.score_interval.low, result.score_interval.high
    print(f"{name}: {result.score:.2f} (95% {low:.2f} to {high:.2f}), {result.failed} failed")
assert after.score > before.score
