"""`burnish judge`: a check of the project's judge and of one given on the spot, and a ranking."""

import json

CONFIG = """
[agent]
name = "referee"
model = 'scripted/constant:{"score": 0.9, "reason": "ok", "pass": true}'
judge = { output = "answer" }
[agent.sections]
criteria = "Is the sum right?"
[suite]
dataset = "rows.jsonl"
split = { train = 0.25, validation = 0.25, test = 0.5 }
scorers = ["agreement"]
"""
FIRST = 'scripted/constant:{"winner": "A", "reason": "first"}'


def project(folder):
    rows = [
        {"id": f"r{n}", "question": f"{n}?", "answer": str(n), "second": "-", "label": n % 2}
        for n in range(16)
    ]
    (folder / "burnish.toml").write_text(CONFIG)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_the_projects_own_judge_is_too_lenient(here, tmp_path):
    found = here.document(project(tmp_path), "judge", "check", "--output", "answer")

    effects = {one["name"]: one for one in found["effects"]}
    assert (found["judge"], found["rows"], found["agreement"]["value"]) == ("referee", 16, 0.5)
    assert effects["leniency"]["found"] and effects["leniency"]["value"] > 0
    assert not effects["length"]["found"]
    assert found["confusion"]["fail"]["pass"] == len(found["disagreements"]) == 8


def test_a_judge_of_two_is_given_on_the_spot_and_its_order_found(here, tmp_path):
    options = ("--output", "answer", "--other", "second", "--criteria", "Which?", "--model", FIRST)

    found = here.document(project(tmp_path), "judge", "check", *options, "--probe", "order")

    order = next(one for one in found["effects"] if one["name"] == "order")
    assert (found["kind"], order["value"], order["found"]) == ("pairwise", 1.0, True)
    assert order["interval"][0] < 1


def test_experiments_are_ranked_and_equal_ones_are_equal(here, tmp_path):
    folder = project(tmp_path)
    ids = [here.document(folder, "eval", "--name", name)["experiment_id"] for name in ("a", "b")]

    found = here.document(folder, "judge", "rank", *ids, "--criteria", "Which?", "--model", FIRST)

    assert [one["win_rate"] for one in found["ranking"]] == [0.5, 0.5]
    assert {one["title"] for one in found["ranking"]} == {"a", "b"}


def test_a_judge_that_there_is_not_is_told(here, tmp_path):
    words = here.err(project(tmp_path), "judge", "check", "--judge", "nobody", code=2)

    assert "no judge 'nobody'" in words
    assert "it has referee" in words
