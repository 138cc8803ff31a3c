"""How an optimization searches: the optimizer with its settings, and the framework's own."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.config.schema import BudgetTable, Settings
from burnish.domain import Budget, Optimizer, SearchSpace, UsageError, optimizer_name
from burnish.optimization.objective import Objective, read_objective
from burnish.optimization.racing import RacingMode
from burnish.support.number_checks import is_whole

DEFAULT_OPTIMIZER = "edits"
DEFAULT_PLACES = 4
# What a database keeps as a whole number.
_LARGEST_SEED = 2**63 - 1
_DRAWN_SEEDS = 2**31
# Keys of [optimizer] that the framework reads; all others are the algorithm's own settings.
FRAMEWORK_KEYS = (
    "name",
    "seed",
    "racing",
    "candidates_per_step",
    "asynchronous",
    "keep_passing",
    "timeout_seconds",
    "space",
    "objective",
)


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """Which optimizer, and how it is run. `optimizer` is a name or an Optimizer.

    `seed` decides every draw; without one each run draws its own. `racing` ends trials that will hardly
    win: "off", "conservative" or "aggressive". `candidates_per_step` is how many run side by side;
    without it the optimizer's own wish counts, else 4. `asynchronous` proposes again as soon as one has
    ended, not after all of a step. `timeout_seconds` is how long a method of the optimizer may take.
    `keep_passing` lets nothing win that breaks an item which the baseline passes.
    `space` says what may change. `objective` says what counts besides the score: tokens, cost, latency.
    """

    optimizer: str | Optimizer = DEFAULT_OPTIMIZER
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    racing: RacingMode = RacingMode.OFF
    candidates_per_step: int | None = None
    asynchronous: bool = False
    keep_passing: bool = False
    timeout_seconds: float = 600.0
    space: SearchSpace = field(default_factory=SearchSpace)
    objective: Objective = field(default_factory=Objective)

    def __post_init__(self) -> None:
        places = self.candidates_per_step
        if places is not None and (not is_whole(places) or places < 1):
            raise _bad(
                "candidates_per_step",
                f"{self.candidates_per_step!r} is not a whole number from 1 up",
            )
        if self.seed is not None and not (is_whole(self.seed) and abs(self.seed) <= _LARGEST_SEED):
            raise _bad("seed", f"{self.seed!r} is not a whole number of at most 63 bits")
        for name in ("asynchronous", "keep_passing"):
            if not isinstance(getattr(self, name), bool):
                raise _bad(name, f"{getattr(self, name)!r} is neither true nor false")
        seconds = self.timeout_seconds
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise _bad("timeout_seconds", f"{seconds!r} is not a number above 0")

    @property
    def name(self) -> str:
        """The optimizer's name."""
        own = self.optimizer
        return own if isinstance(own, str) else optimizer_name(own)

    @property
    def racing_in_effect(self) -> RacingMode:
        """Races go by scores alone, so they would end what may win by another measure."""
        return RacingMode.OFF if self.objective.measures else self.racing

    @property
    def max_trials(self) -> int | None:
        """The optimizer's own limit of trials, where its settings have one."""
        most = self.settings.get("max_iterations") if self.name == "gepa" else None
        return most if is_whole(most) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done otherwise than asked for, and why."""
        if self.racing_in_effect is self.racing:
            return ()
        counts = ", ".join(self.objective.measures)
        return (f"racing is off: it goes by scores alone, and more counts here ({counts})",)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> SearchSpec:
        """From the `[optimizer]` table."""
        own = {key: table[key] for key in FRAMEWORK_KEYS if key in table}
        name = own.pop("name", DEFAULT_OPTIMIZER)
        if not isinstance(name, str):
            raise _bad("name", f"{name!r} is not text")
        racing = own.pop("racing", "off")
        space = own.pop("space", {})
        objective = own.pop("objective", None)
        return cls(
            optimizer=name,
            settings={key: value for key, value in table.items() if key not in FRAMEWORK_KEYS},
            racing=racing_mode(racing),
            space=_space(space),
            objective=read_objective(objective),
            **own,
        )


def draw_seed() -> int:
    """A seed for a run that was given none; it is stored with the run."""
    return secrets.randbelow(_DRAWN_SEEDS)


def build_optimizer_of(search: SearchSpec) -> Optimizer:
    """The optimizer itself: the one that was given, or the one of the name with its settings."""
    if not isinstance(search.optimizer, str):
        return search.optimizer
    from burnish.optimizers.catalog import build_optimizer  # noqa: PLC0415 - only named ones need it

    return build_optimizer(search.optimizer, search.settings)


def settings_for_another(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What of an `[optimizer]` table holds for an optimizer of another name, too.

    Settings beside a name are that optimizer's; which model to ask is a choice of the project, and
    goes to whoever takes one.
    """
    kept = {key: table[key] for key in FRAMEWORK_KEYS if key in table}
    if "model" in table and _takes_model(name):
        kept["model"] = table["model"]
    return kept


def _takes_model(name: str) -> bool:
    from burnish.optimizers.catalog import optimizer_maker  # noqa: PLC0415

    try:
        return "model" in inspect.signature(optimizer_maker(name)).parameters
    except (UsageError, TypeError, ValueError):
        return False  # Whoever builds it says what is wrong.


def places_of(search: SearchSpec, optimizer: Optimizer) -> int:
    """How many candidates a step may have."""
    wish = getattr(optimizer, "candidates_per_step", None)
    return search.candidates_per_step or (wish if is_whole(wish) and wish else DEFAULT_PLACES)


def racing_mode(value: str) -> RacingMode:
    """A racing mode by its name."""
    modes = [mode.value for mode in RacingMode]
    if value not in modes:
        raise _bad("racing", f"{value!r} is none of {', '.join(modes)}")
    return RacingMode(value)


def _space(value: Any) -> SearchSpace:
    if not isinstance(value, Mapping):
        raise _bad("space", f"{value!r} is not a table")
    try:
        return SearchSpace.of(value)
    except (TypeError, ValueError, AttributeError) as error:
        raise _bad("space", str(error)) from error


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the optimizer's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [optimizer]",
        code="invalid_optimizer",
    )


# Without any limit a search could go on, and be paid for, until somebody notices.
DEFAULT_TRIALS = 20


def limited(settings: Settings) -> tuple[Settings, bool]:
    """The settings with some limit, the optimizer's own or another, and whether it was added."""
    if settings.budget_spec() != Budget() or SearchSpec.of(settings.optimizer).max_trials:
        return settings, False
    budget = BudgetTable(max_trials=DEFAULT_TRIALS)
    return settings.model_copy(update={"budget": budget}), True
