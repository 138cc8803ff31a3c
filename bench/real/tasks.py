"""Tasks of a folder, one a subfolder with `data.jsonl` and `meta.json`, and their seeded splits."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# What the search keeps of a small task, and what it takes at most of a large one.
LEAST_FOR_SEARCH = 60
MOST_A_SPLIT = 75
MOST_SPARE = 150

Row = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Messages with their labels, the first prompt, and the kind of the scorer."""

    name: str
    rows: Sequence[Row]
    labels: Sequence[str]
    seed_prompt: str
    scorer: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Split:
    """Rows to learn from, to choose by, and to measure with; `spare` are others, to check verdicts."""

    train: list[Row]
    validation: list[Row]
    test: list[Row]
    spare: list[Row]


def task_names(folder: Path) -> list[str]:
    """Subfolders that hold a task; others, such as one without a first prompt, are passed over."""
    return sorted(
        path.parent.name
        for path in folder.glob("*/meta.json")
        if "seed_prompt" in json.loads(path.read_text(encoding="utf-8"))
        and path.with_name("data.jsonl").is_file()
    )


def load_task(folder: Path, name: str) -> Task:
    """The task of one subfolder; labels that are no list leave the answer free."""
    meta = json.loads((folder / name / "meta.json").read_text(encoding="utf-8"))
    data = (folder / name / "data.jsonl").read_bytes()
    rows = [json.loads(line) for line in data.decode().splitlines() if line.strip()]
    return Task(
        name=name,
        rows=[{"message": row["input"], "label": row["label"]} for row in rows],
        labels=meta["labels"] if isinstance(meta["labels"], list) else (),
        seed_prompt=meta["seed_prompt"],
        scorer=meta["scorer"],
        digest=hashlib.sha256(data).hexdigest()[:12],
    )


def split(task: Task, seed: int, test: int) -> Split:
    """The same rows for everyone with this seed; what is not for the test is halved."""
    rows = list(task.rows)
    random.Random(f"{task.name}:{seed}").shuffle(rows)
    held_out = min(test, max(len(rows) - LEAST_FOR_SEARCH, len(rows) // 3))
    each = min((len(rows) - held_out) // 2, MOST_A_SPLIT)
    return Split(
        test=rows[:held_out],
        train=rows[held_out : held_out + each],
        validation=rows[held_out + each : held_out + 2 * each],
        spare=rows[held_out + 2 * each :][:MOST_SPARE],
    )
