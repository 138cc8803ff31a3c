"""Jobs of a new user: the wheel in an empty folder, a priced endpoint to production, two prompts."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.servers.learning_model import learning_model

import burnish

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
SECONDS = 1200
TWO_PROMPTS = """
import burnish

def answer(configuration, item):
    asked = configuration["sections"]["find"] + configuration["sections"]["answer"]
    right = "step by step" in asked.lower() or "carefully" in asked.lower()
    return item["label"] if right or item["text"].endswith("0") else "other"

rows = [{"text": f"ticket {n}", "label": "billing"} for n in range(60)]
result = burnish.optimize(
    burnish.Agent(
        run=answer,
        configuration={"sections": {"find": "Find the facts in {{text}}.", "answer": "Answer."}},
    ),
    burnish.Suite(
        dataset=rows,
        scorers=[{"kind": "exact_match", "field": "label"}],
        split={"train": 0.2, "validation": 0.4, "test": 0.4},
    ),
    optimizer="edits",
    seed=1,
    budget=burnish.Budget(max_evaluations=900),
)
changed = result.best.configuration.sections
print(result.best.score > result.baseline.score, sorted(changed))
"""


def run(*command, cwd, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BURNISH_")}
    kept.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The commands of a new environment that has the wheel of this checkout and what it needs."""
    if not UV.exists():
        pytest.skip("there is no uv in this environment to make another one with")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    left_out = shutil.ignore_patterns("__pycache__", "ui_dist*", "*.egg-info")
    shutil.copytree(ROOT / "src", source / "src", ignore=left_out)
    shutil.copytree(ROOT / "build_backend", source / "build_backend", ignore=left_out)
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = "import burnish_build; print(burnish_build.build_wheel('..'))"
    run(
        sys.executable,
        "-c",
        build,
        cwd=source,
        PYTHONPATH="build_backend",
        BURNISH_NO_UI="1",
    )
    (wheel,) = folder.glob("burnish-*.whl")
    venv = folder / "venv"
    run(UV, "venv", "--quiet", "--python", sys.executable, venv, cwd=folder)
    install = [UV, "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel]
    run(*install, cwd=folder, VIRTUAL_ENV=str(venv))
    return venv / "bin"


def test_the_wheel_makes_checks_and_runs_an_example_in_an_empty_folder(installed, tmp_path):
    burnish = installed / "burnish"

    run(burnish, "init", "--template", "python", cwd=tmp_path)
    run(burnish, "validate", cwd=tmp_path)
    result = json.loads(run(burnish, "eval", "--json", cwd=tmp_path))
    listed = run(burnish, "list", cwd=tmp_path)

    assert 0 < result["score"] <= 1
    assert f"{result['score']:.3f}" in listed


def test_an_agent_of_two_prompts_is_improved_where_the_script_is_pasted(installed, tmp_path):
    (tmp_path / "improve.py").write_text(TWO_PROMPTS)

    told = run(installed / "python", "improve.py", cwd=tmp_path)

    assert told.strip().splitlines()[-1] == "True ['answer', 'find']"


def test_tickets_of_a_csv_file_at_an_endpoint_of_ones_own_with_its_prices(
    tmp_path, here, monkeypatch
):
    tickets = [("invoice", "billing"), ("error", "technical")] * 20
    with (tmp_path / "tickets.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((f"{word} {n}", label) for n, (word, label) in enumerate(tickets))
    with learning_model() as server:
        (tmp_path / "burnish.toml").write_text(
            f"""
[agent]
name = "tickets"
model = "openai/mine"
labels = ["billing", "technical"]
sections = {{ system = "Sort the ticket.", user = "{{{{text}}}}" }}
[suite]
dataset = "tickets.csv"
scorers = [{{ kind = "exact_match", field = "label" }}]
split = {{ train = 0.3, validation = 0.3, test = 0.4 }}
[optimizer]
name = "few_shot"
seed = 1
[budget]
max_trials = 3
[models."openai/mine"]
base_url = "{server.base_url}"
input_price = 1.0
output_price = 2.0
"""
        )
        planned = here.document(tmp_path, "optimize", "--dry-run")
        result = here.document(tmp_path, "optimize")
        calls = server.requests

        here.document(tmp_path, "promote", "latest", "--yes")
    monkeypatch.chdir(tmp_path)
    served = burnish.active("tickets")

    assert served.version == 2 and served.examples, "what was promoted is what production reads"
    assert planned["total"]["most"]["cost_usd"] > 0
    assert result["best"]["score"] > result["baseline"]["score"]
    # Every call has 40 tokens in and 1 out.
    assert result["usage"]["cost_usd"] == pytest.approx(calls * 42 / 1_000_000)
