"""Choice of the optimizers that fit a task, in words that a result can show."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from math import prod

from burnish.domain import ParameterSpace, RunContext
from burnish.domain.wording import counted
from burnish.optimizers.parameters.axes import are_whole, is_bounded

# As many points as a few steps can try one by one; beyond, what was learnt should lead.
_SMALL_GRID = 16
# Reflection looks at training items first, and then needs a trial.
_FEW_TRIALS = 2
# What two optimizers need to show who leads: a few trials each.
_SHARED_TRIALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An optimizer by name, and the reason in words."""

    name: str
    reason: str


def choose(context: RunContext, *, has_model: bool) -> list[Choice]:
    """The optimizers that fit, in the order in which they begin; most tasks need one.

    Where texts and labelled examples may change and a model can write, that is `joint` and then
    `gepa`, which goes on from what is best so far.
    """
    first = _first(context, has_model=has_model)
    trials = _trials_left(context)
    room = trials is None or trials >= _SHARED_TRIALS
    shown = _labelled_examples(context)
    if first.name not in ("gepa", "edits") or not shown or not room:
        return [first]
    joint = Choice(
        name="joint",
        reason=f"{counted(shown, 'training item')} with labels can be shown beside texts that may "
        "change",
    )
    return [joint, first] if first.name == "gepa" else [joint]


def _labelled_examples(context: RunContext) -> int:
    """How many examples could be shown, at least one a label; 0 where answers are free."""
    train = len(context.splits.get("train", ()))
    enough = context.labels and context.space.max_examples and train >= len(context.labels)
    return train if enough else 0


def _first(context: RunContext, *, has_model: bool) -> Choice:
    """By what may change, what there is to learn from, the budget, and whether a model can write.

    Texts come first: they matter most, and `edits` tunes parameters along with them. Without free texts
    parameters are left, and without those examples.
    """
    texts = [
        path
        for path, text in context.baseline.sections.items()
        if context.space.may_change(path) and text.strip()
    ]
    spaces = [one for one in context.space.parameters.values() if is_bounded(one)]
    trials = _trials_left(context)
    if texts and has_model and trials is not None and trials < _FEW_TRIALS:
        return Choice(
            name="edits",
            reason=f"the budget has room for {counted(trials, 'trial')} only, too few to reflect on "
            "failures first",
        )
    if texts and has_model:
        return Choice(
            name="gepa",
            reason=f"{counted(len(texts), 'section')} may change, and a model can reflect on failures",
        )
    if texts:
        return Choice(
            name="edits",
            reason=f"{counted(len(texts), 'section')} may change, and no model is given to rewrite "
            f"{'it' if len(texts) == 1 else 'them'}",
        )
    if spaces:
        return _over_parameters(spaces)
    return _over_examples(context)


def _trials_left(context: RunContext) -> int | None:
    if context.evaluations_left is None:
        return None
    return context.evaluations_left // max(len(context.splits["validation"]), 1)


def _over_parameters(spaces: list[ParameterSpace]) -> Choice:
    only = f"only {counted(len(spaces), 'parameter')} may change"
    sizes = [_size(one) for one in spaces]
    if None not in sizes and (points := prod(size or 1 for size in sizes)) <= _SMALL_GRID:
        return Choice(
            name="grid", reason=f"{only}, and all of {counted(points, 'point')} can be tried"
        )
    if find_spec("optuna") is None:
        return Choice(name="random", reason=f"{only}, and optuna is not installed")
    return Choice(name="parameters", reason=f"{only}, in more points than can all be tried")


def _over_examples(context: RunContext) -> Choice:
    train = len(context.splits.get("train", ()))
    if not train or not context.space.max_examples:
        return Choice(name="edits", reason="no section, parameter or example may change")
    only = f"no section or parameter may change, but {counted(train, 'training item')} can be shown"
    if context.labels:
        return Choice(name="few_shot", reason=f"{only} with their labels")
    return Choice(name="bootstrap", reason=f"{only} with outputs of the agent that pass")


def _size(space: ParameterSpace) -> int | None:
    """How many values a parameter has; None when they are without number."""
    if space.choices:
        return len(space.choices)
    if space.low is None or space.high is None:
        return 2
    return int(space.high - space.low) + 1 if are_whole(space.low, space.high) else None
