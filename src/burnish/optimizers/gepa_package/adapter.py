"""What the `gepa` package talks to: its adapter, reflection model, stopper and callbacks in one.

All four read one journal. What leaves the engine early is a BaseException, because the package takes
every Exception in a reflection for a bad answer and goes on.
"""

from __future__ import annotations

import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import Any

import gepa.api
from gepa.core.adapter import EvaluationBatch
from gepa.strategies.instruction_proposal import InstructionProposalSignature

from burnish.domain import CandidateProposal, Configuration, Item, UsageError
from burnish.domain.json_values import normalise_text
from burnish.domain.wording import counted
from burnish.optimizers.gepa_package.journal import (
    Answer,
    Ended,
    Journal,
    Outcome,
    Wanted,
    digest_of,
)
from burnish.optimizers.shared.acceptance import is_acceptable
from burnish.optimizers.shared.facts import RunFacts

# No score at all: what the framework would not run must never look like an improvement.
_REFUSED = Answer(score=float("-inf"), output="", feedback="This text cannot be used.")
_LOST = Answer(score=0.0, output="", feedback="There is no result.")
_FEWEST_IDLE_ITERATIONS = 20
_IDLE_EPOCHS = 3
_optimize: Callable[..., Any] = gepa.api.optimize


class Halt(BaseException):
    """Leaves the engine, for a reason if its model failed."""

    def __init__(self, reason: Exception | None = None) -> None:
        super().__init__()
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the package works on. So many `refusals` of the framework are part of the replay."""

    facts: RunFacts
    train: Sequence[Item]
    validation: Sequence[Item]
    journal: Journal
    ask: Callable[[str, int], str]
    refusals: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """An item in the package's train or validation set."""

    item: Item
    validates: bool


@dataclass
class _Context:
    """What the engine is about to evaluate, as its callbacks told."""

    programs: Sequence[Mapping[str, str]] = ()
    parents: Sequence[int] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)


