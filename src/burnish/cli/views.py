"""Which parts of an experiment or an optimization are to be shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The options of `burnish show`; with none of them the summary is shown."""

    items: bool = False
    failing: bool = False
    trials: bool = False
    graph: bool = False
    rejections: bool = False
    events: bool = False

    @property
    def of_experiment(self) -> tuple[str, ...]:
        """The given options that only experiments have."""
        return self._given("items", "failing")

    @property
    def of_optimization(self) -> tuple[str, ...]:
        """The given options that only optimizations have."""
        return self._given("trials", "graph", "rejections", "events")

    def _given(self, *names: str) -> tuple[str, ...]:
        return tuple(f"--{name}" for name in names if getattr(self, name))
