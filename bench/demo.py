"""The demo on several seeds: what the real local model gains on held-out reviews."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.results import Section

# None of these was used while the optimizer or the example was tuned.
SEEDS = (101, 102, 103, 104, 105)


OPTIMIZERS = ("edits", "gepa")


def run() -> Section:
    """All seeds in one folder. The first is cold; later ones reuse answers it has paid for."""
    rows: list[list[Any]] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="burnish-demo-") as folder:
        place = Path(folder) / "demo"
        for optimizer in OPTIMIZERS:
            results = [_search(optimizer, seed, place) for seed in SEEDS]
            rows += [
                _row(optimizer, seed, result, seconds)
                for seed, (result, seconds) in zip(SEEDS, results, strict=True)
            ]
            notes.append(_note(optimizer, [result for result, _ in results]))
    return Section(
        name="demo",
        title="The demo: SmolLM2-135M and the bundled reviews, 5 seeds, no meta-model",
        command="python -m bench demo",
        columns=[
            "optimizer",
            "seed",
            "validation: baseline -> best",
            "test (132): baseline -> best",
            "change, 95% interval",
            "p",
            "fixed / broken",
            "trials",
            "evaluations",
            "seconds",
        ],
        rows=rows,
        notes=[
            *notes,
            "Seconds are of the first, cold run; the others share its folder, so that equal questions "
            "are answered from its results (the model is deterministic: scores stay the same).",
        ],
    )


def _note(optimizer: str, results: list[dict[str, Any]]) -> str:
    gains = [_gain(result) for result in results]
    rose = sum(1 for gain in gains if gain > 0)
    winners = {json.dumps(result["best"]["configuration"], sort_keys=True) for result in results}
    return (
        f"`{optimizer}`: the held-out score rose on {rose} of {len(gains)} seeds, by "
        f"{100 * sum(gains) / len(gains):+.1f} points on average "
        f"(worst {100 * min(gains):+.1f}, best {100 * max(gains):+.1f}). "
        f"The {len(gains)} seeds end on {len(winners)} different prompts."
    )


def _search(optimizer: str, seed: int, folder: Path) -> tuple[dict[str, Any], float]:
    """`burnish demo` is `burnish optimize` with `edits` on an example that it makes."""
    program = [sys.executable, "-c", "from burnish.cli import main; main()"]
    options = ["--seed", str(seed), "--json"]
    if optimizer == "edits":
        command, place = [*program, "demo", "--folder", str(folder), *options], folder.parent
    else:
        command, place = [*program, "optimize", "--optimizer", optimizer, *options], folder
    started = time.perf_counter()
    finished = subprocess.run(
        command, capture_output=True, text=True, timeout=1800, check=False, cwd=place
    )
    if finished.returncode != 0:
        raise SystemExit(f"the demo failed:\n{finished.stderr}")
    return json.loads(finished.stdout), time.perf_counter() - started


def _gain(result: dict[str, Any]) -> float:
    return float(result["test"]["best_score"] - result["test"]["baseline_score"])


def _row(optimizer: str, seed: int, result: dict[str, Any], seconds: float) -> list[Any]:
    better, test = result["improvement"], result["test"]
    cold = optimizer == OPTIMIZERS[0] and seed == SEEDS[0]
    return [
        optimizer,
        seed,
        f"{result['baseline']['score']:.3f} -> {result['best']['score']:.3f}",
        f"{test['baseline_score']:.3f} -> {test['best_score']:.3f}",
        f"{better['delta']:+.3f} ({better['ci_low']:+.3f} to {better['ci_high']:+.3f})",
        f"{better['p_value']:.4f}",
        f"{better['fixed']} / {better['broken']}",
        result["trials"],
        result["evaluations"],
        round(seconds) if cold else "",
    ]
