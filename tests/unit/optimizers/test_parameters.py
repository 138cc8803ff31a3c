"""The `parameters` optimizer: Optuna with everything told anew in each step."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from dataclasses import replace

import pytest
from asking_driver import AskingHistory, AskingRun
from driver import Run
from worlds import facts_of

import burnish
from burnish.domain import Configuration, ExperimentStatus, SearchSpace, StopReason, UsageError
from burnish.optimization.racing import Racing, RacingMode
from burnish.optimizers import Parameters, RandomSearch, build_optimizer
from burnish.optimizers.parameters.axes import Axes
from burnish.optimizers.parameters.optimizer import Study, Told

SPACE = SearchSpace.of(
    {
        "parameters": {
            "temperature": {"low": 0.0, "high": 1.0},
            "words": {"low": 1, "high": 30},
            "model": ["small", "large", None],
        }
    }
)
BASELINE = Configuration.of(
    {
        "sections": {"system": "Answer.", "user": "{{q}}"},
        "parameters": {"temperature": 0.9, "words": 25, "model": "small"},
    }
)


def bowl(candidate, item):
    """Best at a temperature of 0.3, about 10 words, and the large model."""
    own = candidate.configuration.parameters
    score = math.exp(-4 * (own["temperature"] - 0.3) ** 2 - (own["words"] - 10) ** 2 / 200)
    return round(0.9 * score * (1.0 if own["model"] == "large" else 0.8), 6), "x"


def new_run(**more) -> AskingRun:
    settings = {"patience": 100, **more.pop("settings", {})}
    given = {"baseline": BASELINE, "space": SPACE, "world": bowl, **more}
    given.setdefault("splits", {"validation": ("v1", "v2")})
    return AskingRun(optimizer=lambda: Parameters(**settings), **given)


def hashes(run) -> list[str]:
    return [one.configuration.hash for one in run.candidates.values()]


def test_points_lie_in_the_declared_space():
    run = new_run().go(max_trials=24)

    drawn = [one.configuration.parameters for one in list(run.candidates.values())[1:]]
    assert len(drawn) == 24
    assert not run.refused
    assert {one["model"] for one in drawn} == {"small", "large", None}
    assert all(isinstance(one["words"], int) for one in drawn)
    assert len({one["temperature"] for one in drawn}) == 24
    assert "temperature = " in run.candidates["c-1"].rationale


def test_it_learns_more_than_blind_draws_do():
    best, blind = [], []
    for seed in range(2):
        best.append(new_run(seed=seed).go(max_trials=40).best.objective_score)
        other = Run(
            optimizer=RandomSearch(),
            baseline=BASELINE,
            space=replace(SPACE, sections=()),
            world=bowl,
            splits={"validation": ("v1", "v2")},
            seed=seed,
        )
        blind.append(other.go(max_trials=40).best.objective_score)

    assert statistics.mean(best) > statistics.mean(blind)
    assert statistics.mean(best) > 0.8


def test_equal_seeds_give_equal_runs_with_nothing_kept_in_the_process():
    first, again = new_run().go(max_trials=16), new_run().go(max_trials=16)

    assert hashes(first) == hashes(again)
    assert hashes(first) != hashes(new_run(seed=2).go(max_trials=16))


def test_texts_are_chosen_along_with_parameters():
    texts = {"system": ["Answer briefly.", "Think first."], "user": ["no placeholder", "Q: {{q}}"]}

    def world(candidate, item):
        own = candidate.configuration
        return 0.3 + 0.3 * ("Think" in own.sections["system"]) + 0.3 * (
            own.parameters["temperature"] < 0.3
        ), "x"

    run = new_run(settings={"sections": texts}, world=world).go(max_trials=32)

    assert not run.refused
    assert run.best.objective_score == pytest.approx(0.9)
    assert {one.configuration.sections["user"] for one in run.candidates.values()} == {
        "{{q}}",
        "Q: {{q}}",
    }
    assert any("text 2 of system" in one.rationale for one in list(run.candidates.values())[1:])


def test_pruned_and_failed_trials_are_told_as_such():
    run = new_run(
        racing=Racing(mode=RacingMode.AGGRESSIVE),
        splits={"validation": tuple(f"v{n:02}" for n in range(60))},
    ).go(max_trials=16)
    run.trials[3] = replace(run.trials[3], status=ExperimentStatus.FAILED, objective_score=None)
    axes = Axes.of(facts_of(BASELINE, space=SPACE), {})
    told = [
        Told(point=axes.point(run.candidates[one.candidate_id].configuration), trial=one)
        for one in run.trials
    ]

    study = Study(axes, told, sampler="tpe", startup=4, seed=1)

    expected = {"completed": "COMPLETE", "pruned": "PRUNED", "failed": "FAIL"}
    assert [one.state.name for one in study._study.trials] == [
        expected[one.status.value] for one in run.trials
    ]
    assert any(one.status is ExperimentStatus.PRUNED for one in run.trials)
    assert len(run.proposals(4)) == 4


def test_a_baseline_outside_of_the_space_is_no_obstacle():
    space = SearchSpace.of({"parameters": {"temperature": {"low": 0.0, "high": 0.5}}})

    run = new_run(space=space).go(max_trials=8)

    assert len(run.trials) == 9
    assert not run.refused


def test_every_point_of_a_small_space_is_tried_once():
    space = SearchSpace.of(
        {"parameters": {"words": {"low": 1, "high": 5}, "model": ["small", "x"]}}
    )
    baseline = Configuration.of(
        {"sections": {"system": "Answer."}, "parameters": {"words": 1, "model": "small"}}
    )

    run = new_run(space=space, baseline=baseline, world=lambda c, i: (0.5, "x")).go(max_trials=50)

    assert len(run.trials) == 10
    assert not run.refused
    assert run.decision.reason is StopReason.CONVERGENCE
    assert "all 10 points" in run.decision.message


def test_one_place_at_a_time_goes_on_elsewhere():
    run = new_run()
    run.start()

    four = run.optimizer.propose(run.state, AskingHistory(run), 4)
    one = run.optimizer.propose(run.state, AskingHistory(run), 1)

    assert one[0].configuration.hash not in {each.configuration.hash for each in four}


def test_nothing_declared_says_what_to_do():
    run = new_run(space=SearchSpace()).go()

    assert run.decision.reason is StopReason.CONVERGENCE
    assert "declare parameters" in run.decision.message


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"sampler": "magic"}, "magic"), ({"startup": 0}, "startup"), ({"sections": {"a": "b"}}, "a")],
)
def test_bad_settings_are_refused(settings, match):
    with pytest.raises(UsageError, match=match):
        build_optimizer("parameters", settings)


def test_a_section_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="systme"):
        new_run(settings={"sections": {"systme": ["x"]}}).start()


def test_without_optuna_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("burnish.optimizers.parameters.optimizer.find_spec", lambda name: None)

    with pytest.raises(UsageError, match=r"burnish\[parameters\]") as refused:
        build_optimizer("parameters", {})

    assert refused.value.code == "missing_extra"


def test_optuna_is_loaded_only_when_it_is_used():
    code = (
        "import sys; from burnish.optimizers import build_optimizer;"
        "build_optimizer('parameters', {}); print('optuna' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"


def test_points_and_configurations_are_the_same_thing():
    axes = Axes.of(facts_of(BASELINE, space=SPACE), {"system": ["Say."]})

    point = {
        "section:system": 1,
        "parameter:temperature": 0.25,
        "parameter:words": 3,
        "parameter:model": 2,
    }
    made = axes.configuration(point)

    assert made.sections["system"] == "Say."
    assert made.parameters == {"temperature": 0.25, "words": 3, "model": None}
    assert axes.point(made) == point
    assert axes.size is None


def test_true_is_not_one():
    space = SearchSpace.of({"parameters": {"flag": [True, 1, "1"]}})
    baseline = Configuration.of({"sections": {"system": "x"}, "parameters": {"flag": 1}})
    axes = Axes.of(facts_of(baseline, space=space), {})

    assert axes.point(baseline) == {"parameter:flag": 1}
    assert axes.size == 3


def test_a_whole_optimization(tmp_path):
    def answer(configuration, item):
        near = abs(configuration["parameters"]["temperature"] - 0.4) < 0.2
        return "yes" if near or item["n"] % 3 == 0 else "no"

    result = burnish.optimize(
        agent=burnish.Agent(
            name="tuned",
            configuration={"sections": {"system": "Hi."}, "parameters": {"temperature": 1.0}},
            run=answer,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"n": n, "label": "yes"} for n in range(40)],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"validation": 0.6, "test": 0.4},
        ),
        optimizer="parameters",
        space={"parameters": {"temperature": {"low": 0, "high": 1}}},
        budget=burnish.Budget(max_trials=16),
        seed=3,
        db=tmp_path / "x.db",
    )

    assert result.best.score == 1.0
    assert abs(result.best.configuration.parameters["temperature"] - 0.4) < 0.2
