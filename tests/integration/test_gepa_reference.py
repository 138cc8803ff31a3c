"""The `gepa` package behind burnish is the `gepa` package: same candidates, parents and scores."""

import asyncio
import gc
import json
import threading
from collections import Counter

import pytest
import reference_world as world
from kills import die_at_write, killed

import burnish
from burnish.optimizers import GepaReference
from burnish.optimizers.gepa_package import adapter

CALLS = 200
FEW_CALLS = 120


@pytest.fixture
def inner(monkeypatch):
    """The results that the package itself came to inside burnish."""
    found = []
    run = adapter._optimize

    def watched(**arguments):
        found.append(run(**arguments))
        return found[-1]

    monkeypatch.setattr(adapter, "_optimize", watched)
    return found


def texts(result):
    return [tuple(one.values()) for one in result.candidates]


def accepted(alone):
    """The package's candidates: (texts, texts of its parents, score).

    Burnish has one candidate for a text, with the parents that it was first made of.
    """
    result, made = alone
    rows = zip(texts(result), result.val_aggregate_scores, strict=True)
    return list(dict.fromkeys((text, tuple(made.get(text, ())), score) for text, score in rows))


def trials(result, db):
    """The same of a burnish run, in the order in which the trials began."""
    events = asyncio.run(world.events_of(db, result.to_json()["optimization_id"]))
    began = dict.fromkeys(
        event.payload["candidate_id"]
        for event in events
        if event.type == "trial_added_or_updated" and event.payload["type"] == "trial"
    )
    text = {
        one.id: tuple(one.configuration.sections[name] for name in world.COMPONENTS)
        for one in result.candidates.values()
    }
    scores = {one.candidate_id: one.objective_score for one in result.trials}
    return [
        (
            text[one],
            tuple(text[parent] for parent in result.candidates[one].parent_candidate_ids),
            pytest.approx(scores[one], abs=1e-12),
        )
        for one in began
    ]


def reason(result):
    return result.to_json()["stop_reason"]


class TestTheSameRun:
    @pytest.mark.parametrize(
        ("seed", "settings"), [(0, {}), (4, {"use_merge": True})], ids=["plain", "merge"]
    )
    def test_as_the_package_alone(self, seed, settings, tmp_path, inner):
        alone = world.straight(seed=seed, max_metric_calls=CALLS, **settings)

        optimizer = GepaReference(model=world.reflect, max_metric_calls=CALLS, **settings)
        result = asyncio.run(world.run(tmp_path / "db", optimizer, seed=seed))

        package, behind_burnish = alone[0], inner[-1]
        assert len(package.candidates) > 5
        assert texts(behind_burnish) == texts(package)
        assert behind_burnish.parents == package.parents
        assert behind_burnish.val_subscores == package.val_subscores
        assert behind_burnish.total_metric_calls == package.total_metric_calls
        assert trials(result, tmp_path / "db") == accepted(alone)
        assert len(inner) == 1  # one engine did all of it
        assert reason(result) == "algorithm_specific"

    @pytest.mark.parametrize(
        "settings",
        [
            {"candidate_selection": "current_best", "minibatch_size": 5},
            {"candidate_selection": "epsilon_greedy", "skip_perfect_score": False},
            {"candidate_selection": "top_k_pareto", "module_selector": "all"},
        ],
        ids=str,
    )
    def test_under_other_settings(self, settings, tmp_path, inner):
        names = {
            "candidate_selection": "candidate_selection_strategy",
            "minibatch_size": "reflection_minibatch_size",
        }
        own = {names.get(key, key): value for key, value in settings.items()}
        alone = world.straight(seed=1, max_metric_calls=FEW_CALLS, **own)

        optimizer = GepaReference(model=world.reflect, max_metric_calls=FEW_CALLS, **settings)
        result = asyncio.run(world.run(tmp_path / "db", optimizer, seed=1))

        assert texts(inner[-1]) == texts(alone[0])
        assert inner[-1].parents == alone[0].parents
        assert trials(result, tmp_path / "db") == accepted(alone)

    @pytest.mark.parametrize(
        "search",
        [{"racing": "aggressive"}, {"asynchronous": True, "candidates_per_step": 4}],
        ids=["racing", "asynchronous"],
    )
    def test_however_the_framework_runs_it(self, search, tmp_path, inner):
        alone = world.straight(seed=2, max_metric_calls=FEW_CALLS)

        optimizer = GepaReference(model=world.reflect, max_metric_calls=FEW_CALLS)
        asyncio.run(world.run(tmp_path / "db", optimizer, seed=2, **search))

        assert texts(inner[-1]) == texts(alone[0])
        assert inner[-1].val_subscores == alone[0].val_subscores

    def test_by_its_name_through_the_sync_door(self, tmp_path):
        alone = world.straight(seed=3, max_metric_calls=100)

        result = burnish.optimize(
            world.Task().agent(),
            world.suite(),
            "gepa_reference",
            seed=3,
            settings={"model": world.reflect, "max_metric_calls": 100},
            space=world.LOCKED,
            db=tmp_path / "db",
        )

        assert trials(result, tmp_path / "db") == accepted(alone)

    def test_nothing_is_evaluated_twice(self, tmp_path):
        calls = tmp_path / "calls"

        result = asyncio.run(
            world.run(
                tmp_path / "db",
                GepaReference(model=world.reflect, max_metric_calls=FEW_CALLS),
                agent=world.Task().agent(calls=calls),
            )
        )

        assert max(Counter(calls.read_text().splitlines()).values()) == 1
        assert result.to_json()["evaluations"] <= FEW_CALLS + 20


