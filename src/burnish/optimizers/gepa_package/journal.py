"""Journal of a run of the `gepa` package: results of evaluations and answers of its model so far.

All of it comes from the history and the state. The journal of reflections has three places:

- a reflection that made a new candidate stands in that candidate: its metadata has the prompt's digest
  by section, and the answer is the section's text;
- one that made none (a text that was there before, or that the framework would refuse) goes into the
  state with the next results;
- one that is in neither yet, because the process died in between, was never part of the run: the model
  is asked again, and a model behind the framework's call cache then says the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from burnish.domain import Candidate, CandidateProposal, ItemResult, TrialHistory, text_hash
from burnish.optimizers.shared.candidate_metadata import metadata_of

_DIGEST_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One item under one configuration."""

    score: float
    output: str
    feedback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The engine waits for this evaluation. `carried` are reflections that its candidate will hold."""

    proposal: CandidateProposal
    carried: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The engine came to its end."""

    message: str


Outcome: TypeAlias = Wanted | Ended


@dataclass
class Memory:
    """What was read and said so far in this process."""

    results: dict[str, tuple[tuple[str, ...], dict[str, Answer]]] = field(default_factory=dict)
    reflections: dict[str, str] = field(default_factory=dict)
    # Answers that were asked for since the last results, and those of them that a candidate holds.
    asked: dict[str, str] = field(default_factory=dict)
    carried: frozenset[str] = frozenset()

    def unheld(self, *, proposal_ran: bool) -> dict[str, str]:
        """Answers that are in no candidate and belong into the state; they are handed out once."""
        held = self.carried if proposal_ran else frozenset()
        found = {digest: text for digest, text in self.asked.items() if digest not in held}
        self.asked, self.carried = {}, frozenset()
        return found


class Journal:
    """The answers that a history and a state hold."""

    def __init__(
        self, history: TrialHistory, reflections: Mapping[str, str], memory: Memory
    ) -> None:
        self._history = history
        self._memory = memory
        self._experiments: dict[str, list[str]] = {}
        for one in (*history.tried, *history.mini_batches):
            self._experiments.setdefault(one.candidate_id, []).append(one.experiment_id)
        self._with_trial = {one.candidate_id for one in history.tried}
        candidates = [history.candidate(one) for one in self._experiments]
        self._by_hash = {one.configuration.hash: one for one in candidates}
        self._reflections = dict(memory.reflections) | dict(reflections)
        for candidate in candidates:
            self._reflections.update(_carried_by(candidate))

    def candidate(self, configuration_hash: str) -> Candidate | None:
        """The candidate of a configuration that ran on something."""
        return self._by_hash.get(configuration_hash)

    def had_trial(self, candidate_id: str) -> bool:
        """Whether it ran over the validation split, however that ended."""
        return candidate_id in self._with_trial

    def results(self, candidate_id: str) -> Mapping[str, Answer]:
        """Its answers by item."""
        experiments = tuple(sorted(self._experiments[candidate_id]))
        known = self._memory.results.get(candidate_id)
        if known is None or known[0] != experiments:
            known = (experiments, _by_item(self._history.item_results(candidate_id)))
            self._memory.results[candidate_id] = known
        return known[1]

    def reflection(self, digest: str) -> str | None:
        """What the model said, if it was asked."""
        return self._reflections.get(digest)

    def remember(self, digest: str, text: str) -> None:
        """Note an answer that was just given."""
        self._reflections[digest] = text
        self._memory.reflections[digest] = text
        self._memory.asked[digest] = text


def digest_of(prompt: str, turn: int) -> str:
    """What a reflection is known by; equal prompts are told apart by their turn."""
    return text_hash(f"{turn}\x1f{prompt}")[:_DIGEST_CHARS]


def _carried_by(candidate: Candidate) -> dict[str, str]:
    digests = metadata_of(candidate).get("reflections")
    sections = candidate.configuration.sections
    if not isinstance(digests, Mapping):
        return {}
    return {str(digest): sections[path] for path, digest in digests.items() if path in sections}


def _by_item(results: Sequence[ItemResult]) -> dict[str, Answer]:
    runs: dict[str, list[ItemResult]] = {}
    for one in results:
        runs.setdefault(one.item_id, []).append(one)
    return {item_id: _answer(repeats) for item_id, repeats in runs.items()}


def _answer(repeats: Sequence[ItemResult]) -> Answer:
    """The mean score of the repeats, the first output, and all that was said."""
    score = sum(one.score for one in repeats) / len(repeats)
    said = dict.fromkeys(word for one in repeats for word in _said(one))
    output = repeats[0].output
    return Answer(
        score=score,
        output="" if output is None else output.text,
        feedback="\n".join(said) or f"This response scored {score:g}.",
    )


def _said(result: ItemResult) -> list[str]:
    reasons = [one.reason for one in result.scores if one.reason]
    return [result.error.message, *reasons] if result.error is not None else reasons