class EngineAdapter:
    """Answers the engine from the journal. Where that ends, `wait` is told what is wanted.

    It returns the same task with a longer journal, or None if there will be none.
    """

    propose_new_texts = None

    def __init__(
        self, task: Task, minibatch_size: int, wait: Callable[[Wanted], Task | None]
    ) -> None:
        self._task = task
        self._wait = wait
        self._refusals = 0
        self._refused: set[str] = set()
        self._lost: set[tuple[str, str]] = set()
        self._turns: Counter[str] = Counter()
        self._validation = {item.id for item in task.validation}
        self._context = _Context()
        self._seen: set[tuple[str, str]] = set()
        self._fresh = True
        epoch = -(-len(task.train) // minibatch_size)
        self._patience = max(_IDLE_EPOCHS * epoch, _FEWEST_IDLE_ITERATIONS)
        self.idle = 0

    # --- the adapter --------------------------------------------------------------------------

    def evaluate(
        self, batch: list[Row], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[dict[str, Any], str]:
        """Answers from the journal, once it has them."""
        answers = self._answers(self._configuration(candidate), batch)
        traces = [self._trace(row.item, one) for row, one in zip(batch, answers, strict=True)]
        return EvaluationBatch(
            outputs=[one.output for one in answers],
            scores=[one.score for one in answers],
            trajectories=traces if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[dict[str, Any], str],
        components_to_update: list[str],
    ) -> dict[str, list[dict[str, Any]]]:
        """The same rows for each component."""
        return {name: list(eval_batch.trajectories or ()) for name in components_to_update}

    def _trace(self, item: Item, answer: Answer) -> dict[str, Any]:
        shown = self._task.facts.baseline.placeholders.intersection(item.data)
        inputs = {key: value for key, value in item.data.items() if not shown or key in shown}
        return {"Inputs": inputs, "Generated Outputs": answer.output, "Feedback": answer.feedback}

    def _configuration(self, candidate: Mapping[str, str]) -> Configuration | None:
        """None for what the framework would refuse."""
        facts = self._task.facts
        texts = {str(name): text for name, text in candidate.items()}
        try:
            found = facts.baseline.with_sections(texts)
        except UsageError:
            return None
        acceptable = is_acceptable(found, baseline=facts.baseline, space=facts.space)
        return found if acceptable else None

    def _answers(self, configuration: Configuration | None, batch: Sequence[Row]) -> list[Answer]:
        if configuration is None or configuration.hash in self._refused:
            return [_REFUSED] * len(batch)
        ids = list(dict.fromkeys(row.item.id for row in batch))
        whole = all(row.validates for row in batch) and set(ids) == self._validation
        self._complete(configuration, ids, whole)
        if configuration.hash in self._refused:
            return [_REFUSED] * len(batch)
        self._note(configuration.hash, ids)
        known = self._known(configuration.hash)
        return [known.get(row.item.id, _LOST) for row in batch]

    def _complete(self, configuration: Configuration, ids: Sequence[str], whole: bool) -> None:
        """Wait until all is answered, or refused. The whole validation split is a trial's work."""
        digest = configuration.hash
        while True:
            candidate = self._task.journal.candidate(digest)
            known = self._known(digest)
            missing = [one for one in ids if one not in known and (digest, one) not in self._lost]
            trial_due = whole and (
                candidate is None or not self._task.journal.had_trial(candidate.id)
            )
            if not missing and not trial_due:
                return
            if self._refusals < self._task.refusals:
                self._refusals += 1
                if candidate is None:
                    self._refused.add(digest)
                self._lost.update((digest, one) for one in missing)
                return
            # An item that ran is never run again: a second result would change the first answer.
            longer = self._wait(self._wanted(configuration, None if trial_due else missing))
            if longer is None:
                raise Halt
            self._task = longer

    def _known(self, configuration_hash: str) -> Mapping[str, Answer]:
        candidate = self._task.journal.candidate(configuration_hash)
        return {} if candidate is None else self._task.journal.results(candidate.id)

    def _wanted(self, configuration: Configuration, item_ids: Sequence[str] | None) -> Wanted:
        journal, context = self._task.journal, self._context
        if journal.candidate(configuration.hash) is not None:
            proposal = CandidateProposal(configuration=configuration, item_ids=item_ids)
            return Wanted(proposal=proposal, carried=frozenset())
        parents = [
            found.id
            for one in context.parents
            if (made := self._configuration(context.programs[one])) is not None
            and (found := journal.candidate(made.hash)) is not None
        ]
        digests = {
            str(name): digest_of(prompt, self._turns[prompt] - 1)
            for name, prompt in context.prompts.items()
        }
        proposal = CandidateProposal(
            configuration=configuration,
            parent_candidate_ids=parents,
            rationale=_rationale(parents, digests),
            item_ids=item_ids,
            metadata={"reflections": digests},
        )
        return Wanted(proposal=proposal, carried=frozenset(digests.values()))

    # --- the reflection model -----------------------------------------------------------------

    def reflect(self, prompt: str) -> str:
        """The model's text as a configuration keeps it, fenced so that the package reads just that."""
        turn = self._turns[prompt]
        self._turns[prompt] += 1
        digest = digest_of(prompt, turn)
        text = self._task.journal.reflection(digest)
        if text is None:
            try:
                answer = self._task.ask(prompt, turn)
            except Exception as error:
                # The package would skip the iteration, and a replay could not tell that it did.
                raise Halt(error) from error
            found = InstructionProposalSignature.output_extractor(answer.strip())
            text = normalise_text(found["new_instruction"])
            self._task.journal.remember(digest, text)
        return f"```\n{text}\n```"

    # --- the stopper --------------------------------------------------------------------------

    def _note(self, digest: str, item_ids: Sequence[str]) -> None:
        pairs = {(digest, one) for one in item_ids}
        self._fresh = self._fresh or not pairs <= self._seen
        self._seen |= pairs

    def goes_in_circles(self, gepa_state: object) -> bool:
        """Whether the engine has long asked for nothing that it had not asked for before."""
        self.idle = 0 if self._fresh else self.idle + 1
        self._fresh = False
        return self.idle >= self._patience

    # --- the callbacks ------------------------------------------------------------------------

    def on_iteration_start(self, event: Mapping[str, Any]) -> None:
        """Nothing is known of the iteration yet."""
        self._context = _Context(programs=event["state"].program_candidates)

    def on_proposal_end(self, event: Mapping[str, Any]) -> None:
        """A reflection made new texts."""
        self._context.prompts = event["prompts"]

    def on_evaluation_start(self, event: Mapping[str, Any]) -> None:
        """A candidate is about to be evaluated on a mini-batch; a new one has no index yet."""
        self._context.parents = event["parent_ids"] if event["candidate_idx"] is None else ()


def _rationale(parents: Sequence[str], digests: Mapping[str, str]) -> str:
    if not digests:
        return f"merge of {' and '.join(parents)}"
    sections = ", ".join(digests)
    mark = " ".join(f"{path}={digest}" for path, digest in digests.items())
    return f"reflection on {' and '.join(parents)}: new {sections} [reflection {mark}]"


class _Name(str):
    """A component's name whose hash is the same in every process.

    The package merges components in the order of a set of names; a resumed run must draw alike.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return zlib.crc32(self.encode())


class _Silence:
    def log(self, message: str) -> None:
        """The package tells every iteration; the framework has its own events."""


def replay(
    task: Task,
    settings: Mapping[str, Any],
    wait: Callable[[Wanted], Task | None],
    *,
    max_metric_calls: int | None,
) -> Ended:
    """Run the package to its end; Halt leaves it when `wait` or the model does not let it go on.

    Without `max_metric_calls` it also ends when it goes in circles; alone it would do so for ever.
    """
    facts = task.facts
    seed = {
        _Name(path): text
        for path, text in facts.baseline.sections.items()
        if facts.space.may_change(path)
    }
    if not seed:
        return Ended(message="there is no section that may be changed")
    adapter = EngineAdapter(task, settings["reflection_minibatch_size"], wait)
    result = _optimize(
        seed_candidate=seed,
        trainset=[Row(item, validates=False) for item in task.train],
        valset=[Row(item, validates=True) for item in task.validation],
        adapter=adapter,
        reflection_lm=adapter.reflect,
        stop_callbacks=adapter.goes_in_circles if max_metric_calls is None else None,
        max_metric_calls=max_metric_calls,
        logger=_Silence(),
        callbacks=[adapter],
        track_best_outputs=False,
        seed=facts.seed,
        **settings,
    )
    why = (
        f"the last {adapter.idle} iterations needed nothing new"
        if max_metric_calls is None
        else f"max_metric_calls = {max_metric_calls} is reached"
    )
    return Ended(
        message=f"the gepa package ended with {counted(len(result.candidates), 'candidate')} "
        f"after {counted(result.total_metric_calls, 'metric call')}: {why}"
    )


class Session:
    """One engine at work. It ends with its last answer, or when nobody holds the session any more."""

    def __init__(self, settings: Mapping[str, Any], *, max_metric_calls: int | None) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._outcomes: SimpleQueue[Outcome | Exception] = SimpleQueue()
        # The thread knows the queues and not the session, which could not be let go otherwise.
        self._thread = Thread(
            target=_work,
            args=(self._tasks, self._outcomes, dict(settings), max_metric_calls),
            name="gepa",
            daemon=True,
        )
        self._thread.start()
        weakref.finalize(self, self._tasks.put, None).atexit = False

    @property
    def waiting(self) -> bool:
        """Whether it can go on; a process that was forked has no such thread."""
        return self._thread.is_alive()

    def go_on(self, task: Task) -> Outcome:
        """Work with a journal that is longer than the last one, up to where it ends."""
        self._tasks.put(task)
        outcome = self._outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def _work(
    tasks: SimpleQueue[Task | None],
    outcomes: SimpleQueue[Outcome | Exception],
    settings: Mapping[str, Any],
    max_metric_calls: int | None,
) -> None:
    def wait(wanted: Wanted) -> Task | None:
        outcomes.put(wanted)
        return tasks.get()

    task = tasks.get()
    if task is None:
        return
    try:
        outcomes.put(replay(task, settings, wait, max_metric_calls=max_metric_calls))
    except Halt as halt:
        if halt.reason is not None:
            outcomes.put(halt.reason)
    except Exception as error:  # noqa: BLE001 - it is raised where the session is asked
        outcomes.put(error)
