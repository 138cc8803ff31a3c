"""Compression of the bundled over-long prompt on the real local model."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.results import Section

_PROGRAM = (sys.executable, "-c", "from burnish.cli import main; main()")
# None of these was used while the example or the search was tuned.
SEEDS = (101, 102, 103)


def run() -> Section:
    """`burnish compress --json` as a user would run it, once for each seed in one folder."""
    with tempfile.TemporaryDirectory(prefix="burnish-compress-") as folder:
        place = Path(folder) / "verbose"
        _burnish("init", "--template", "verbose", str(place), folder=Path(folder))
        results = [_compress(seed, place) for seed in SEEDS]
    return Section(
        name="compress-real",
        title="Compression on the real local model: SmolLM2-135M and an over-long prompt",
        command="python -m bench compress-real",
        columns=[
            *("seed", "tokens: before -> after", "saved", "regressions", "gate items"),
            *("validation: before -> after", "held out: before -> after", "change, 95% interval"),
            *("evaluations", "seconds"),
        ],
        rows=[
            _row(seed, result, seconds if seed == SEEDS[0] else None)
            for seed, (result, seconds) in zip(SEEDS, results, strict=True)
        ],
        notes=[
            "Mechanical edits only: no other model is asked. The gate is every validation item that "
            "the long prompt passes; the search never sees the held-out items.",
            "Seconds are of the first, cold run; the others share its folder, so that equal questions "
            "are answered from its results. Model and items are the same, so seeds differ in the order "
            "of the search alone.",
            *_prompts([result for result, _ in results]),
        ],
    )


def _prompts(results: list[dict[str, Any]]) -> list[str]:
    """What is left of the prompt."""
    found = {json.dumps(one["configuration"]["sections"]["system"]) for one in results}
    return [
        f"{len(results)} seeds end on {len(found)} different prompts: {'; '.join(sorted(found))}"
    ]


def _compress(seed: int, place: Path) -> tuple[dict[str, Any], float]:
    started = time.perf_counter()
    finished = _burnish("compress", "--json", "--seed", str(seed), folder=place)
    return json.loads(finished), time.perf_counter() - started


def _burnish(*arguments: str, folder: Path) -> str:
    finished = subprocess.run(
        [*_PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
        cwd=folder,
    )
    # 1 says that the held-out items speak against the result, which is a result too.
    if finished.returncode not in (0, 1):
        raise SystemExit(f"burnish {arguments[0]} failed:\n{finished.stderr}")
    return finished.stdout


def _row(seed: int, result: dict[str, Any], seconds: float | None) -> list[Any]:
    tokens, test = result["tokens"], result["held_out"]
    return [
        seed,
        f"{tokens['before']} -> {tokens['after']}",
        f"{tokens['saved_share']:.0%}",
        result["regressions"],
        result["gate_items"],
        f"{result['baseline_pass_rate']:.3f} -> {result['candidate_pass_rate']:.3f}",
        f"{test['baseline_score']:.3f} -> {test['best_score']:.3f}",
        f"{test['delta']:+.3f} ({test['ci_low']:+.3f} to {test['ci_high']:+.3f})",
        result["evaluations"],
        "" if seconds is None else round(seconds),
    ]
