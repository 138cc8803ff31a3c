"""The `grid` optimizer: every combination of declared parameter values and listed section texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Any

from burnish.domain import (
    CandidateProposal,
    Configuration,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
)
from burnish.domain.wording import counted
from burnish.optimizers.parameters.axes import checked_texts, require_free, values_of
from burnish.optimizers.shared.acceptance import is_acceptable
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import HistorySearch, stop, tried_hashes
from burnish.support.number_checks import require_target, require_whole


class GridSearch(HistorySearch):
    """Walks a grid in order, the last axis fastest, and ends when it is done or at `target`.

    The axes are the parameters of the search space, ranges cut into `steps` values, and `sections`:
    texts to try by section path. The baseline's own text and value stand on every axis.
    """

    name = "grid"

    def __init__(
        self,
        *,
        steps: int = 5,
        sections: Mapping[str, Sequence[str]] | None = None,
        target: float | None = None,
    ) -> None:
        self.steps = require_whole("grid", "steps", steps, least=2)
        self.sections = checked_texts("grid", sections or {})
        self.target = require_target("grid", target)

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts; refuse texts for sections that are not there or not free."""
        require_free("grid", self.sections, context)
        return super().initialize(context)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """The next points. Points that may be running already are left for later."""
        facts = RunFacts.within(state)
        skipped = facts.in_flight(max_candidates)
        ahead = list(islice(self._untried(facts, history), skipped + max_candidates))
        # Near the end fewer are left than are skipped: then the first ones were not running.
        chosen = [*ahead[skipped:], *ahead[:skipped]][:max_candidates]
        return [
            CandidateProposal(
                configuration=configuration,
                parent_candidate_ids=(facts.baseline_candidate_id,),
                rationale=said,
            )
            for configuration, said in chosen
        ]

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When the whole grid was tried."""
        facts = RunFacts.within(state)
        if next(self._untried(facts, history), None) is None:
            size = prod(len(values) for _, values in self._axes(facts))
            message = (
                f"the whole grid of {counted(size, 'point')} was tried"
                if size > 1
                else "the grid is empty: declare parameters in the search space, or list sections"
            )
            return stop(message, StopReason.CONVERGENCE)
        return None

    def _untried(
        self, facts: RunFacts, history: TrialHistory
    ) -> Iterator[tuple[Configuration, str]]:
        seen = {facts.baseline.hash, *tried_hashes(history)}
        axes = self._axes(facts)
        for values in product(*(axis for _, axis in axes)):
            point = dict(zip((name for name, _ in axes), values, strict=True))
            configuration = _placed(facts.baseline, point)
            if configuration.hash in seen:
                continue
            seen.add(configuration.hash)
            if is_acceptable(configuration, baseline=facts.baseline, space=facts.space):
                yield configuration, _describe(facts.baseline, point)

    def _axes(self, facts: RunFacts) -> list[tuple[tuple[str, str], list[Any]]]:
        axes: list[tuple[tuple[str, str], list[Any]]] = []
        for path in sorted(self.sections):
            texts = [facts.baseline.sections[path], *self.sections[path]]
            axes.append((("section", path), list(dict.fromkeys(texts))))
        for name in sorted(facts.space.parameters):
            values = values_of(facts.space.parameters[name], steps=self.steps)
            own = facts.baseline.parameters.get(name)
            if own is not None and own not in values:
                values.insert(0, own)
            if values:
                axes.append((("parameter", name), list(values)))
        return axes


def _placed(baseline: Configuration, point: Mapping[tuple[str, str], Any]) -> Configuration:
    value = baseline.to_json()
    for (kind, name), chosen in point.items():
        value["sections" if kind == "section" else "parameters"][name] = chosen
    return Configuration.of(value)


def _describe(baseline: Configuration, point: Mapping[tuple[str, str], Any]) -> str:
    said = []
    for (kind, name), chosen in point.items():
        if kind == "parameter":
            said.append(f"{name} = {chosen!r}")
        elif chosen != baseline.sections[name]:
            said.append(f"another text of {name}")
    return f"A point of the grid: {', '.join(said)}."
