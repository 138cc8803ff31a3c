"""How an optimization searches: the optimizer with its settings, and the framework's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Optimizer, SearchSpace, UsageError
from burnish.optimization.racing import RacingMode

# Keys of [optimizer] that the framework reads; all others are the algorithm's own settings.
_FRAMEWORK_KEYS = (
    "name",
    "seed",
    "racing",
    "candidates_per_step",
    "asynchronous",
    "timeout_seconds",
    "space",
)


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """Which optimizer, and how it is run. `optimizer` is a name or an Optimizer."""

    optimizer: str | Optimizer = "edits"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    racing: RacingMode = RacingMode.OFF
    candidates_per_step: int = 4
    asynchronous: bool = False
    timeout_seconds: float = 600.0
    space: SearchSpace = field(default_factory=SearchSpace)

    def __post_init__(self) -> None:
        if isinstance(self.candidates_per_step, bool) or self.candidates_per_step < 1:
            raise _bad("candidates_per_step", "it is not a whole number from 1 up")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise _bad("seed", f"{self.seed!r} is not a whole number")

    @property
    def name(self) -> str:
        """The optimizer's name."""
        return self.optimizer if isinstance(self.optimizer, str) else self.optimizer.name

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> SearchSpec:
        """From the `[optimizer]` table."""
        own = {key: table[key] for key in _FRAMEWORK_KEYS if key in table}
        name = own.pop("name", "edits")
        racing = own.pop("racing", "off")
        space = own.pop("space", {})
        if not isinstance(space, Mapping):
            raise _bad("space", f"{space!r} is not a table")
        return cls(
            optimizer=name,
            settings={key: value for key, value in table.items() if key not in _FRAMEWORK_KEYS},
            racing=racing_mode(racing),
            space=SearchSpace.of(space),
            **own,
        )


def racing_mode(value: str) -> RacingMode:
    """A racing mode by its name."""
    modes = [mode.value for mode in RacingMode]
    if value not in modes:
        raise _bad("racing", f"{value!r} is none of {', '.join(modes)}")
    return RacingMode(value)


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the optimizer's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [optimizer]",
        code="invalid_optimizer",
    )
