"""`gepa` through the real orchestrator: the same run by seed and after kills, within its budget."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kills import die, die_at_write, killed
from optimization_world import fingerprint

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.benchmarks import make_world, run_burnish
from burnish.config.search import SearchSpec
from burnish.domain import OptimizationStatus, UnavailableError
from burnish.optimizers import Auto, Gepa
from burnish.support.retry import RetryPolicy

TOPICS = ("parcel", "invoice", "ferry", "boiler", "passport", "voucher", "antenna", "licence")
SHARES = {"train": 24, "validation": 20, "test": 12}
ROWS = [
    {
        "id": f"{split}{n}",
        "ticket": f"Number {n} writes in {split} about the {TOPICS[n * 5 % 8]}",
        "topic": TOPICS[n * 5 % 8],
        "label": "right",
        "split": split,
    }
    for split, count in SHARES.items()
    for n in range(count)
]


def rule(topic: str) -> str:
    return f"Tickets on the {topic} go to desk-{topic}."


def draw(*parts: object) -> float:
    return random.Random("|".join(map(str, parts))).random()


def writer(prompt: str) -> str:
    """Adds a rule or two for what failed; a useless line, a wrong one or nonsense now and then."""
    text = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
    told = dict.fromkeys(re.findall(r"Nothing on the (\w+)", prompt))
    missing = [topic for topic in told if rule(topic) not in text]
    lines = [rule(topic) for topic in missing[:2] if draw(prompt, topic) < 0.7]
    if draw(prompt, "useless") < 0.3:
        lines.append(f"Be careful with case {int(100 * draw(prompt))}.")
    if draw(prompt, "nonsense") < 0.1:
        return "I'd rather not."
    return "\n".join(["Some rules were missing.", "```", text, *lines, "```"])


def judge(output, item) -> burnish.Score:
    right = str(output) == item["label"]
    return burnish.Score(float(right), "" if right else f"Nothing on the {item['topic']}.")


class World:
    """An agent whose calls are logged, in a folder with a database."""

    def __init__(self, folder, *, known: float = 0.95, guessed: float = 0.0) -> None:
        self.folder = Path(folder)
        self.db = self.folder / "world.db"
        self.log = self.folder / "calls.log"
        self.id_file = self.folder / "id"
        self.deadly_call = 0
        self.chance = {True: known, False: guessed}

    @property
    def agent(self) -> burnish.Agent:
        async def run(configuration, item):
            text = configuration["sections"]["system"]
            with self.log.open("a") as log:
                log.write(f"{hash(text)} {item['ticket']}\n")
            if self.deadly_call and self.calls() == self.deadly_call:
                die()
            await asyncio.sleep(0)
            chance = self.chance[rule(item["topic"]) in text]
            usage = burnish.Usage(calls=1, input_tokens=len(text.split()), output_tokens=1)
            return burnish.AgentOutput(
                text="right" if draw(text, item["ticket"]) < chance else "wrong",
                spending=burnish.Spending.on(burnish.Purpose.AGENT, usage),
            )

        return burnish.Agent(
            name="desk",
            configuration={
                "sections": {"system": "Route the ticket.\nBe brief.", "user": "{{ticket}}"}
            },
            run=run,
            version="1",
            concurrency=4,
        )

    @property
    def suite(self) -> burnish.Suite:
        return burnish.Suite(dataset=ROWS, scorers=[judge], split="field")

    def calls(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def optimize(world: World, optimizer=None, budget=None, **options) -> burnish.OptimizationResult:
    return burnish.optimize(
        agent=world.agent,
        suite=world.suite,
        optimizer=optimizer or Gepa(model=writer, accept_threshold=2.0),
        budget=budget or burnish.Budget(max_evaluations=200),
        space={"locked": ["user"]},
        seed=7,
        db=world.db,
        **options,
    )


async def sit(world: World, model=writer, evaluations: int = 200) -> burnish.OptimizationResult:
    """Start or go on with the world's optimization, to its end."""
    async with Workspace.open(str(world.db)) as workspace:
        optimization = Optimization(
            workspace,
            world.agent,
            world.suite,
            SearchSpec(
                optimizer=Gepa(model=model, accept_threshold=2.0),
                seed=7,
                space=burnish.SearchSpace(locked=("user",)),
            ),
            burnish.Budget(max_evaluations=evaluations),
        )
        try:
            if not world.id_file.exists():
                world.id_file.write_text((await optimization.create()).id)
            return await optimization.run(world.id_file.read_text())
        finally:
            await optimization.close()


