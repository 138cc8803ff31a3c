"""Traces as their own libraries write them become rows without loss, and without what is redacted."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from burnish.cli.invocation import run_command

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".opik-venv" / "bin" / "python"
JOB = Path(__file__).with_name("trace_job.py")
CANARY = "canary@example.org"
OURS = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="there is no .opik-venv: `make opik-venv` builds it"
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    ran = subprocess.run(
        [PYTHON, JOB, folder],
        env={**kept, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return folder


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("otlp.jsonl", {"llm.token_count.prompt": 12, "llm.token_count.completion": 6}),
        ("openinference.json", {"llm.token_count.prompt": 12, "llm.token_count.completion": 6}),
        ("langfuse.json", {"input": 12, "output": 6}),
        ("opik", {"prompt_tokens": 12, "completion_tokens": 6}),
    ],
)
def test_an_export_becomes_rows(written, tmp_path, monkeypatch, capfd, name, tokens):
    monkeypatch.chdir(tmp_path)
    source = str(written / name)

    assert run_command(["import", source, "-o", "whole.jsonl", "--redact", "none"]) == 0
    assert run_command(["import", source, "-o", "rows.jsonl", "--label", "helpful"]) == 0
    whole, redacted = Path("whole.jsonl").read_text(), Path("rows.jsonl").read_text()
    row, step = json.loads(redacted), json.loads(redacted)["steps"][-1]

    assert "redacted" in capfd.readouterr().out
    assert CANARY in whole
    assert CANARY not in redacted
    # All that was told is there, but for the address, and nothing else is gone.
    assert json.loads(whole.replace(CANARY, "[email]")) == {
        key: value for key, value in row.items() if key not in ("label", "label_comment")
    }
    assert row["input"] == "Where is my order? Write to [email]."
    assert row["output"] == "It is on its way."
    assert row["label"] == row["feedback"]["helpful"] == 0.25
    assert row["label_comment"] == row["comment"] == "no date, says [email]"
    assert (row["name"], row["session"], row["tags"]) == ("answer", "s1", ["beta"])
    assert row["metadata"] == {"who": "[email]"}
    assert row["source"]["trace"] == row["id"]
    assert tokens.items() <= {**step.get("attributes", {}), **step.get("usage", {})}.items()
    assert "gpt-4o-mini" in json.dumps(step)