class Forgetful:
    """Is made anew for each call, as if every step were in another process."""

    name = "gepa_reference"
    candidates_per_step = 1

    def __init__(self, **settings):
        self._settings = settings
        self._open = None

    def connect(self, open_model):
        self._open = open_model

    def _fresh(self):
        optimizer = GepaReference(**self._settings)
        optimizer.connect(self._open)
        return optimizer

    async def _call(self, method, *arguments):
        return await asyncio.to_thread(getattr(self._fresh(), method), *arguments)

    async def initialize(self, context):
        return self._fresh().initialize(context)

    async def propose(self, state, history, max_candidates):
        return await self._call("propose", state, history, max_candidates)

    async def observe(self, state, trial_results):
        return await self._call("observe", state, trial_results)

    async def should_stop(self, state, history):
        return await self._call("should_stop", state, history)


def resume_after(db, settings, place, number):
    """Die at the number-th passing of a place, then go on; the trials."""
    id_file = db.with_suffix(".id")

    def work(**more):
        return asyncio.run(world.run(db, GepaReference(**settings), **more))

    def deadly():
        die_at_write(place, number)
        work(started=id_file.write_text)

    killed(deadly)
    return [str(one) for one in trials(work(resume=id_file.read_text()), db)]


MERGING = {"model": world.reflect, "max_metric_calls": CALLS, "use_merge": True}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    db = tmp_path_factory.mktemp("undisturbed") / "db"
    result = asyncio.run(world.run(db, GepaReference(**MERGING)))
    return [str(one) for one in trials(result, db)]


class TestAResumedRun:
    # Its 32 steps have one experiment each, and each trial is written twice.
    @pytest.mark.parametrize(
        ("place", "number"),
        [("create_experiment:before", 3), ("save_trial:after", 31), ("save_step:after", 28)],
    )
    def test_killed_anywhere_it_ends_the_same(self, place, number, undisturbed, tmp_path):
        assert resume_after(tmp_path / "db", MERGING, place, number) == undisturbed

    def test_without_any_memory_each_step_comes_to_the_same(self, tmp_path):
        alone = world.straight(seed=0, max_metric_calls=130, use_merge=True)

        optimizer = Forgetful(model=world.reflect, max_metric_calls=130, use_merge=True)
        result = asyncio.run(world.run(tmp_path / "db", optimizer))

        assert trials(result, tmp_path / "db") == accepted(alone)

    def test_reflections_are_not_asked_for_again(self, tmp_path):
        """A model that never says the same twice: its answers are the run's, whatever it says later."""
        asked = tmp_path / "asked"
        # Nobody can tell whether such a function is the same as before, so no cache answers for it.
        unknowable = threading.Lock()

        def moody(prompt):
            with unknowable, asked.open("a") as lines:
                lines.write(f"{world.draw(prompt)}\n")
            number = len(asked.read_text().splitlines())
            if number % 3 == 0:
                return prompt.split("```")[1]  # the text that it has: no new candidate holds this
            return world.reflect(prompt).removesuffix("\n```") + f" word{number}\n```"

        settings = {"model": moody, "max_metric_calls": 150}
        resume_after(tmp_path / "db", settings, "save_checkpoint:after", 15)

        prompts = asked.read_text().splitlines()
        assert len(prompts) == len(set(prompts)) > 10