def whole(result: burnish.OptimizationResult) -> dict:
    """All that must be equal between two runs: everything but ids."""
    candidates = sorted(result.candidates.values(), key=lambda one: one.number)
    return {
        **fingerprint(result),
        "candidates": [(one.number, one.configuration.hash, one.rationale) for one in candidates],
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("calm"))
    result = asyncio.run(sit(world))
    return whole(result), world.calls(), result


class TestTheSameRun:
    def test_by_seed_in_fresh_databases(self, undisturbed, tmp_path):
        expected, _, result = undisturbed

        assert whole(optimize(World(tmp_path))) == expected
        assert result.best.score > result.baseline.score + 0.3
        assert len(result.candidates) > 5

    def test_whatever_hashes_strings_have(self, undisturbed):
        """Sets have another order in every process."""
        expected, _, _ = undisturbed
        program = (
            "import json, sys, tempfile; from test_gepa_runs import *\n"
            "with tempfile.TemporaryDirectory() as folder:\n"
            "    print(json.dumps(whole(optimize(World(folder)))))"
        )
        said = subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "PYTHONHASHSEED": "1",
                "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout

        assert json.loads(said) == json.loads(json.dumps(expected))

    @pytest.mark.parametrize("share", [0.5])
    def test_killed_in_a_call_and_resumed(self, share, undisturbed, tmp_path):
        expected, calls, _ = undisturbed
        world = World(tmp_path)
        world.deadly_call = int(share * calls)

        killed(lambda: asyncio.run(sit(world)))
        world.deadly_call = 0

        assert whole(asyncio.run(sit(world))) == expected

    @pytest.mark.parametrize(
        "place", ["save_step:before", "save_checkpoint:after", "save_trial:after"]
    )
    def test_killed_at_a_write_and_resumed(self, place, undisturbed, tmp_path):
        expected, _, _ = undisturbed
        world = World(tmp_path)

        killed(lambda: sit_until(world, place, 4))

        assert whole(asyncio.run(sit(world))) == expected

    def test_killed_while_the_model_is_asked_and_resumed(self, undisturbed, tmp_path):
        expected, _, _ = undisturbed
        world = World(tmp_path)
        asked = Counter()

        def deadly(prompt):
            asked["times"] += 1
            if asked["times"] == 9:
                die()
            return writer(prompt)

        killed(lambda: asyncio.run(sit(world, deadly)))

        assert whole(asyncio.run(sit(world))) == expected


LUCK = {"known": 0.75, "guessed": 0.25}


def test_where_rules_do_not_always_help_it_is_the_same_run_after_two_kills(tmp_path):
    calm, shaken = ((tmp_path / name) for name in ("calm", "shaken"))
    calm.mkdir()
    shaken.mkdir()
    expected = asyncio.run(sit(World(calm, **LUCK), evaluations=400))
    world = World(shaken, **LUCK)

    for place, at in [("save_step:before", 6), ("save_trial:after", 4)]:
        killed(lambda: sit_until(world, place, at, 400))  # noqa: B023
    result = asyncio.run(sit(world, evaluations=400))

    assert whole(result) == whole(expected)
    assert expected.evaluations <= 400
    assert expected.best.score > expected.baseline.score


def sit_until(world: World, place: str, number: int, evaluations: int = 200) -> None:
    die_at_write(place, number)
    asyncio.run(sit(world, evaluations=evaluations))


