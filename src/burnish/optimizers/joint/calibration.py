"""Label bias: what keeps a prompt from saying a label for its own sake, from probabilities it gave.

Small models say one label to almost everything, whatever the prompt, and still find it likelier
where it is right. The mean probability of each label over the items that a candidate ran shows how
much it is favoured; weighing it back to the label's share of the training items (batch calibration,
Zhou et al., 2023) needs no further call and no right answers of these items. What it would have
answered follows from the stored probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from burnish.domain import Configuration, ItemResult
from burnish.evaluation.agents.prompt_agent import LABEL_BIAS

_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Right labels of items, and the share of each label among the training items."""

    labels: Mapping[str, str]
    shares: Mapping[str, float]

    def fitted(
        self, configuration: Configuration, results: Mapping[str, ItemResult]
    ) -> dict[str, float] | None:
        """The bias that the results ask for; None where they do not tell what it would change."""
        told = {item: one for item, one in results.items() if item in self.labels}
        known = {item: log_probabilities(one) for item, one in told.items()}
        own = own_bias(configuration)
        if not told or any(
            one is None or not self._explains(told[item], self.labels[item], one, own)
            for item, one in known.items()
        ):
            return None
        means = {
            label: fmean([math.exp(one[label]) for one in known.values() if one is not None])
            for label in self.shares
        }
        raw = {one: math.log(self.shares[one] / max(means[one], 1e-9)) for one in self.shares}
        middle = fmean(raw.values())
        return {label: round(value - middle, _DIGITS) for label, value in raw.items()}

    def _explains(
        self, result: ItemResult, label: str, known: Mapping[str, float], own: Mapping[str, float]
    ) -> bool:
        """Whether the score is that of the likeliest label, so that another's can be foretold."""
        if known.keys() != self.shares.keys():
            return False
        return result.score == float(likeliest(known, own) == label)


def shares_of(labels: Sequence[str], counts: Mapping[str, int]) -> dict[str, float]:
    """How often each label is right among training items; none is taken for impossible."""
    whole = sum(counts.get(label, 0) for label in labels) + len(labels)
    return {label: (counts.get(label, 0) + 1) / whole for label in labels}


def own_bias(configuration: Configuration) -> dict[str, float]:
    """What the candidate itself weighs labels with."""
    given = configuration.parameters.get(LABEL_BIAS)
    return (
        {str(label): float(one) for label, one in given.items() if isinstance(one, (int, float))}
        if isinstance(given, Mapping)
        else {}
    )


def with_bias(configuration: Configuration, bias: Mapping[str, float]) -> Configuration:
    """The same prompt, its answers weighed."""
    told = configuration.to_json()
    told["parameters"] = {**told["parameters"], LABEL_BIAS: dict(bias)}
    return Configuration.of(told)


def log_probabilities(result: ItemResult) -> dict[str, float] | None:
    """Of all labels, adding up to one; None where the model does not tell."""
    trace = None if result.output is None else result.output.trace
    told = trace.get("label_logprobs") if isinstance(trace, Mapping) else None
    if not isinstance(told, Mapping) or not told:
        return None
    numbers = {str(name): float(one) for name, one in told.items() if isinstance(one, (int, float))}
    if len(numbers) < len(told):
        return None
    top = max(numbers.values())
    whole = top + math.log(sum(math.exp(one - top) for one in numbers.values()))
    return {name: one - whole for name, one in numbers.items()}


def weighed(known: Mapping[str, float], bias: Mapping[str, float]) -> dict[str, float]:
    """Log probabilities with a bias."""
    return {label: one + bias.get(label, 0.0) for label, one in known.items()}


def likeliest(known: Mapping[str, float], bias: Mapping[str, float]) -> str:
    """The label that is answered; of equals the first."""
    values = weighed(known, bias)
    return max(values, key=values.__getitem__)
