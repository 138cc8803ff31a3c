"""Labels of several people: read from what was written, compared, and decided together."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import Json
from burnish.domain.labels import BAD, GOOD, OTHER, OUTPUT, TIE, LabelKind, LabelRules
from burnish.evaluation.judging.agreement import Estimate, cohens_kappa, confusion, share
from burnish.evaluation.judging.labels import read_label

# By person what was said of each item.
Given = Mapping[str, Mapping[str, Json]]


def read_value(rules: LabelRules, value: Json) -> Json:
    """A label as it is kept; ValueError with what is wrong otherwise."""
    if rules.kind is LabelKind.CLASS:
        for one in rules.classes:
            if isinstance(value, str) and value.strip().casefold() == one.strip().casefold():
                return one
        raise ValueError(f"{value!r:.80} is none of {', '.join(rules.classes)}")
    if rules.kind is LabelKind.SCORE:
        try:
            number = float("nan" if isinstance(value, bool) else value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if number not in rules.values:
            raise ValueError(f"{value!r:.80} is no whole number from {rules.low} to {rules.high}")
        return int(number)
    pairwise = rules.kind is LabelKind.PREFERENCE
    worth = read_label(value, pairwise=pairwise)
    known: dict[float, str] = {1: OUTPUT, 0: OTHER, 0.5: TIE} if pairwise else {1: GOOD, 0: BAD}
    if worth not in known:
        raise ValueError(f"{value!r:.80} is none of {', '.join(known.values())}")
    return known[worth]


def as_label(rules: LabelRules, value: Json) -> Json:
    """A label as judges are compared with: scores from 0 to 1, the others as they are."""
    if rules.kind is not LabelKind.SCORE:
        return value
    assert isinstance(value, (int, float))
    return round((value - rules.low) / (rules.high - rules.low), 6)


def decided(rules: LabelRules, values: Sequence[Json]) -> Json:
    """What people say together: the mean of scores, else what most say; None where none is ahead."""
    if rules.kind is LabelKind.SCORE:
        return math.fsum(float(one) for one in values) / len(values)  # type: ignore[arg-type]
    (first, times), *others = Counter(values).most_common(2)
    return None if others and others[0][1] == times else first


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two people agree on the items that both labelled.

    `distance` is of scores, as a share of the scale. Kappa is None where the labels of one of them are
    all the same.
    """

    people: tuple[str, str]
    rows: int
    agreement: Estimate
    kappa: Estimate | None
    distance: Estimate | None
    confusion: Mapping[str, Mapping[str, int]]

    def to_json(self) -> dict[str, Any]:
        """As `burnish labels show --json` prints it."""
        return {
            "people": list(self.people),
            "rows": self.rows,
            "agreement": self.agreement.to_json(),
            "kappa": None if self.kappa is None else self.kappa.to_json(),
            "distance": None if self.distance is None else self.distance.to_json(),
            "confusion": {label: dict(row) for label, row in self.confusion.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAgreement:
    """Agreement of each two people and of all; `differing` are items on which not all say the same.

    `unanimous` is the share of items, of those that two or more labelled, on which all say the same.
    """

    shared: int
    unanimous: Estimate | None
    pairs: tuple[PairAgreement, ...]
    differing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """By name; the items on which they differ are listed with their labels elsewhere."""
        return {
            "shared": self.shared,
            "unanimous": None if self.unanimous is None else self.unanimous.to_json(),
            "pairs": [one.to_json() for one in self.pairs],
        }


def people_agreement(rules: LabelRules, given: Given) -> PeopleAgreement:
    """Who agrees with whom, and on what they differ: the farthest apart first."""
    by_item: dict[str, list[Json]] = {}
    for labels in given.values():
        for item, value in labels.items():
            by_item.setdefault(item, []).append(value)
    shared = {item: values for item, values in by_item.items() if len(values) > 1}
    differing = {item for item, values in shared.items() if len(set(values)) > 1}
    together = [float(item not in differing) for item in shared]
    return PeopleAgreement(
        shared=len(shared),
        unanimous=share(together) if together else None,
        pairs=tuple(
            _pair(rules, one, two, given)
            for one, two in itertools.combinations(sorted(given), 2)
            if given[one].keys() & given[two].keys()
        ),
        differing=tuple(sorted(differing, key=lambda item: (-_spread(rules, shared[item]), item))),
    )


def _pair(rules: LabelRules, one: str, two: str, given: Given) -> PairAgreement:
    items = sorted(given[one].keys() & given[two].keys())
    labels = [(given[one][item], given[two][item]) for item in items]
    table = confusion(
        [str(first) for first, _ in labels],
        [str(second) for _, second in labels],
        [str(value) for value in rules.values],
    )
    distances = [_spread(rules, pair) for pair in labels]
    return PairAgreement(
        people=(one, two),
        rows=len(items),
        agreement=share([float(first == second) for first, second in labels]),
        kappa=cohens_kappa(table),
        distance=share(distances) if rules.kind is LabelKind.SCORE else None,
        confusion=table,
    )


def _spread(rules: LabelRules, values: Sequence[Json]) -> float:
    """How far labels are apart: of scores as a share of the scale, of others by how many there are."""
    if rules.kind is LabelKind.SCORE:
        numbers = [float(as_label(rules, one)) for one in values]  # type: ignore[arg-type]
        return max(numbers) - min(numbers)
    return 1 - Counter(values).most_common(1)[0][1] / len(values)
