"""Datasets beside imported traces: what they must not repeat, and files that they are added to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from burnish.app.wiring import build_suite
from burnish.config.settings import load_settings
from burnish.domain import Json
from burnish.evaluation.datasets import Dataset
from burnish.models.scripted import ScriptedModel


def known_texts(files: Iterable[Path], project: Path) -> set[str]:
    """Every text of the datasets, and of the test split of a project where there is one.

    A row of the test split that came in again would be searched on, and its score would prove nothing.
    """
    items = [item for path in files for item in Dataset.of(path).items()]
    if project.is_file():
        # Scorers are built and not run, so no model has to be reached.
        suite = build_suite(load_settings(project).suite_spec(), lambda *_: ScriptedModel([""]))
        splits = suite.splits()
        items += [item for item in suite.dataset.items() if splits.get(item.id) == "test"]
    return {value for item in items for value in item.data.values() if isinstance(value, str)}


def added_rows(
    rows: Iterable[dict[str, Json]], target: Path
) -> tuple[list[dict[str, Json]], bytes]:
    """Rows whose input the file has not yet, and the file's bytes, to which they are added.

    Where its rows name their split, new ones are for training: a test split stays as it was used.
    """
    old = list(Dataset.of(target).items()) if target.exists() else []
    known = {str(item.data.get("input")) for item in old}
    fresh = [row for row in rows if str(row["input"]) not in known]
    if any(item.split for item in old):
        fresh = [{**row, "split": "train"} for row in fresh]
    return fresh, target.read_bytes().rstrip(b"\n") + b"\n" if old else b""
