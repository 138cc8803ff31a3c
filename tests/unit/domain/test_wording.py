"""Numbers in words, and that no text of the package writes `1 items`."""

import re
from pathlib import Path

import pytest

from burnish.domain.wording import counted, p_relation, p_words

SOURCE = Path(__file__).parents[3] / "src" / "burnish"
NOUNS = (
    "calls|candidates|cells|errors|evaluations|examples|experiments|items|lines|modifications"
    "|proposals|rounds|rows|runs|trials"
)
# A number before a plural; `3/100 items` and an upper-case bound are no counts of one.
UNCOUNTED = re.compile(rf"""(?<![/{{A-Z])\{{(?:len\([\w.]+\)|[a-z_.]+)(?::,)?\}} (?:{NOUNS})\b""")
# What is at least two where it is said, what asks a model, and what measures ourselves.
NEVER_ONE = {
    "cli/eval_request.py": "the budget ended it after {result.items} of {planned} runs",
    "cli/commands/jobs/resume.py": "evaluation {evaluation.id} runs here only",
    "evaluation/progress.py": "each of the {self.done:,} runs",
    "integrations/pytest_plugin.py": "{len(self.runs)} runs did not pass",
    "runtime/shards/suite.py": "{self.smallest} to {self.largest} runs",
    "optimizers/shared/reflection.py": "{refinement.rounds} rounds of refinement",
}


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")]
)
def test_a_noun_agrees_with_its_number(number, words):
    assert counted(number, "row") == words


def test_a_noun_may_name_its_plural():
    assert (counted(1, "batch", "batches"), counted(2, "batch", "batches")) == (
        "1 batch",
        "2 batches",
    )


def test_a_p_value_is_never_0():
    assert (p_words(0.0004), p_words(0.0214)) == ("< 0.001", "0.021")
    assert (p_relation(0.0004), p_relation(0.0214)) == ("p < 0.001", "p = 0.021")


def test_no_text_puts_a_number_before_a_fixed_plural():
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "benchmarks" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNCOUNTED.search(line)
        and NEVER_ONE.get(str(path.relative_to(SOURCE)), "no such words") not in line
    ]

    assert found == []
