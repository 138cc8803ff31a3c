"""A support desk for `gepa`: tickets whose topic the prompt must know, and models that reflect."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from asking_driver import AskingRun, rows
from burnish.optimizers.gepa.moves import Kind, kind_of
from driver import World

from burnish.domain import (
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentType,
    ItemResult,
    SearchSpace,
    TrialResult,
)
from burnish.optimizers import Gepa

TOPICS = ("parcel", "invoice", "ferry", "boiler", "passport", "voucher")
BASELINE = Configuration.of(
    {
        "sections": {
            "system": "Route the ticket to the right desk.\nSay nothing else.",
            "user": "{{ticket}}",
        }
    }
)
LOCKED = SearchSpace(locked=("user",))


def topic_of(number: int) -> str:
    return TOPICS[number * 7 % len(TOPICS)]


ITEMS = {
    **rows(
        "train", 30, ticket=lambda n: f"Hello, it is me, {n}, with my {topic_of(n)} since May {n}"
    ),
    **rows("validation", 24, ticket=lambda n: f"Dear all, {n} wrote about a {topic_of(n)} today"),
}
TRAIN, VALIDATION = (
    tuple(one.id for one in ITEMS.values() if one.split == split)
    for split in ("train", "validation")
)
SPLITS = {"train": TRAIN, "validation": VALIDATION}


def rule(topic: str) -> str:
    return f"Tickets on the {topic} go to desk-{topic}."


def desk_world(candidate: Candidate, item: str) -> tuple[float, str]:
    """Right where the prompt has the rule; every poem costs the answers of one topic."""
    text = "\n".join(candidate.configuration.sections.values())
    topic = topic_of(int(item[1:]))
    spoilt = TOPICS[: text.count("poem")]
    right = rule(topic) in text and topic not in spoilt
    return float(right), f"desk-{topic}" if right else "desk-none"


def desk_feedback(candidate: Candidate, item: str) -> str:
    topic = topic_of(int(item[1:]))
    return f"The {topic} belongs to desk-{topic}."


def current_text(prompt: str) -> str:
    return re.search(r"^(`{3,})\n(.*?)\n\1$", prompt, re.DOTALL | re.MULTILINE)[2]


def missing_topics(prompt: str) -> list[str]:
    """Topics that failed and of which the current text does not speak."""
    text = current_text(prompt)
    told = dict.fromkeys(re.findall(r"wrong, score \S+ The (\w+) belongs", prompt))
    return [topic for topic in told if rule(topic) not in text]


def helpful(prompt: str) -> str:
    """Adds the rules that are missing for the tickets it is shown."""
    text = "\n".join([current_text(prompt), *map(rule, missing_topics(prompt))])
    return f"Some desks were not named.\n```\n{text}\n```"


@dataclass
class GepaRun(AskingRun):
    """Trials and mini-batches of a candidate add up, and what was paid for is not paid again."""

    world: World = desk_world
    baseline: Configuration = BASELINE
    budget: int | None = None
    repeats: int = 1
    paid: set[tuple[str, str]] = field(default_factory=set)
    batch_items: list[tuple[str, ...]] = field(default_factory=list)

    def step(self, max_trials: int) -> bool:
        if self.budget is not None:
            self.evaluations_left = self.budget - self.spent
        return super().step(max_trials)

    @property
    def spent(self) -> int:
        return len(self.paid) * self.repeats

    def kinds(self) -> list[Kind | None]:
        return [kind_of(one) for one in self.candidates.values()]

    def texts(self) -> list[str]:
        return ["\n".join(one.configuration.sections.values()) for one in self.candidates.values()]

    def _run_trial(self, candidate: Candidate, incumbent: str | None) -> TrialResult:
        return self._merged(candidate, self.splits["validation"], ExperimentType.TRIAL)

    def _run_batch(self, candidate: Candidate, item_ids: tuple[str, ...]) -> TrialResult:
        batch = self._merged(candidate, item_ids, ExperimentType.MINI_BATCH)
        self.batches.append(self.trials.pop())
        self.batch_items.append(item_ids)
        return batch

    def _merged(self, candidate: Candidate, items, kind: ExperimentType) -> TrialResult:
        kept = [one for one in self.results.get(candidate.id, ()) if one.item_id not in items]
        mine = [one for item in items for one in self._repeated(candidate, item)]
        self._record(candidate, mine, ExperimentStatus.COMPLETED)
        self.trials[-1] = replace(self.trials[-1], type=kind)
        self.results[candidate.id] = [*kept, *mine]
        self.paid.update((candidate.configuration.hash, item) for item in items)
        return self.trials[-1]

    def _repeated(self, candidate: Candidate, item: str) -> list[ItemResult]:
        return [
            replace(self._result(candidate, item), repeat=number) for number in range(self.repeats)
        ]


def gepa_run(model=helpful, *, kind: type[GepaRun] = GepaRun, **more) -> GepaRun:
    settings = more.pop("settings", {})
    given = {
        "items": ITEMS,
        "splits": SPLITS,
        "space": LOCKED,
        "feedback": desk_feedback,
        "places": 16,
        **more,
    }
    return kind(optimizer=lambda: Gepa(model=model, **settings), **given)


def hashes(run: AskingRun) -> list[str]:
    return [one.configuration.hash for one in run.candidates.values()]


def counted(model):
    asked = []

    def answer(prompt):
        asked.append(prompt)
        return model(prompt)

    return answer, asked


def renamed(text: str, ids: dict[str, str]) -> str:
    for old, new in ids.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return text


def with_ids(run: GepaRun, ids: dict[str, str]) -> GepaRun:
    """The same run with other candidate ids."""
    other = gepa_run()
    other.evaluations_left = run.evaluations_left
    other.candidates = {
        ids[one.id]: replace(
            one,
            id=ids[one.id],
            parent_candidate_ids=tuple(ids[parent] for parent in one.parent_candidate_ids),
        )
        for one in run.candidates.values()
    }
    other.trials = [replace(one, candidate_id=ids[one.candidate_id]) for one in run.trials]
    other.batches = [replace(one, candidate_id=ids[one.candidate_id]) for one in run.batches]
    other.results = {ids[key]: value for key, value in run.results.items()}
    return other
