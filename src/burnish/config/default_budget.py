"""The limit of a search that was given none."""

from __future__ import annotations

from burnish.config.schema import BudgetTable, Settings
from burnish.domain import Budget

# Without any limit a search could go on, and be paid for, until somebody notices.
DEFAULT_TRIALS = 20


def limited(settings: Settings) -> tuple[Settings, bool]:
    """The settings with some limit, and whether it had to be added."""
    if settings.budget_spec() != Budget():
        return settings, False
    budget = BudgetTable(max_trials=DEFAULT_TRIALS)
    return settings.model_copy(update={"budget": budget}).placed_in(settings.folder), True