class TestOutages:
    @pytest.mark.parametrize("answers", [0, 7])
    def test_a_model_that_goes_away_fails_the_run_which_goes_on_later(
        self, answers, undisturbed, tmp_path
    ):
        expected, _, _ = undisturbed
        world = World(tmp_path)
        asked = []

        def away(prompt):
            asked.append(prompt)
            if len(asked) > answers:
                raise UnavailableError(what="the model", why="is down", fix="start it")
            return writer(prompt)

        with pytest.raises(UnavailableError, match="is down"):
            asyncio.run(sit(world, away))
        record = asyncio.run(record_of(world))
        assert record.status is OptimizationStatus.FAILED
        assert "is down" in record.framework_error["message"]

        resumed = whole(asyncio.run(sit(world)))
        # Where some of a step's calls were answered, the others cost their proposals only.
        assert resumed == expected if not answers else resumed["best"][1:] == expected["best"][1:]

    def test_a_model_that_raises_anything_else_is_named(self, tmp_path):
        def broken(prompt):
            raise ValueError("no such key")

        with pytest.raises(burnish.BurnishError, match="no such key"):
            optimize(World(tmp_path), Gepa(model=broken))

    def test_an_agent_that_is_away_during_a_look_costs_a_look(self, tmp_path, monkeypatch):
        waits = RetryPolicy(first_wait_seconds=0.01, longest_wait_seconds=0.05)
        monkeypatch.setattr("burnish.evaluation.outages._WAITS", waits)
        world, asked = World(tmp_path), []
        agent = world.agent

        async def sometimes(configuration, item):
            asked.append(item["ticket"])
            if 20 < len(asked) <= 60:
                raise UnavailableError(what="the model", why="is down", fix="start it")
            return await agent.run(configuration, item)

        result = burnish.optimize(
            agent=burnish.Agent(
                name="desk",
                configuration=agent.configuration,
                run=sometimes,
                version="1",
                concurrency=4,
            ),
            suite=world.suite,
            optimizer=Gepa(model=writer),
            budget=burnish.Budget(max_evaluations=250),
            space={"locked": ["user"]},
            seed=7,
            db=world.db,
        )

        assert result.best.score > result.baseline.score


async def record_of(world: World):
    async with Workspace.open(str(world.db)) as workspace:
        return await workspace.optimizations.get_optimization(world.id_file.read_text())


class TestBudgets:
    def test_a_budget_below_the_baseline_is_refused_before_anything_is_paid(self, tmp_path):
        world = World(tmp_path)

        with pytest.raises(burnish.BurnishError, match="no room for a search"):
            optimize(world, budget=burnish.Budget(max_evaluations=1))
        assert world.calls() == 0

    @pytest.mark.parametrize("limit", [20, 61])
    def test_evaluations_are_never_exceeded(self, limit, tmp_path):
        world = World(tmp_path)

        result = optimize(world, budget=burnish.Budget(max_evaluations=limit))

        assert result.evaluations <= limit
        assert result.stop_reason in ("budget", "no_candidates")
        # The search, and the confirmation on the test split.
        assert world.calls() <= limit + 2 * SHARES["test"]

    def test_fewer_trials_than_places_are_used(self, tmp_path):
        result = optimize(World(tmp_path), budget=burnish.Budget(max_trials=3, max_evaluations=400))

        assert result.best.score > result.baseline.score
        assert 1 < len(result.trials) <= 4

    @pytest.mark.parametrize("limit", [60, 75])
    def test_calls_count_those_of_the_model_that_reflects(self, limit, tmp_path):
        world, asked = World(tmp_path), []

        def model(prompt):
            asked.append(prompt)
            return writer(prompt)

        result = optimize(world, Gepa(model=model), burnish.Budget(max_calls=limit))

        spent = {name: one["calls"] for name, one in result.usage["by_purpose"].items()}
        assert spent.get("propose", 0) == len(asked)
        assert world.calls() + len(asked) <= limit
        assert sum(spent.values()) <= limit

    def test_a_perfect_baseline_takes_one_suite(self, tmp_path):
        world, asked = World(tmp_path), []
        result = burnish.optimize(
            agent=burnish.Agent(
                name="perfect",
                configuration={"sections": {"system": "Route it well.", "user": "{{ticket}}"}},
                run=lambda configuration, item: "right",
                version="1",
            ),
            suite=burnish.Suite(
                dataset=[row for row in ROWS if row["split"] != "test"],
                scorers=[judge],
                split="field",
            ),
            optimizer=Gepa(model=lambda prompt: asked.append(prompt) or ""),
            seed=7,
            db=world.db,
        )

        assert result.evaluations == SHARES["validation"]
        assert result.stop_reason == "target_reached"
        assert "reaches the target 1" in result.to_json()["stop_message"]
        assert not asked

    def test_without_any_limit_a_useless_model_ends_it(self, tmp_path):
        asked = []

        def useless(prompt):
            asked.append(prompt)
            return "I'm sorry."

        result = optimize(World(tmp_path), Gepa(model=useless), burnish.Budget())

        assert result.stop_reason == "algorithm_specific"
        assert "such as: “I'm sorry.”" in result.to_json()["stop_message"]
        assert len(asked) < 8 + 8


