"""A small deterministic world for optimizations: an agent, an optimizer, and a way to run them."""

import asyncio
import hashlib
import json
import os
import random
import signal
from pathlib import Path

import burnish
from burnish.app.optimize.optimizations import Optimization, load_result
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.optimization.racing import RacingMode

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
WORTH = {"alpha": 0.2, "gamma": 0.15, "eta": 0.25}
CONCURRENCY = 4


class World:
    """Where the agent's calls are logged and the database lies."""

    def __init__(self, folder, *, item_seconds=0.002, outage_seconds=0.1):
        self.folder = Path(folder)
        self.db = str(self.folder / "world.db")
        self.log = self.folder / "calls.log"
        self.item_seconds = item_seconds
        self.outage_seconds = outage_seconds
        self.id_file = self.folder / "id"
        self.on_call = None

    def calls(self):
        """Each call of the agent as `configuration item`."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def optimization_id(self):
        return self.id_file.read_text() if self.id_file.exists() else None

    def remember(self, optimization_id):
        """Keep the id as a whole: whoever is killed while writing leaves no half of it."""
        whole = self.id_file.with_suffix(".new")
        whole.write_text(optimization_id)
        whole.replace(self.id_file)


def hang_from(world, number):
    """Calls of the agent from this one on come to no end."""

    async def called():
        if len(world.calls()) >= number:
            await asyncio.Event().wait()

    world.on_call = called


def agent_of(world):
    async def run(configuration, item):
        text = configuration["sections"]["system"]
        with world.log.open("a") as log:
            log.write(f"{hashlib.sha256(text.encode()).hexdigest()[:12]} {item['n']}\n")
        if world.on_call is not None:
            await world.on_call()
        words = len(text.split())
        await asyncio.sleep(world.item_seconds)
        chance = 0.3 + sum(worth for word, worth in WORTH.items() if word in text)
        digest = hashlib.sha256(f"{text}|{item['n']}".encode()).hexdigest()
        text = "yes" if int(digest[:8], 16) / 16**8 < chance else "no"
        usage = burnish.Usage(calls=1, input_tokens=10 * words, output_tokens=1)
        spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
        return burnish.AgentOutput(text=text, spending=spending)

    return burnish.Agent(
        name="world",
        configuration={"sections": {"system": "Base {{n}}"}},
        run=run,
        version="1",
        concurrency=CONCURRENCY,
        outage_seconds=world.outage_seconds,
    )


def suite():
    return burnish.Suite(
        dataset=[{"n": n, "label": "yes"} for n in range(40)],
        scorers=[{"kind": "exact_match", "field": "label"}],
        split={"train": 0.2, "validation": 0.5, "test": 0.3},
    )


class Climber:
    """Adds a word to the best candidate so far, or to the baseline; every draw is seeded."""

    name = "climber"

    def initialize(self, context):
        return burnish.OptimizerState(
            algorithm_data={
                "seed": context.seed,
                "root": context.baseline_candidate_id,
                "base": context.baseline.to_json(),
            }
        )

    def propose(self, state, history, max_candidates):
        draw = random.Random(f"{state.algorithm_data['seed']}:{state.generation}")
        best = max(
            (t for t in history.trials if t.counts),
            key=lambda t: (t.objective_score, -history.candidate(t.candidate_id).number),
        )
        parent = history.candidate(best.candidate_id)
        proposals = []
        for _ in range(max_candidates):
            text = parent.configuration.sections["system"]
            added = " ".join(draw.sample(WORDS, 2))
            proposals.append(
                burnish.CandidateProposal(
                    configuration={"sections": {"system": f"{text} {added}"}},
                    parent_candidate_ids=[parent.id],
                    rationale=f"added {added}",
                )
            )
        return proposals

    def observe(self, state, trial_results):
        return burnish.OptimizerState(
            generation=state.generation + 1, algorithm_data=state.algorithm_data
        )

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)


async def prepare(
    world, workspace, *, optimizer=None, racing="off", budget=None, lease_seconds=30.0, **search
):
    return Optimization(
        workspace,
        agent_of(world),
        suite(),
        SearchSpec(optimizer=optimizer or Climber(), seed=5, racing=RacingMode(racing), **search),
        budget or burnish.Budget(max_trials=12),
        lease_seconds=lease_seconds,
    )


async def run(world, **options):
    """Start or go on with the world's optimization, to its end."""
    async with Workspace.open(world.db) as workspace:
        optimization = await prepare(world, workspace, **options)
        try:
            if world.optimization_id is None:
                world.remember((await optimization.create()).id)
            return await optimization.run(world.optimization_id)
        finally:
            await optimization.close()


async def result_of(world):
    async with Workspace.open(world.db) as workspace:
        return await load_result(workspace, world.optimization_id)


def fingerprint(result):
    """What must be equal between an undisturbed run and any other: all but random ids."""
    number = {one.id: one.number for one in result.candidates.values()}
    document = json.loads(json.dumps(result.to_json()))
    return {
        "best": (number[document["best"]["candidate_id"]], document["best"]["score"]),
        "configuration": document["best"]["configuration"],
        "test": document["test"],
        "improvement": document["improvement"],
        "trials": [
            (number[t.candidate_id], t.status.value, t.objective_score) for t in result.trials
        ],
        "parents": {
            one.number: [number[parent] for parent in one.parent_candidate_ids]
            for one in result.candidates.values()
        },
        "evaluations": document["evaluations"],
        "rejections": document["rejections"],
        "progress": [
            (p["evaluations"], number[p["best_candidate_id"]], p["best_score"])
            for p in document["progress"]
        ],
        "stop_reason": document["stop_reason"],
    }


def in_child(work):
    """Start work in a forked process; its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        work()
        status = 0
    except BaseException as error:  # the exit code tells the parent
        status = getattr(error, "exit_code", 1)
    finally:
        os._exit(status)


def wait_for(child):
    """The exit code of a child, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
