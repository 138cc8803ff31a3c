"""Suite: what an agent is measured with (a dataset, scorers, a policy), and how its items are split."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from burnish.domain import SPLITS, Agent, Item, UsageError
from burnish.domain.experiments.items import MESSAGES, TURN
from burnish.domain.wording import counted
from burnish.evaluation.conversations.agent import UserPlan
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.datasets.pictures import PictureFolder
from burnish.evaluation.refine.plan import RefinePlan
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.support.hints import did_you_mean
from burnish.support.number_checks import is_whole

SplitSizes: TypeAlias = Mapping[str, float]

FIELD = "field"
# The column that marks rows which a model wrote.
SYNTHETIC = "synthetic"
# Where a row is from; a trace that was added to a split dataset has `split` in it.
SOURCE = "source"
_FRACTION_ERROR = 1e-6
_LISTED = 10
_NO_SPLIT = ""


def assign_splits(
    rows: Dataset | Iterable[Item],
    split: SplitSizes | str,
    *,
    seed: int,
    stratify_by: str | None = None,
) -> dict[str, str]:
    """The split of each item id, in the rows' order.

    `split` is fractions that sum to 1, or numbers of rows (rows beyond their sum are in no
    split), or the text "field": each row names its own. `stratify_by` keeps the values of one
    field in proportion; rows without the field count as one value. Sizes win over what rows say.
    """
    if isinstance(split, str):
        return _own_splits(rows, split)
    sizes = _require_sizes(split)
    strata = _pooled(_strata(rows, stratify_by), smallest=len(sizes))
    totals = _totals(sizes, len(strata))
    counts = _allocate(Counter(strata.values()), totals, seed)
    order = sorted(strata, key=lambda item_id: _rank(seed, item_id))
    chosen: dict[str, str] = {}
    for item_id in order:
        left = counts[strata[item_id]]
        # Splits come in a fixed order, so one more row moves only the rows at the cuts.
        chosen[item_id] = name = next(name for name, count in left.items() if count)
        left[name] -= 1
    return {item_id: chosen[item_id] for item_id in strata if chosen[item_id] != _NO_SPLIT}


def _rank(seed: int, *parts: str) -> bytes:
    """A random-looking place in an order, the same on every machine and in every process."""
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).digest()


def _strata(rows: Dataset | Iterable[Item], field: str | None) -> dict[str, str]:
    """Item ids with the value they are stratified by, as text."""
    if field is None:
        ids = rows.index().ids if isinstance(rows, Dataset) else (item.id for item in rows)
        return dict.fromkeys(ids, "")
    items = rows.items() if isinstance(rows, Dataset) else rows
    strata: dict[str, str] = {}
    columns: set[str] = set()
    names: dict[str, str] = {}
    for item in items:
        columns.update(item.data)
        name = json.dumps(item.data.get(field), sort_keys=True)
        strata[item.id] = names.setdefault(name, name)
    if strata and field not in columns:
        raise UsageError(
            what=f"rows cannot be stratified by {field!r}",
            why="no row has that column",
            fix=did_you_mean(field, columns, f"use one of {', '.join(sorted(columns))}"),
            code="unknown_field",
        )
    return strata


def _pooled(strata: dict[str, str], smallest: int) -> dict[str, str]:
    """Values too rare to be in every split count as one: no proportion of them can be kept."""
    counts = Counter(strata.values())
    return {item_id: name if counts[name] >= smallest else "" for item_id, name in strata.items()}


def _totals(sizes: SplitSizes, rows: int) -> dict[str, int]:
    """How many rows each split gets, in the order of SPLITS; the last entry is for the others."""
    named = {name: sizes[name] for name in SPLITS if name in sizes}
    if _are_fractions(named):
        return {**_apportion(named, rows), _NO_SPLIT: 0}
    counts = {name: int(size) for name, size in named.items()}
    wanted = sum(counts.values())
    if wanted > rows:
        raise _bad_split(
            f"{counted(wanted, 'row')} {'is' if wanted == 1 else 'are'} asked for and the "
            f"dataset has {rows}",
            "ask for fewer, or add rows",
        )
    return {**counts, _NO_SPLIT: rows - wanted}


def _apportion(fractions: SplitSizes, rows: int) -> dict[str, int]:
    """Whole numbers by largest remainder, then at least one row for each split."""
    if rows < len(fractions):
        raise _bad_split(
            f"{counted(rows, 'row')} cannot fill {counted(len(fractions), 'split')}",
            "add rows, or name fewer splits",
        )
    whole = sum(fractions.values())
    exact = {name: fraction / whole * rows for name, fraction in fractions.items()}
    counts = {name: int(size) for name, size in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in by_remainder[: rows - sum(counts.values())]:
        counts[name] += 1
    while (empty := min(counts, key=counts.__getitem__)) and not counts[empty]:
        counts[max(counts, key=counts.__getitem__)] -= 1
        counts[empty] += 1
    return counts


def _allocate(
    strata: Mapping[str, int], totals: Mapping[str, int], seed: int
) -> dict[str, dict[str, int]]:
    """Rows of each stratum for each split: in proportion, with exact sums both ways.

    Every cell gets the whole part of its share; what is left goes to the largest remainders that
    both their stratum and their split have room for, ties in a seeded order.
    """
    rows = sum(strata.values())
    counts = {
        stratum: {name: size * total // rows for name, total in totals.items()}
        for stratum, size in strata.items()
    }
    in_stratum = {stratum: strata[stratum] - sum(counts[stratum].values()) for stratum in strata}
    in_split = {
        name: total - sum(row[name] for row in counts.values()) for name, total in totals.items()
    }
    cells = [
        (-(size * total % rows), _rank(seed, stratum, name), stratum, name)
        for stratum, size in strata.items()
        for name, total in totals.items()
        if in_stratum[stratum] and in_split[name]
    ]
    cells.sort()
    # Once is enough for nearly all; a stratum whose splits were full takes what is left then.
    while any(in_stratum.values()):
        for _, _, stratum, name in cells:
            if in_stratum[stratum] and in_split[name]:
                counts[stratum][name] += 1
                in_stratum[stratum] -= 1
                in_split[name] -= 1
    return counts


def _own_splits(rows: Dataset | Iterable[Item], split: str) -> dict[str, str]:
    if split != FIELD:
        raise _bad_split(f"{split!r} is not a way to split", 'use "field", or give sizes')
    foreign: Mapping[str, int] = {}
    if isinstance(rows, Dataset):
        index = rows.index()
        chosen = {item_id: index.splits.get(item_id) for item_id in index.ids}
        places = {item_id: f" ({index.unit} {line})" for item_id, line in index.lines.items()}
        foreign = index.foreign_splits
    else:
        chosen = {item.id: item.split for item in rows}
        places = {}
    without = [item_id for item_id, name in chosen.items() if name is None]
    if without:
        raise _rows_without_split(without, places, foreign)
    return {item_id: name for item_id, name in chosen.items() if name is not None}


def _rows_without_split(
    without: Sequence[str], places: Mapping[str, str], foreign: Mapping[str, int]
) -> UsageError:
    listed = ", ".join(f"{item_id!r}{places.get(item_id, '')}" for item_id in without[:_LISTED])
    more = f" and {len(without) - _LISTED} more" if len(without) > _LISTED else ""
    values = ", ".join(repr(value) for value in list(foreign)[:3])
    said = f"; they say {values}" if values else ""
    verb = "names" if len(without) == 1 else "name"
    return _bad_split(
        f"{counted(len(without), 'row')} {verb} no split: {listed}{more}{said}",
        f"write {', '.join(SPLITS[:-1])} or {SPLITS[-1]} into each row's split, or give fractions",
    )


def _are_fractions(sizes: SplitSizes) -> bool:
    return abs(sum(sizes.values()) - 1) <= _FRACTION_ERROR


def _require_sizes(split: Any) -> SplitSizes:
    """The sizes, if they make sense. A lone 1 is a fraction: all rows."""
    example = "for example { train = 0.4, validation = 0.4, test = 0.2 }"
    if not isinstance(split, Mapping) or not split:
        raise _bad_split(f"{split!r} names no sizes", example)
    for name, size in split.items():
        if name not in SPLITS:
            fix = did_you_mean(str(name), SPLITS, f"use {', '.join(SPLITS)}")
            raise _bad_split(f"{name!r} is not the name of a split", fix)
        if isinstance(size, bool) or not isinstance(size, (int, float)) or not 0 < size < 1e15:
            fix = "give a number above 0, or leave the split out"
            raise _bad_split(f"{name} = {size!r} is not a size", fix)
    sizes: SplitSizes = split
    if not _are_fractions(sizes) and not all(float(size).is_integer() for size in sizes.values()):
        raise _bad_split(f"the fractions sum to {sum(sizes.values()):g}, not to 1", example)
    return sizes


def _bad_split(why: str, fix: str) -> UsageError:
    return UsageError(what="the dataset cannot be split", why=why, fix=fix, code="invalid_split")


MODES = ("llm", "schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePolicy:
    """How often each item runs, what counts as passed, how rows are split.

    Without a `pass_threshold` scorers that say themselves whether an output passes decide.
    """

    repeats: int = 1
    pass_threshold: float | None = None
    mode: str = "llm"
    split: Mapping[str, float] | str | None = None
    split_seed: int = 0
    stratify_by: str | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.repeats, least=1):
            raise _bad("repeats", f"{self.repeats!r} is not a whole number from 1 up")
        threshold = self.pass_threshold
        if threshold is not None and not (
            isinstance(threshold, (int, float)) and math.isfinite(threshold)
        ):
            raise _bad("pass_threshold", f"{self.pass_threshold!r} is not a finite number")
        if self.mode not in MODES:
            raise _bad("mode", f"{self.mode!r} is neither {MODES[0]!r} nor {MODES[1]!r}")

    def to_json(self) -> dict[str, Any]:
        """What is recorded with an experiment."""
        split = dict(self.split) if isinstance(self.split, Mapping) else self.split
        return {
            "repeats": self.repeats,
            "pass_threshold": self.pass_threshold,
            "mode": self.mode,
            "split": split,
            "split_seed": self.split_seed,
            "stratify_by": self.stratify_by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A dataset with its scorers and policy, and how single outputs are refined, if they are."""

    name: str
    dataset: Dataset
    scorers: ScorerSet
    policy: SuitePolicy = field(default_factory=SuitePolicy)
    refine: RefinePlan | None = None
    user: UserPlan | None = None
    pictures: PictureFolder | None = None

    async def loaded(self, item: Item) -> Item:
        """The item with its pictures, where the suite has any."""
        return item if self.pictures is None else await self.pictures.load(item)

    def asked(self, agent: Agent) -> Agent:
        """The agent as this suite asks it: in a conversation, where there is a user."""
        return agent if self.user is None else self.user.around(agent)

    @property
    def columns(self) -> frozenset[str]:
        """What placeholders and scorers find in a row: its columns, and those of a conversation."""
        columns = self.dataset.index().columns
        return columns if self.user is None else columns | {TURN, MESSAGES}

    def for_trials(self) -> Suite:
        """The suite as an optimization runs it: refined only where that is asked for."""
        if self.refine is None or self.refine.policy.trials:
            return self
        return replace(self, refine=None)

    def splits(self) -> Mapping[str, str]:
        """The split of each item id; empty when the suite is not split.

        Synthetic rows are for training, whatever they say, and so are traces that were added later:
        the others are split as without them.
        """
        if self.policy.split is None:
            return {}
        rows: Dataset | list[Item] = self.dataset
        made: list[str] = []
        if not {SYNTHETIC, SOURCE}.isdisjoint(self.dataset.index().fields):
            made = [item.id for item in self.dataset.items() if _only_for_training(item)]
            rows = [item for item in self.dataset.items() if not _only_for_training(item)]
        chosen = assign_splits(
            rows,
            self.policy.split,
            seed=self.policy.split_seed,
            stratify_by=self.policy.stratify_by,
        )
        return {**chosen, **dict.fromkeys(made, "train")}

    def items(self, split: str | None = None) -> Iterator[Item]:
        """The items of one split, or all; each read afresh from the dataset."""
        if split is None:
            yield from self.dataset.items()
            return
        if split not in SPLITS:
            raise _bad("split", f"{split!r} is none of {', '.join(SPLITS)}")
        chosen = self.splits()
        if not chosen:
            raise UsageError(
                what=f"there is no split {split!r}",
                why=f"the suite {self.name!r} is not split",
                fix='add split = { train = 0.4, validation = 0.4, test = 0.2 } or split = "field"',
                code="no_split",
            )
        for item in self.dataset.items():
            if chosen.get(item.id) == split:
                yield item


def _only_for_training(item: Item) -> bool:
    source = item.data.get(SOURCE)
    later = isinstance(source, Mapping) and source.get("split") == "train"
    return later or str(item.data.get(SYNTHETIC)).casefold() == "true"


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the suite's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [suite]",
        code="invalid_suite",
    )
