"""Dataset rows checked against the agent and the scorers: what would fail or mislead later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from burnish.domain import Agent, Item, UsageError, lookup
from burnish.domain.configuration import malformed_placeholders
from burnish.domain.experiments.items import MESSAGES, TURN
from burnish.domain.wording import counted
from burnish.evaluation.agents import PromptAgent
from burnish.evaluation.scorers.assert_checks import BadAssertError
from burnish.evaluation.scorers.asserts import Asserts
from burnish.evaluation.scorers.fields import FieldComparison, MissingFieldError, read_field
from burnish.evaluation.suite import Suite

# Beyond so many different values a column holds texts.
_MOST_LABELS = 100
# Reads what a placeholder or a scorer takes from a row, or raises.
_Reader = Callable[[Item], object]


@dataclass(slots=True)
class _Found:
    """Rows of one kind: how many there are, and the line of the first."""

    first: int
    rows: int = 0


class RowChecks:
    """One pass over all rows. `failing` would end in errors, `doubtful` would only mislead."""

    def __init__(self, agent: Agent, suite: Suite) -> None:
        self._index = suite.dataset.index()
        self._readers = dict(_readers(agent, suite))
        self._labels = set(agent.labels) if isinstance(agent, PromptAgent) else set()
        self._compared = suite.policy.stratify_by
        self._found: dict[tuple[str, bool], _Found] = {}
        self._spellings: defaultdict[str, set[str]] = defaultdict(set)
        for item in suite.dataset.items():
            self._check(item)

    @property
    def failing(self) -> list[str]:
        """One sentence for each kind, with how many rows and the first."""
        return self._sentences(fatal=True)

    @property
    def doubtful(self) -> list[str]:
        """Likewise."""
        alike = [sorted(one) for one in self._spellings.values() if len(one) > 1]
        if len(self._spellings) > _MOST_LABELS:
            alike = []  # Texts, not labels.
        return [
            *self._sentences(fatal=False),
            *(
                f"{self._compared!r} is spelled {' and '.join(map(repr, one))}: other case or spaces "
                "make another label"
                for one in alike
            ),
        ]

    def require_whole(self) -> None:
        """Refuse a dataset of which rows would fail."""
        if self.failing:
            raise UsageError(
                what=f"rows of {self._index.source} would fail",
                why="; ".join(self.failing),
                fix="correct or remove those rows, or the placeholder or scorer that reads them",
                code="bad_rows",
            )

    def _check(self, item: Item) -> None:
        for (what, null_fails), read in self._readers.items():
            try:
                value = read(item)
            except (UsageError, MissingFieldError):
                self._note(item, f"{what} is missing", fatal=True)
                continue
            except BadAssertError as error:
                self._note(item, f"{what} cannot be used ({error})", fatal=False)
                continue
            if value is None and null_fails:
                self._note(item, f"{what} is null", fatal=True)
        label = item.row.get(self._compared) if self._compared else None
        if isinstance(label, str):
            if not label.strip():
                self._note(item, f"{self._compared!r} is empty", fatal=False)
            elif len(self._spellings) <= _MOST_LABELS:
                self._spellings[" ".join(label.split()).casefold()].add(label)
            if label.strip() and self._labels and label not in self._labels:
                words = f"{self._compared!r} is {label[:40]!r}, which is none of the agent's labels"
                self._note(item, words, fatal=False)

    def _note(self, item: Item, what: str, *, fatal: bool) -> None:
        found = self._found.setdefault((what, fatal), _Found(self._index.lines[item.id]))
        found.rows += 1

    def _sentences(self, *, fatal: bool) -> list[str]:
        unit = self._index.unit
        return [
            f"{what} in {found.rows:,} of {counted(self._index.count, 'row')}, first in {unit} "
            f"{found.first}"
            for (what, kind), found in self._found.items()
            if kind is fatal
        ]


def _readers(agent: Agent, suite: Suite) -> Iterator[tuple[tuple[str, bool], _Reader]]:
    user = suite.user
    if user is not None:
        for name in user.policy.columns:
            yield (f"the field {name!r}, which the user reads,", False), _column(name)
        yield ("the user's turns", False), user.policy.script
    if isinstance(agent, PromptAgent):
        made = () if user is None else (TURN, MESSAGES)
        for name in sorted(agent.configuration.placeholders.difference(made)):
            what = f"what the placeholder {{{{{name}}}}} takes"
            yield (what, False), lambda item, name=name: lookup(item.row, name)  # type: ignore[misc]
    strict = {
        one.field
        for one in suite.scorers.scorers
        if isinstance(one, FieldComparison) and not one.accepts_null
    }
    checks = {one.field: one.checks_of for one in suite.scorers.scorers if isinstance(one, Asserts)}
    for field in suite.scorers.fields_needed:
        what = f"the field {field!r}, which a scorer reads,"
        yield (what, field in strict), checks.get(field, _column(field))


def _column(name: str) -> _Reader:
    return lambda item: read_field(item, name)


def placeholder_doubts(agent: Agent) -> list[str]:
    """Texts in double braces that are no placeholders and go to the model as they stand."""
    if not isinstance(agent, PromptAgent):
        return []
    return [
        f"section {path}: {text} is no placeholder and goes to the model as it stands; "
        "a placeholder is a name of letters, digits, _ and dots"
        for path, section in agent.configuration.sections.items()
        for text in malformed_placeholders(section)
    ]
