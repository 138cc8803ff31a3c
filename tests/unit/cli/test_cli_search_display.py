"""What people see while a search goes on and when it has ended."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from burnish.app.report.runs.evidence import overruled_words
from burnish.cli.display.evaluation_progress import Pace
from burnish.cli.display.optimizations.progress import _Lines, frame, trial_line
from burnish.cli.display.optimizations.results import print_search_report, search_verdict
from burnish.cli.display.optimizations.status import print_unfinished
from burnish.cli.project_location import ProjectLocation
from burnish.cli.search import EndedTrial, SearchWatch, watching
from burnish.cli.wording import rationale_words
from burnish.domain import (
    Budget,
    Candidate,
    Configuration,
    ExperimentStatus,
    OptimizationStatus,
    Spending,
)
from burnish.models.traffic import Traffic
from burnish.optimization.checkpoint import Checkpoint, Phase
from burnish.optimization.events import trial_changed
from burnish.testing.samples.optimizations import make_record, make_trial


def ended(number, score, status=ExperimentStatus.COMPLETED, error=None):
    return EndedTrial(
        experiment_id=f"e{number}",
        candidate_id=f"c{number}",
        number=number,
        status=status,
        score=score,
        error=error,
    )


def watch_of(*trials, running=0, phase=Phase.SEARCH, **budget):
    candidates = {
        one.candidate_id: Candidate(
            id=one.candidate_id,
            optimization_id="o",
            number=one.number,
            step_index=1,
            configuration=Configuration.of({}),
            rationale='Ask \x1b[2Jit. [edits: ["a:b"]]',
        )
        for one in trials
    }
    watch = SearchWatch(budget=Budget(**budget), title="edits of x")
    watch.ended = {one.experiment_id: one for one in trials}
    watch.started = {*watch.ended, *(f"r{n}" for n in range(running))}
    watch.attempt = SimpleNamespace(
        orchestrator=SimpleNamespace(
            checkpoint=Checkpoint(phase=phase, step=4, rejected=2),
            trial_index=SimpleNamespace(candidates=candidates),
        ),
        gate=SimpleNamespace(evaluations=500, spending=Spending(), elapsed_seconds=61.0),
        traffic=Traffic(),
    )
    return watch


def shown(watch):
    out = io.StringIO()
    Console(file=out, width=140).print(frame(watch, Pace(lambda: 0.0)))
    return out.getvalue()


def test_a_search_that_is_being_prepared_says_so():
    assert "preparing" in shown(SearchWatch())


def test_no_line_of_the_live_frame_breaks_in_80_columns():
    watch = watch_of(ended(0, 0.6), ended(1, 0.8), phase=Phase.CONFIRM, max_evaluations=1000)
    console = Console(width=80, file=io.StringIO(), force_terminal=False)

    lines = console.render_lines(frame(watch, Pace(lambda: 0.0)))

    told = ["".join(segment.text for segment in line).strip() for line in lines]
    assert told[0].startswith("edits of x  comparing with the baseline on held-out items")
    assert told[1] == "500/1,000 evaluations  1 min 01 s"


def test_the_live_frame_has_everything_that_matters():
    pruned = ended(3, 0.2, ExperimentStatus.PRUNED)
    watch = watch_of(
        ended(0, 0.5),
        ended(1, 0.6),
        ended(2, 0.8),
        pruned,
        ended(4, None, ExperimentStatus.FAILED),
        running=3,
        max_evaluations=1000,
    )

    text = shown(watch)

    for words in (
        "edits of x",
        "step 3",
        "500/1,000 evaluations",
        "best 0.800 by 2 (baseline 0.500, +0.300)",
        "3 running · 2 completed · 1 pruned · 1 failed · 2 refused",
        "1 min 01 s",
        "left",
        "candidate 2: Ask �[2Jit.",
    ):
        assert words in text, text
    assert "\x1b[2J" not in text


def test_of_a_compression_the_shortest_is_best():
    last = ended(2, 0.5)
    watch = watch_of(ended(0, 0.5), last)
    watch.shortens = True

    line = trial_line(watch, watch.standing(), last, Pace(lambda: 0.0))

    assert re.search(r"best: \d+ tokens, nothing regressed", line)


def test_a_pruned_trial_is_never_best_and_of_equals_the_earlier_is():
    watch = watch_of(
        ended(0, 0.5), ended(1, 0.9, ExperimentStatus.PRUNED), ended(3, 0.6), ended(2, 0.6)
    )

    assert watch.standing().best.number == 2


def test_a_trials_line_says_what_it_came_to():
    failed = ended(2, None, ExperimentStatus.FAILED, error="boom\nbang")
    watch = watch_of(ended(0, 0.5), failed, max_trials=20)

    line = trial_line(watch, watch.standing(), failed, Pace(lambda: 0.0))

    assert line.startswith("trial 2   failed")
    assert "boom bang" in line
    assert "best 0.500 (the baseline)" in line
    assert "500 evaluations, 1/20 trials" in line


def test_trials_that_are_told_together_each_have_the_best_as_it_was_then():
    out = io.StringIO()
    watch = watch_of(ended(0, 0.5), ended(4, 0.6), ended(6, 0.8), ended(5, 0.7))

    _Lines(Console(file=out, width=140), watch, Pace(lambda: 0.0))._look()

    bests = [line.partition("best ")[2][:10] for line in out.getvalue().splitlines()[1:]]
    assert bests == ["0.600 by 4", "0.700 by 5", "0.800 by 6"]


@pytest.mark.parametrize(
    ("phase", "words"), [(Phase.BASELINE, "baseline"), (Phase.CONFIRM, "held-out items")]
)
def test_the_other_phases_are_named(phase, words):
    assert words in shown(watch_of(phase=phase))


def document(*, improved=True, held_out=True, delta=0.2, low=0.1, p=0.01, **changes):
    improvement = {
        "delta": delta,
        "ci_low": low,
        "ci_high": 0.3,
        "p_value": p,
        "held_out": held_out,
    }
    return {
        "improved": improved,
        "why_not_improved": None if improved else "none of the 9 candidates tried scored above it",
        "improvement": improvement,
        "test": {"items": 132} if held_out else None,
        "confirmation": "not confirmed: it was cancelled",
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "better: proven on 132 held-out items that the search never saw (p = 0.010)"),
        ({"p": 0.0001}, "(p < 0.001)"),
        (
            {"p": 0.2},
            "probably better, not proven: the gain on 132 held-out items may be chance",
        ),
        ({"p": 1.0}, "not proven: the gain on 132 held-out items may be chance (p = 1.000)"),
        ({"low": -0.01}, "probably better, not proven"),
        ({"delta": -0.1, "low": -0.2}, "not better: the gain in the search did not show"),
        ({"delta": 0.0, "low": 0.0, "p": 1.0}, "Keep the baseline"),
        ({"held_out": False}, "nothing was held out"),
        ({"improvement": None}, "not confirmed: it was cancelled"),
        ({"improved": False}, "nothing beat the baseline: none of the 9 candidates"),
        (
            {"improved": False, "status": "cancelled"},
            "cancelled: before anything beat the baseline",
        ),
    ],
)
def test_the_verdict_is_said_plainly(changes, words):
    result = document(**changes)

    assert words in search_verdict(result).plain


def test_a_higher_score_that_counts_as_luck_is_told():
    result = {**document(), "overruled": {"candidate_id": "c9", "number": 9, "score": 0.9}}

    words = overruled_words(result, "gepa")

    assert words.startswith("candidate 9 scored higher on the items of the search (0.900); gepa")
    assert overruled_words(document(), "gepa") is None
    assert overruled_words(result, "compress") is None
    assert overruled_words(result, "mine").endswith("mine chose the winner by more than that score")


def test_a_choice_that_the_evidence_is_against_is_told():
    other = {"candidate_id": "c0", "number": 0, "score": 0.11, "by": "evidence"}
    result = {**document(), "overruled": {**other, "better": 4, "items": 40, "p_value": 1e-4}}

    assert overruled_words(result, "gepa") == (
        "candidate 0 is not the winner (0.110); gepa chose it, but on the 40 items that both ran "
        "candidate 4 is better (p = 0.0001)"
    )
    assert overruled_words(result, "compress").startswith("candidate 0 is not the winner")


def test_what_the_search_learnt_is_printed(capsys):
    block = {"section": "system", "text": "- Name\nit.", "in_winner": False, "items": 60}
    search = {
        "chosen": {"choice": "gepa", "reason": "a model can reflect"},
        "blocks": [{**block, "worth": 0.25, "low": 0.1, "high": 0.4}],
        "depth": 3,
    }

    print_search_report(Console(width=200), {"search": search})
    print_search_report(Console(width=200), {"search": None})

    printed = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert printed == [
        "what the search learnt",
        "auto chose gepa: a model can reflect",
        "depth: 3",
        "+0.250 (+0.10 to +0.40)  system, not in the winner: - Name it.",
    ]


def test_names_that_an_optimizer_adds_for_itself_are_not_shown():
    assert rationale_words('Ask [it]. [edits: ["a:b", "c:d"]]') == "Ask [it]."
    assert rationale_words("Keep [this].") == "Keep [this]."
    assert rationale_words(None) == ""


async def test_a_baseline_that_runs_again_is_told_of_again():
    told = []

    class Repository:
        async def list_events(self, optimization_id, *, after=0, limit=1000):
            return [one for one in told if one.sequence > after]

        async def list_trials(self, optimization_id):
            return []

    def tell(status, again=None):
        trial = make_trial(0, status=status, experiment_id="e0")
        event = trial_changed(trial, 0, again=again)
        told.append(replace(event, sequence=len(told) + 1))

    tell(ExperimentStatus.RUNNING)
    tell(ExperimentStatus.FAILED)
    watch = SearchWatch()

    async with watching(Repository(), "o1", watch):
        assert watch.ended_before == {"e0"}
        tell(ExperimentStatus.RUNNING, again=2)
        tell(ExperimentStatus.COMPLETED, again=2)

    assert watch.ended_before == frozenset()
    assert watch.ended["e0"].status is ExperimentStatus.COMPLETED
    assert len({one.key for one in told}) == 4


def test_a_run_of_python_whose_owner_died_is_interrupted_and_gone_on_with_from_python():
    out = io.StringIO()
    record = make_record(status=OptimizationStatus.RUNNING, lease_owner=None, spec={})

    print_unfinished(
        Console(file=out, width=140), record, {}, [], ProjectLocation(Path("burnish.toml"))
    )

    assert "interrupted" in out.getvalue()
    assert 'burnish.optimize(…, resume="o1")' in out.getvalue()


def test_a_run_whose_baseline_failed_can_be_gone_on_with():
    out = io.StringIO()
    error = {"code": "baseline_failed", "message": "its baseline failed", "fix": "start the model"}
    record = make_record(
        status=OptimizationStatus.FAILED, framework_error=error, spec={"settings": {}}
    )
    location = ProjectLocation(Path("burnish.toml"))

    print_unfinished(Console(file=out, width=140), record, {}, [], location)

    assert "burnish resume o1" in out.getvalue()
