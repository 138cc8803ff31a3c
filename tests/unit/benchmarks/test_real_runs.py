"""Runs of the benchmark on real tasks: how they are kept, published, judged and compared."""

import json

import pytest
from bench.real.endpoint import AnsweringModel, AskedModel, Limits, Served
from bench.real.foreign import configuration_of
from bench.real.page import of_one_code, section
from bench.real.runs import code_of, identity, keep, publish, read_runs
from bench.real.soft import evaluations_to_goal
from bench.real.verdicts import second_look, verdict, verdict_lines, was_right

from burnish.domain import Message, ModelRequest, UsageError
from burnish.models.scripted import ScriptedModel


def run_of(contestant="joint", *, gain=0.1, **changed):
    return {
        "task": "coins",
        "seed": 0,
        "contestant": contestant,
        "code": code_of(contestant),
        "key": ["digest", 1000],
        "evaluations": 1000,
        "items": [30, 30, 100],
        "before": 0.5,
        "after": 0.5 + gain,
        "gain": gain,
        "low": gain - 0.1,
        "high": gain + 0.1,
        "said": "not proven",
        "second": {"rows": 70, "gain": gain, "low": gain - 0.1, "high": gain + 0.1},
        "made": 990,
        "asked": 0,
        "configuration": {"sections": {"system": "a row of the task"}, "examples": [1, 2]},
        "unusable": {"example": "a row of the task"},
        **changed,
    }


def test_what_is_published_has_figures_and_digests_and_nothing_of_the_task(tmp_path):
    kept, committed = tmp_path / "kept.jsonl", tmp_path / "results" / "real.jsonl"
    keep(run_of(challenger={"sections": {"system": "a row of the task"}}), kept)

    runs = publish(kept, committed)

    assert "a row of the task" not in committed.read_text()
    assert runs == read_runs(committed)
    assert (runs[0]["gain"], runs[0]["examples"], len(runs[0]["winner"])) == (0.1, 2, 12)


def test_runs_of_other_machines_stay_and_a_line_that_was_cut_is_passed_over(tmp_path):
    kept, committed = tmp_path / "kept.jsonl", tmp_path / "real.jsonl"
    committed.write_text(json.dumps(run_of(seed=1)) + "\n")
    kept.write_text(json.dumps(run_of())[:50])
    keep(run_of(seed=2), kept)

    publish(kept, committed)

    assert [one["seed"] for one in read_runs(committed)] == [1, 2]


def test_a_run_is_another_once_the_code_of_its_optimizer_is():
    assert identity(run_of()) != identity(run_of(code="earlier"))
    assert code_of("joint") != code_of("few_shot")
    assert code_of("joint") == code_of("joint_hard")


def test_results_of_two_states_of_the_code_never_stand_in_one_mean():
    now, before = run_of(), [run_of(code="earlier", seed=seed) for seed in (0, 1)]

    few_shot = [
        run_of("few_shot", code="oldest", measured="2026-11-17 20:00"),
        run_of("few_shot", code="earlier", measured="2026-11-18 20:00"),
    ]

    shown, left_out = of_one_code([now, *before, *few_shot])

    assert [(one["contestant"], one["code"]) for one in shown] == [
        ("few_shot", "earlier"),
        ("joint", code_of("joint")),
    ]
    assert left_out == 3
    assert [row[-1] for row in section(shown).rows] == ["earlier (earlier)", "now"]


@pytest.mark.parametrize(
    ("right", "wrong", "is_new", "said"),
    [
        (0, 0, False, "nothing beat the baseline"),
        (5, 5, True, "not better"),
        (4, 2, True, "not proven"),
        (20, 2, True, "better"),
    ],
)
def test_a_verdict_says_what_the_run_would_say(right, wrong, is_new, said):
    before = [0.0] * right + [1.0] * wrong + [1.0] * 20
    after = [1.0] * right + [0.0] * wrong + [1.0] * 20

    assert verdict(before, after, is_new=is_new) == said


def test_not_better_was_wrong_where_many_other_rows_show_a_gain():
    gained = second_look([0.0] * 40 + [1.0] * 40, [1.0] * 80)
    same = second_look([0.0, 1.0] * 40, [1.0, 0.0] * 40)

    assert was_right(run_of(said="not better", second=gained)) is False
    assert was_right(run_of(said="nothing beat the baseline", second=same)) is True
    assert was_right(run_of(said="better", second=gained)) is True
    assert was_right(run_of(said="nothing beat the baseline", second=None)) is None
    assert verdict_lines([run_of(said="not better", second=one) for one in (gained, same)])[
        0
    ].startswith("“not better” was said 2 times; of 2 ")


async def test_another_librarys_calls_are_counted_once_and_refused_beyond_the_limit():
    model = ScriptedModel(lambda request: request.labels[0])
    served = Served(limits=Limits(answers=1, questions=1))
    answering = AnsweringModel(model, ("a", "b"), served)
    told = ModelRequest(messages=(Message("user", "row"),), parameters={"temperature": 1.0})

    said = [(await answering.complete(told)).text for _ in range(2)]
    with pytest.raises(UsageError, match="may make 1"):
        await answering.complete(ModelRequest.text("another row"))

    assert said == ["a", "a"]
    assert served.answers == 1
    assert served.refusals() == "1 task calls refused"


async def test_a_question_that_comes_again_is_drawn_again_with_bounded_length():
    asked = []
    model = ScriptedModel(lambda request: asked.append(request) or "text")
    asking = AskedModel(model, Served(limits=Limits(answers=0, questions=2)))
    told = ModelRequest.text("Write.", max_tokens=9_000, temperature=1.0, top_p=0.9)

    for _ in range(2):
        await asking.complete(told)
    with pytest.raises(UsageError):
        await asking.complete(told)

    assert [one.repeat for one in asked] == [0, 1]
    assert asked[0].parameters == {"max_tokens": 1024, "temperature": 1.0}


def test_a_foreign_winner_is_run_as_ours_are_and_its_braces_open_no_placeholder():
    found = {"system": "Say {{x}}.", "user": "Rows:\n<<message>>", "examples": [["row", "a"]]}

    made = configuration_of(found)

    assert dict(made.sections) == {"system": "Say { {x} }.", "user": "Rows:\n{{message}}"}
    assert made.placeholders == {"message"}
    assert made.to_json()["examples"] == [{"input": {"message": "row"}, "output": "a"}]


def test_evaluations_to_the_same_gain_are_read_off_the_lines():
    goal, reached = evaluations_to_goal({250: 0.1, 500: 0.2}, {250: 0.0, 500: 0.1, 1000: 0.05})

    assert goal == pytest.approx(0.1)
    assert reached == pytest.approx((250, 500))
    assert evaluations_to_goal({250: -0.1}, {250: 0.2}) == (-0.1, ())