def careless(prompt):
    """Loses the placeholder whenever it rewrites the user section."""
    if prompt.split("```")[1].strip().startswith("Answer"):
        return f"```\nAnswer {world.draw(prompt)}\n```"
    return world.reflect(prompt)


def run_carelessly(db):
    optimizer = GepaReference(model=careless, max_metric_calls=CALLS)
    result = asyncio.run(world.run(db, optimizer, space=world.SearchSpace()))
    return result, trials(result, db)


@pytest.fixture(scope="module")
def foreseen(tmp_path_factory):
    return run_carelessly(tmp_path_factory.mktemp("foreseen") / "db")


class TestWhatTheFrameworkRefuses:
    def test_a_text_it_would_refuse_is_no_improvement(self, foreseen):
        result, _ = foreseen

        assert reason(result) == "algorithm_specific"
        assert result.to_json()["rejections"] == 0
        assert len(result.trials) > 3
        for one in result.candidates.values():
            assert "{{n}}" in one.configuration.sections["user"]

    def test_a_refusal_that_was_not_foreseen_comes_to_the_same(
        self, foreseen, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(adapter, "is_acceptable", lambda *_, **__: True)

        result, unforeseen = run_carelessly(tmp_path / "db")

        assert result.to_json()["rejections"] > 3
        assert str(unforeseen) == str(foreseen[1])

    def test_the_budget_ends_it_cleanly(self, tmp_path):
        alone = world.straight(seed=0, max_metric_calls=FEW_CALLS)

        result = asyncio.run(
            world.run(
                tmp_path / "db",
                GepaReference(model=world.reflect),
                budget=burnish.Budget(max_evaluations=100),
            )
        )

        found = trials(result, tmp_path / "db")
        assert reason(result) == "budget"
        assert 80 < result.to_json()["evaluations"] <= 100
        assert len(found) > 2
        assert found == accepted(alone)[: len(found)]

    def test_a_budget_of_calls_ends_it_in_a_reflection(self, tmp_path):
        result = asyncio.run(
            world.run(
                tmp_path / "db",
                GepaReference(model=world.reflect),
                budget=burnish.Budget(max_calls=5),
            )
        )

        assert reason(result) == "budget"
        assert result.to_json()["usage"]["calls"] == 5

    def test_a_model_that_fails_fails_the_run_and_not_the_iteration(self, tmp_path):
        def broken(prompt):
            raise ValueError("no idea")

        with pytest.raises(burnish.BurnishError, match="no idea"):
            asyncio.run(world.run(tmp_path / "db", GepaReference(model=broken)))


def engines():
    return {one for one in threading.enumerate() if one.name == "gepa"}


class TestTheEnd:
    def test_an_engine_ends_with_its_optimizer(self, tmp_path):
        others = engines()
        optimizer = GepaReference(model=world.reflect)
        budget = burnish.Budget(max_evaluations=60)
        asyncio.run(world.run(tmp_path / "db", optimizer, budget=budget))
        (engine,) = engines() - others

        del optimizer
        gc.collect()
        engine.join(timeout=600)

        assert not engine.is_alive()

    def test_a_perfect_baseline_ends_although_the_package_would_go_on_for_ever(self, tmp_path):
        perfect = {**world.BASE} | {
            name: " ".join([world.BASE[name], *rules]) for name, rules in world.RULES.items()
        }

        result = asyncio.run(
            world.run(
                tmp_path / "db",
                GepaReference(model=world.reflect),
                agent=world.Task(luck=0.0).agent(perfect),
            )
        )

        assert reason(result) == "algorithm_specific"
        assert result.to_json()["evaluations"] == 31
        assert "needed nothing new" in json.dumps(result.to_json())

    def test_without_a_section_to_change_there_is_nothing_to_do(self, tmp_path):
        locked = world.SearchSpace(locked=tuple(world.BASE))

        result = asyncio.run(
            world.run(tmp_path / "db", GepaReference(model=world.reflect), space=locked)
        )

        assert reason(result) == "algorithm_specific"
        assert len(result.trials) == 1