class TestModes:
    def test_asynchronous(self, tmp_path):
        result = optimize(World(tmp_path), asynchronous=True)

        assert result.evaluations <= 200
        assert result.best.score > result.baseline.score
        assert len({one.configuration.hash for one in result.candidates.values()}) == len(
            result.candidates
        )

    def test_racing(self, tmp_path):
        result = optimize(
            World(tmp_path), racing="aggressive", budget=burnish.Budget(max_evaluations=150)
        )

        assert result.evaluations <= 150
        assert result.best.score > result.baseline.score

    def test_repeats(self, tmp_path):
        world = World(tmp_path)
        result = burnish.optimize(
            agent=world.agent,
            suite=burnish.Suite(dataset=ROWS, scorers=[judge], split="field", repeats=2),
            optimizer=Gepa(model=writer),
            # The confirmation keeps some back.
            budget=burnish.Budget(max_evaluations=200),
            space={"locked": ["user"]},
            seed=7,
            db=world.db,
        )

        assert result.evaluations <= 200
        assert result.best.score > result.baseline.score

    def test_auto_with_a_model_is_gepa(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        few = burnish.Budget(max_evaluations=100)
        auto = optimize(World(tmp_path / "a"), Auto(model=writer), few)
        gepa = optimize(World(tmp_path / "b"), Gepa(model=writer), few)

        assert [one.configuration.hash for one in auto.candidates.values()] == [
            one.configuration.hash for one in gepa.candidates.values()
        ]

    def test_without_a_model_the_same_run_by_seed(self, tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        first, again = (
            optimize(World(tmp_path / one), Gepa(), burnish.Budget(max_trials=8)) for one in "ab"
        )

        assert whole(first) == whole(again)
        assert len(first.trials) == 9


@pytest.mark.slow
def test_the_rules_of_the_benchmark_are_found_with_few_evaluations():
    curve = run_burnish(make_world("rules", 2), "gepa", 450, 2)

    assert curve.calls_to(0.9) is not None


def test_a_budget_without_room_for_a_candidate_says_so_and_nobody_is_asked(tmp_path):
    asked = []
    rows = [{"q": f"q{n}", "expected": "x" if n % 2 else "y"} for n in range(20)]
    configuration = {"sections": {"system": "Answer in one word.", "user": "{{q}}"}}

    result = burnish.optimize(
        burnish.Agent(name="a", configuration=configuration, model=lambda _: "x"),
        burnish.Suite(
            dataset=rows, scorers=["exact_match"], split={"train": 0.5, "validation": 0.5}
        ),
        "gepa",
        burnish.Budget(max_evaluations=20),
        1,
        settings={"model": lambda prompt: asked.append(prompt) or "no"},
        db=str(tmp_path / "small.db"),
    )

    assert (asked, result.stop_reason) == ([], "budget")
    assert "a candidate takes up to 20 evaluations" in result.document["stop_message"]
