"""What `burnish compress` was asked for, as overrides of the config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.cli.runner_options import RunnerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressRequest:
    """The options of one compression; None means that the config decides."""

    tag: str | None = None
    eval_runs: int | None = None
    min_section_tokens: int | None = None
    sections: tuple[str, ...] = ()
    rewriter: str | None = None
    calls_per_month: int | None = None
    max_evaluations: int | None = None
    apply: bool = False
    yes: bool = False
    seed: int | None = None
    resume: str | None = None

    runner: RunnerOptions = field(default_factory=RunnerOptions)

    def overrides(self) -> dict[str, Any]:
        """The options that change the config, by dotted path."""
        direct = {"suite.repeats": self.eval_runs, "budget.max_evaluations": self.max_evaluations}
        return {path: value for path, value in direct.items() if value is not None}

    def optimizer(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The `[optimizer]` table for this run: of another optimizer's only what fits any."""
        own = table.get("name") == "compress"
        kept = (
            dict(table) if own else {key: table[key] for key in ("seed", "space") if key in table}
        )
        asked = {
            "min_section_tokens": self.min_section_tokens,
            "sections": list(self.sections) or None,
            "model": self.rewriter,
            "seed": self.seed,
        }
        chosen = {key: value for key, value in asked.items() if value is not None}
        return {**kept, **chosen, "name": "compress"}
