"""`burnish labels`: a set of a file's rows, labels in and out, a version, and a judge against it."""

import json

JUDGE = 'scripted/constant:{"score": 0.9, "reason": "ok", "pass": true}'


def test_labels_of_a_file_become_what_a_judge_is_checked_against(here, tmp_path):
    rows = [{"id": f"r{n}", "question": f"{n}?", "output": str(n)} for n in range(4)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["item_id,person,label,comment"]
    given += [f"r{n},{who},{'pass' if n else 'fail'}," for n in range(4) for who in ("ada", "bob")]
    (tmp_path / "given.csv").write_text("\n".join([*given, "r3,eve,fail,too short\n"]))

    made = here.document(tmp_path, "labels", "create", "sums", "--dataset", "rows.jsonl")
    taken = here.document(tmp_path, "labels", "import", "sums", "given.csv")
    shown = here.document(tmp_path, "labels", "show", "sums")
    version = here.document(tmp_path, "labels", "version", "sums", "--note", "first")
    here.document(tmp_path, "labels", "export", "sums", "-o", "out.csv")
    written = here.document(tmp_path, "labels", "export", "sums@1", "--rows", "-o", "rows.csv")
    options = ("labels:sums@1", "--model", JUDGE, "--criteria", "Right?", "--probe", "length")
    found = here.document(tmp_path, "judge", "check", *options)

    assert (made["items"], taken) == (4, {"labels": 9, "new": 9})
    assert [one["kappa"]["value"] for one in shown["pairs"][:1]] == [1.0]
    assert shown["differing"] == [
        {"item_id": "r3", "labels": {"ada": "pass", "bob": "pass", "eve": "fail"}}
    ]
    assert (version["version"], version["rows"], written["rows"]) == (1, 4, 4)
    assert here.document(tmp_path, "labels", "import", "sums", "out.csv")["new"] == 0
    assert "r3,3?,3,pass,fail: too short" in (tmp_path / "rows.csv").read_text()
    assert (found["rows"], found["agreement"]["value"]) == (4, 0.75)
