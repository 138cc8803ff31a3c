"""Datasets beside imported traces: what they must not repeat, and files that they are added to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from burnish.domain import Json
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.suite import SOURCE, Suite
from burnish.integrations.imports.traces.selecting import known_words


def known_texts(files: Iterable[Path], suite: Suite | None) -> set[str]:
    """Every text of the datasets, and of the test split of a suite, with the traces of their rows.

    A row of the test split that came in again would be searched on, and its score would prove nothing.
    """
    items = [item for path in files for item in Dataset.of(path).items()]
    if suite is not None:
        splits = suite.splits()
        items += [item for item in suite.dataset.items() if splits.get(item.id) == "test"]
    values = [value for item in items for value in item.data.values()]
    known = {known_words(one) for one in values if isinstance(one, (str, list, Mapping))}
    sources = [_source(item.data) for item in items]
    return known | {str(one["trace"]) for one in sources if "trace" in one}


def added_rows(
    rows: Iterable[dict[str, Json]], target: Path, *, split: bool
) -> tuple[list[dict[str, Json]], bytes]:
    """Rows whose input the file has not yet, and the file's bytes, to which they are added.

    Where its rows name their split, or where a suite does (`split`), new ones are for training: a
    test split stays as it was used.
    """
    old = list(Dataset.of(target).items()) if target.exists() else []
    known = {str(item.data.get("input")) for item in old}
    fresh = [row for row in rows if str(row["input"]) not in known]
    if any(item.split for item in old):
        fresh = [{**row, "split": "train"} for row in fresh]
    elif old and split:
        fresh = [{**row, SOURCE: {**_source(row), "split": "train"}} for row in fresh]
    return fresh, target.read_bytes().rstrip(b"\n") + b"\n" if old else b""


def _source(row: Mapping[str, Json]) -> Mapping[str, Json]:
    source = row.get(SOURCE)
    return source if isinstance(source, Mapping) else {}
