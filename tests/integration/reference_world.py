"""A simulated task for the `gepa` package: rules to be found, every draw hashed from content alone.

The same functions serve the package run straight and the same package behind burnish.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import gepa
import gepa.api

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_plan import split_ids
from burnish.app.wiring import Workspace, build_suite
from burnish.config.search import SearchSpec
from burnish.domain import SearchSpace
from burnish.optimization.racing import RacingMode

RULES = {
    "system": ["alpha", "beta", "gamma", "delta", "epsilon"],
    "style": ["zeta", "eta", "theta", "iota", "kappa"],
}
BASE = {"system": "Do the task.", "style": "Be brief.", "user": "Answer {{n}}"}
COMPONENTS = ("system", "style")
LOCKED = SearchSpace(locked=("user",))


def draw(*words):
    """A number from 0 to 1 that belongs to these words."""
    digest = hashlib.sha256("|".join(str(word) for word in words).encode()).hexdigest()
    return int(digest[:12], 16) / 16**12


def needs(n):
    """The rules that an item asks for, as (section, rule)."""
    every = [(section, rule) for section, rules in RULES.items() for rule in rules]
    return sorted(every, key=lambda one: draw("need", n, *one))[:4]


@dataclass(frozen=True)
class Task:
    """How answers are scored. Without luck many candidates score alike."""

    luck: float = 0.2

    def score(self, texts, n):
        """A score, and what a scorer would say of it."""
        wanted = needs(n)
        missing = [rule for section, rule in wanted if rule not in texts[section]]
        share = 1 - len(missing) / len(wanted)
        lucky = draw("luck", n, *(texts[section] for section in COMPONENTS))
        said = f"missing: {' '.join(missing)}" if missing else "all well"
        return (1 - self.luck) * share + self.luck * lucky, said

    def agent(self, base=BASE, calls=None):
        def run(configuration, item):
            score, said = self.score(configuration["sections"], item["n"])
            if calls is not None:
                with Path(calls).open("a") as lines:
                    lines.write(f"{draw(*configuration['sections'].values())} {item['n']}\n")
            return f"{score!r} {said}"

        return burnish.Agent(
            name="rules", configuration={"sections": base}, run=run, version=str(self.luck)
        )


def reflect(prompt):
    """Adds a rule that the feedback names, or a useless word, or loses one."""
    current = prompt.split("```")[1].strip()
    named = {word for line in re.findall(r"missing: ([a-z ]+)", prompt) for word in line.split()}
    words = sorted(named - set(current.split()))
    chance = draw("reflect", prompt)
    kept = current.split(" ")
    if chance < 0.2 and len(kept) > 3:
        kept.pop()
    added = words[int(draw("which", prompt) * len(words))] if words and chance < 0.8 else "please"
    return f"Here it is:\n```\n{' '.join([*kept, added])}\n```"


def scored(output, item):
    score, _, reason = output.text.partition(" ")
    return burnish.Score(value=float(score), reason=reason)


def suite():
    return burnish.Suite(
        dataset=[{"n": n, "id": f"i{n:03}"} for n in range(31)],
        scorers=[scored],
        # 16 train items: the last mini-batch of an epoch is padded with an item that it has already.
        split={"train": 16, "validation": 15},
    )


def split_numbers():
    """The numbers of the train and validation split, in their order."""
    found = split_ids(build_suite(suite(), None))
    return [[int(one[1:]) for one in found[name]] for name in ("train", "validation")]


class StraightAdapter:
    """What a user of the package would write."""

    propose_new_texts = None

    def __init__(self, task):
        self._task = task
        self._parents = None
        # Which candidates a text was first made of; the package keeps that for accepted ones only.
        self.made = {}

    def on_iteration_start(self, event):
        self._programs = event["state"].program_candidates

    def on_evaluation_start(self, event):
        if event["candidate_idx"] is None:
            self._parents = [tuple(self._programs[one].values()) for one in event["parent_ids"]]

    def evaluate(self, batch, candidate, capture_traces=False):
        if self._parents is not None:
            self.made.setdefault(tuple(candidate.values()), self._parents)
            self._parents = None
        found = [self._task.score(candidate, n) for n in batch]
        outputs = [f"{score!r} {said}" for score, said in found]
        rows = [
            {"Inputs": {"n": n}, "Generated Outputs": output, "Feedback": said}
            for n, output, (_, said) in zip(batch, outputs, found, strict=True)
        ]
        return gepa.EvaluationBatch(
            outputs=outputs, scores=[score for score, _ in found], trajectories=rows
        )

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        return dict.fromkeys(components_to_update, eval_batch.trajectories)


class Quiet:
    def log(self, message):
        pass


def straight(*, seed, **settings):
    """The package alone: its result, and what each text was first made of."""
    train, validation = split_numbers()
    adapter = StraightAdapter(Task())
    result = gepa.api.optimize(
        seed_candidate={name: BASE[name] for name in COMPONENTS},
        trainset=train,
        valset=validation,
        adapter=adapter,
        reflection_lm=reflect,
        seed=seed,
        logger=Quiet(),
        callbacks=[adapter],
        **settings,
    )
    return result, adapter.made


async def run(
    db,
    optimizer,
    *,
    seed=0,
    agent=None,
    budget=None,
    resume=None,
    started=None,
    racing="off",
    space=LOCKED,
    **search,
):
    """One optimization of the world, to its end; `started` is told its id."""
    async with Workspace.open(str(db)) as workspace:
        optimization = Optimization(
            workspace,
            agent or Task().agent(),
            suite(),
            SearchSpec(
                optimizer=optimizer, seed=seed, space=space, racing=RacingMode(racing), **search
            ),
            budget or burnish.Budget(),
        )
        try:
            optimization_id = resume or (await optimization.create()).id
            if started is not None:
                started(optimization_id)
            return await optimization.run(optimization_id)
        finally:
            await optimization.close()


async def events_of(db, optimization_id):
    async with Workspace.open(str(db)) as workspace:
        return await workspace.optimizations.list_events(optimization_id, limit=100_000)
