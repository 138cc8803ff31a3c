"""The `meta_prompt` optimizer: a model sees what was tried and how it scored, and writes the next.

After Yang et al., Large Language Models as Optimizers (OPRO), with the failures of the best text shown
too. Failures are those of training items where there are any: the best is run on a few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import (
    CandidateProposal,
    Configuration,
    OptimizerState,
    StopDecision,
    TrialHistory,
)
from burnish.optimizers.shared.acceptance import Fresh, speaking_paths
from burnish.optimizers.shared.asking import Asker, ModelAsker, all_answers
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.meta_question import WAYS, MetaQuestion, Rewrite, Scored
from burnish.optimizers.shared.reflection import Shown
from burnish.optimizers.shared.search_status import ranked, stop
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import (
    TrainingSearch,
    failures_of,
    look_at_best,
    reader,
    some,
)
from burnish.support.number_checks import bad_setting, require_target, require_whole

_ATTEMPTS = 3
_CUT = "(Without lines that quote training items.)"


class MetaPrompt(ModelAsker, TrainingSearch):
    """Asks `model` for a new text of one section at a time, for each place of a step another way.

    It sees the best text, up to `shown` others in ascending order of scores, and `failures` tasks that
    went wrong. With a train split each new best is run on `batch` training items for that, so that what
    is learnt is not what is measured.
    `target` and `patience` end the search as in `edits`.
    """

    name = "meta_prompt"

    def __init__(
        self,
        *,
        model: Any,
        shown: int = 8,
        failures: int = 4,
        batch: int = 12,
        target: float | None = None,
        patience: int = 8,
    ) -> None:
        if model is None:
            raise bad_setting("meta_prompt", "model", "there is none to ask")
        self.shown = require_whole("meta_prompt", "shown", shown, least=1)
        self.failures = require_whole("meta_prompt", "failures", failures, least=0)
        self.batch = require_whole("meta_prompt", "batch", batch, least=1)
        self.target = require_target("meta_prompt", target)
        self.patience = require_whole("meta_prompt", "patience", patience, least=1)
        self._asker = Asker(model)

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """One for each trial, and as many again as it may try for one."""
        return trials, _ATTEMPTS * trials

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """New texts; before them a look at training items whenever the best is new."""
        found = look_at_best(state, history, self.batch) if self.failures else []
        if found and state.generation == 0:
            return found
        context = await _StepContext.of(state, history)
        places = range(max_candidates - len(found)) if context.paths else ()
        written = await all_answers(
            self._write(context, state, place, max_candidates) for place in places
        )
        fresh = context.fresh
        for one in written:
            if one is not None and fresh.take(one.configuration):
                found.append(
                    CandidateProposal(
                        configuration=one.configuration,
                        parent_candidate_ids=(context.best_id,),
                        rationale=f"{one.says} {_CUT}" if one.cut else one.says,
                    )
                )
        return found

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When there is no section to write."""
        if not speaking_paths(RunFacts.within(state)):
            return stop("no section may be changed: free one in the search space")
        return None

    async def _write(
        self, context: _StepContext, state: OptimizerState, place: int, max_candidates: int
    ) -> Rewrite | None:
        """A usable text for one place; after a bad answer another way and other failures are tried."""
        turn = state.generation + context.facts.in_flight(max_candidates) + place
        path = context.paths[turn % len(context.paths)]
        asked = (state.generation * context.facts.places + place) * _ATTEMPTS
        for attempt in range(_ATTEMPTS):
            chance = generator(context.facts.seed, "failures", asked, attempt)
            failed = some(context.failed, self.failures, chance)
            way = WAYS[(turn + attempt) % len(WAYS)]
            question = context.question(path, failed, most=self.shown, way=way)
            answer = await self._asker.ask(
                question.prompt(), turn=asked + attempt, beside=max_candidates
            )
            made = question.read(answer, context.best, baseline=context.facts.baseline)
            if made is not None and context.fresh.allows(made.configuration):
                return made
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _StepContext:
    """What the places of one step write from."""

    facts: RunFacts
    history: TrialHistory
    paths: Sequence[str]
    best_id: str
    best_score: float
    failed: Sequence[Shown]

    @classmethod
    async def of(cls, state: OptimizerState, history: TrialHistory) -> _StepContext:
        facts = RunFacts.within(state)
        whose = reader(state, history)
        return cls(
            facts=facts,
            history=history,
            paths=speaking_paths(facts),
            best_id=str(state.best_candidate_id),
            best_score=state.best_score or 0.0,
            failed=await failures_of(history, whose, state.algorithm_data["train"]),
        )

    @property
    def best(self) -> Configuration:
        """The configuration to improve on."""
        return self.history.candidate(self.best_id).configuration

    @property
    def fresh(self) -> Fresh:
        """What was not tried yet."""
        return Fresh(self.facts, self.history)

    def question(self, path: str, failed: Sequence[Shown], *, most: int, way: str) -> MetaQuestion:
        """What is asked about one section."""
        text = self.best.sections[path]
        tried: dict[str, float] = {}
        for trial in ranked(self.history):
            old = self.history.candidate(trial.candidate_id).configuration.sections[path]
            if old != text:
                tried.setdefault(old, trial.objective_score or 0.0)
        top = [Scored(text=old, score=score) for old, score in tried.items()][:most]
        return MetaQuestion(
            section=path,
            text=text,
            score=self.best_score,
            scored=top[::-1],
            failed=failed,
            others={name: said for name, said in self.best.sections.items() if name != path},
            facts=self.facts,
            max_chars=self.facts.space.max_section_chars,
            way=way,
        )
