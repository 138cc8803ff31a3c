"""Rows that a model writes: what it is shown, what is refused, and where they may be."""

import json
from collections import Counter

import pytest

from burnish.app.datasets.synthetic import RowRequest, make_rows, read_documents
from burnish.app.wiring import build_agent, build_suite
from burnish.cli.invocation import run_command
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Item
from burnish.models import ScriptedModel

ROWS = [
    {"text": f"{split} ticket number {n} about {word}", "label": label, "split": split}
    for n, (word, label) in enumerate([("an invoice", "billing"), ("an error", "technical")] * 6)
    for split in ("train", "validation", "test")
]


def suite_of(rows=ROWS, split="field"):
    scorers = [{"kind": "exact_match", "field": "label"}]
    return build_suite(SuiteSpec(dataset=rows, scorers=scorers, split=split), lambda _: None)


def agent_of(answers=("billing",)):
    spec = AgentSpec(
        model=ScriptedModel(list(answers) * 50),
        labels=("billing", "technical"),
        configuration={"sections": {"user": "{{text}}"}},
    )
    return build_agent(spec, lambda model: model)


def answered(*batches):
    in_turn = iter(batches)
    return ScriptedModel(lambda _: json.dumps({"rows": next(in_turn)}))


def row(text, label="billing"):
    return {"text": text, "label": label}


async def test_rows_are_marked_new_and_whole():
    model = answered(
        [
            row("my card was charged twice in May"),
            row("My card was charged twice, in may"),
            row("TEST ticket number 1 about an error"),
            row("the page is white", "broken"),
            {"text": "no label"},
            "no row",
        ],
        [row("the page is white after the update", "technical")],
    )

    made = await make_rows(suite_of(), agent_of(), model, RowRequest(number=2))

    assert [one["text"] for one in made.rows] == [
        "my card was charged twice in May",
        "the page is white after the update",
    ]
    assert all(one["synthetic"] is True and one["split"] == "train" for one in made.rows)
    assert made.rows[0]["source"]["model"] == model.name
    assert made.refused == {
        "rows like one that there is": 2,
        "rows with an unknown label": 1,
        "rows with columns missing": 2,
    }
    assert made.spending.total.calls == 2


async def test_the_model_sees_training_rows_rules_and_documents_and_no_others(tmp_path):
    (tmp_path / "terms.md").write_text("Refunds take ten days.")
    seen = []

    def write(request):
        seen.append("\n".join(message.content for message in request.messages))
        return json.dumps({"rows": [row(f"question {len(seen)} " + "x" * len(seen))]})

    await make_rows(
        suite_of(),
        agent_of(),
        ScriptedModel(write),
        RowRequest(number=2, rules="Be rude.", documents=read_documents([tmp_path])),
    )

    assert all("train ticket" in one for one in seen)
    assert not any("test ticket" in one or "validation ticket" in one for one in seen)
    assert all("Be rude." in one and "Refunds take ten days." in one for one in seen)


async def test_a_model_that_writes_nothing_new_is_not_asked_for_ever():
    model = ScriptedModel(["no JSON at all"] * 50)

    made = await make_rows(suite_of(), agent_of(), model, RowRequest(number=5))

    assert made.rows == []
    assert made.refused == {"answers that are no JSON": 3}


async def test_rows_on_which_the_agent_disagrees_come_first():
    model = answered(
        [row("an easy one about money"), row("the app shows a red screen", "technical")]
    )

    made = await make_rows(suite_of(), agent_of(), model, RowRequest(number=2, hard=2))

    assert [(one["label"], one["disagreement"]) for one in made.rows] == [
        ("technical", 1.0),
        ("billing", 0.0),
    ]


@pytest.mark.parametrize("split", [{"train": 0.2, "validation": 0.4, "test": 0.4}, "field"])
def test_synthetic_rows_are_for_training_and_move_no_other(split):
    made = [
        {"text": f"made {n}", "label": "billing", "split": "test", "synthetic": True}
        for n in range(30)
    ]
    before = suite_of(ROWS, split).splits()

    after = suite_of([*ROWS, *made], split).splits()

    mixed = suite_of([*ROWS, *made], split)
    of_made = [after[item.id] for item in mixed.dataset.items() if item.data.get("synthetic")]
    assert Counter(of_made) == {"train": 30}
    assert {name: after[name] for name in before} == before
    assert not any(item.data.get("synthetic") for item in mixed.items("test"))
    assert isinstance(next(iter(mixed.items("train"))), Item)


def test_the_command_writes_a_file_and_says_what_it_cost(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    (tmp_path / "burnish.toml").write_text(
        '[agent]\nmodel = "scripted/first-label"\nlabels = ["billing", "technical"]\n'
        'sections = { user = "{{text}}" }\n'
        '[suite]\ndataset = "rows.jsonl"\nsplit = "field"\n'
        'scorers = [{ kind = "exact_match", field = "label" }]\n'
    )
    answer = json.dumps({"rows": [row("a bill that nobody sent")]})

    wrote = run_command(
        ["synthesize", "--model", f"scripted/constant:{answer}", "-n", "1", "--json"]
    )
    told = json.loads(capfd.readouterr().out)
    again = run_command(["synthesize", "--model", f"scripted/constant:{answer}"])

    assert (wrote, told["rows"]) == (0, 1)
    assert json.loads((tmp_path / "synthetic.jsonl").read_text())["synthetic"] is True
    assert again != 0
