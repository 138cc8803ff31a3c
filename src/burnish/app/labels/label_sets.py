"""Label sets: made of the outputs of experiments or the rows of a dataset, and labelled blind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.datasets.stored import load_dataset
from burnish.app.evaluate.baselines import is_file, read_side
from burnish.app.wiring import Workspace
from burnish.domain import AgentOutput, Item, Json, UsageError
from burnish.domain.labels import (
    OTHER,
    OUTPUT,
    SAID,
    TIE,
    Label,
    LabelItem,
    LabelKind,
    LabelRules,
    LabelSet,
    LabelState,
    order_for,
    output_is_left,
)
from burnish.domain.wording import counted
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.judging.people import read_value
from burnish.evaluation.scorers.comparison import as_text
from burnish.evaluation.scorers.judge import shown_output
from burnish.support.ids import new_id
from burnish.support.names import require_name

LEFT, RIGHT = "left", "right"
_MOST_ITEMS = 10_000
_LONGEST_NAME = 100
# What people or judges said before, and where a trace is from: whoever labels is not to be swayed.
_TOLD = (*SAID, "score", "scores", "metadata", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSource:
    """What is to be labelled: the outputs of an experiment, of two, or the rows of a dataset.

    Experiments may be optimizations, too, and stand for their best candidate. Of a dataset `output`
    and `other` are columns; `fields` are the columns that people see besides.
    """

    experiment: str | None = None
    other_experiment: str | None = None
    dataset_id: str | None = None
    dataset: Dataset | None = None
    output: str = "output"
    other: str = "other"
    fields: tuple[str, ...] | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSet:
    """A new label set, and how many items were left out, by why."""

    made: LabelSet
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An item as a person sees it: nothing says who wrote it, nor what anybody else thinks of it."""

    position: int
    item_id: str
    fields: Mapping[str, Json]
    output: str | None = None
    left: str | None = None
    right: str | None = None
    state: LabelState | None = None
    value: Json = None
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """Some tasks in the person's order. `next_open` is the first that is not labelled, skipped last."""

    tasks: Sequence[Task]
    total: int
    labelled: int
    skipped: int
    next_open: int | None


async def make_set(
    workspace: Workspace,
    name: str,
    rules: LabelRules,
    source: LabelSource,
    *,
    seed: int | None = None,
    author: str = "",
) -> MadeSet:
    """A label set of what the source holds now: later runs change nothing in it."""
    require_name("label set", name)
    both = source.other_experiment is not None
    if source.experiment is not None and both != (rules.kind is LabelKind.PREFERENCE):
        raise _no_source(
            "a preference is between the outputs of two experiments, other labels are of one",
            "name two experiments with kind preference, else one",
        )
    given = [source.experiment, source.dataset_id, source.dataset]
    if sum(one is not None for one in given) != 1:
        raise _no_source("it is made of one thing", "name an experiment, or else a dataset")
    left_out: dict[str, int] = {}
    if source.experiment is not None:
        items, told = await _of_experiments(workspace, source, left_out)
    else:
        items, told = await _of_dataset(workspace, rules, source, left_out)
    items = items[: source.limit]
    if not 0 < len(items) <= _MOST_ITEMS:
        why = (
            "nothing is left to label"
            if not items
            else f"it would have {counted(len(items), 'item')}"
        )
        reasons = "".join(f"; {number} {word}" for word, number in left_out.items())
        raise _no_source(
            why + reasons, f"choose 1 to {_MOST_ITEMS:,} items; a limit takes the first"
        )
    made = LabelSet(
        id=new_id(),
        name=name,
        rules=rules,
        items=len(items),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        source=told,
        author=author,
    )
    return MadeSet(made=await workspace.labels.create(made, items), left_out=left_out)


def _no_source(why: str, fix: str) -> UsageError:
    return UsageError(what="the label set cannot be made", why=why, fix=fix, code="invalid_labels")


async def _of_experiments(
    workspace: Workspace, source: LabelSource, left_out: dict[str, int]
) -> tuple[list[LabelItem], dict[str, Any]]:
    references = [one for one in (source.experiment, source.other_experiment) if one is not None]
    if any(map(is_file, references)):
        raise _no_source("a file has no rows", "name a run of this database")
    sides = [await read_side(workspace, one) for one in references]
    dataset_id = await _dataset_of(workspace, sides[0].id)
    told = {"experiments": [one.id for one in sides], "dataset_id": dataset_id}
    items = []
    async for item in workspace.datasets.stream_items(dataset_id):
        outputs = [_text(side.outputs.get(item.id)) for side in sides]
        if None in outputs:
            why = "without an answer"
        elif len(outputs) == 2 and outputs[0] == outputs[1]:
            why = "answered alike by both"
        else:
            origin = told | {"item_id": item.id}
            items.append(_label_item(item, source, SAID, outputs, origin))
            continue
        left_out[why] = left_out.get(why, 0) + 1
    return items, told


async def _dataset_of(workspace: Workspace, run_id: str) -> str:
    """The stored rows of an experiment, or of an optimization."""
    for read in (workspace.experiments.get_experiment, workspace.optimizations.get_optimization):
        try:
            stored: Any = await read(run_id)
        except UsageError:
            continue
        found = stored.dataset_id
        if isinstance(found, str):
            return found
    raise _no_source(
        f"the rows of {run_id} are not stored", "evaluate again, and name that experiment"
    )


def _text(output: AgentOutput | None) -> str | None:
    return None if output is None else shown_output(output)


async def _of_dataset(
    workspace: Workspace, rules: LabelRules, source: LabelSource, left_out: dict[str, int]
) -> tuple[list[LabelItem], dict[str, Any]]:
    dataset = source.dataset
    if dataset is None:
        dataset = await load_dataset(workspace.datasets, source.dataset_id or "")
    needed = (source.output, source.other) if rules.kind is LabelKind.PREFERENCE else ()
    optional = () if needed else (source.output,)
    origin = {"dataset_id": source.dataset_id, "dataset": dataset.name}
    items = []
    for item in await asyncio.to_thread(lambda: list(dataset.items())):
        if any(item.data.get(name) is None for name in needed):
            left_out["without two outputs"] = left_out.get("without two outputs", 0) + 1
            continue
        columns = [name for name in needed or optional if name in item.data]
        outputs = [as_text(item.data[name]) for name in columns]
        hidden = (*_TOLD, *columns, "label")
        items.append(_label_item(item, source, hidden, outputs, origin | {"item_id": item.id}))
    return items, origin


def _label_item(
    item: Item,
    source: LabelSource,
    hidden: Sequence[str],
    outputs: Sequence[str | None],
    origin: Mapping[str, Any],
) -> LabelItem:
    wanted = source.fields
    return LabelItem(
        id=item.id,
        data={
            name: value
            for name, value in item.data.items()
            if (name in wanted if wanted is not None else name not in hidden)
        },
        output=outputs[0] if outputs else None,
        other=outputs[1] if len(outputs) > 1 else None,
        origin=origin,
    )


def require_person(person: str) -> str:
    """A labeller's name as it is kept."""
    name = " ".join(person.split())
    if name and len(name) <= _LONGEST_NAME and name.isprintable():
        return name
    raise UsageError(
        what="nobody can label under this name",
        why=f"a name has 1 to {_LONGEST_NAME} printable characters",
        fix="give your name, as you gave it last time",
        code="invalid_name",
    )


async def tasks_of(
    workspace: Workspace,
    label_set: LabelSet,
    person: str,
    *,
    start: int | None = None,
    limit: int = 20,
) -> TaskPage:
    """Tasks from a place of the person's order, else from the first that is not labelled."""
    person = require_person(person)
    order = order_for(label_set, person, await workspace.labels.item_ids(label_set.id))
    mine = {one.item_id: one for one in await workspace.labels.labels(label_set.id, person=person)}
    states = [mine[one].state if one in mine else LabelState.WITHDRAWN for one in order]
    open_ = [
        place
        for state in (LabelState.WITHDRAWN, LabelState.SKIPPED)
        for place, one in enumerate(states)
        if one is state
    ]
    next_open = open_[0] if open_ else None
    first = start if start is not None else next_open or 0
    shown = await workspace.labels.items(label_set.id, order[first : first + limit])
    return TaskPage(
        tasks=[
            _task(label_set, person, first + place, item, mine.get(item.id))
            for place, item in enumerate(shown)
        ],
        total=len(order),
        labelled=states.count(LabelState.LABELLED),
        skipped=states.count(LabelState.SKIPPED),
        next_open=next_open,
    )


def _task(
    label_set: LabelSet, person: str, position: int, item: LabelItem, label: Label | None
) -> Task:
    sides = (item.output, item.other)
    if not output_is_left(label_set, person, item.id):
        sides = (item.other, item.output)
    preference = label_set.rules.kind is LabelKind.PREFERENCE
    value = None if label is None else label.value
    if preference and value in (OUTPUT, OTHER):
        left = output_is_left(label_set, person, item.id) == (value == OUTPUT)
        value = LEFT if left else RIGHT
    return Task(
        position=position,
        item_id=item.id,
        fields=item.data,
        output=None if preference else item.output,
        left=sides[0] if preference else None,
        right=sides[1] if preference else None,
        state=None if label is None else label.state,
        value=value,
        comment="" if label is None else label.comment,
    )


async def give_label(
    workspace: Workspace,
    label_set: LabelSet,
    person: str,
    item_id: str,
    *,
    state: LabelState = LabelState.LABELLED,
    value: Json = None,
    comment: str = "",
) -> bool:
    """Keep what a person says of an item, once; whether it is something new.

    Of two outputs the value is `left`, `right` or `tie`, as the person saw them.
    """
    person = require_person(person)
    left = None
    if label_set.rules.kind is LabelKind.PREFERENCE:
        left = output_is_left(label_set, person, item_id)
        if value in (LEFT, RIGHT):
            value = OUTPUT if left == (value == LEFT) else OTHER
        elif value != TIE and state is LabelState.LABELLED:
            raise _bad_value(f"{value!r:.80} is none of {LEFT}, {RIGHT}, {TIE}")
    if state is not LabelState.LABELLED:
        value = None
    else:
        try:
            value = read_value(label_set.rules, value)
        except ValueError as error:
            raise _bad_value(str(error)) from error
    given = Label(
        item_id=item_id,
        person=person,
        state=state,
        value=value,
        comment=comment.strip(),
        output_left=left,
    )
    return bool(await workspace.labels.write(label_set.id, [given]))


def _bad_value(why: str) -> UsageError:
    return UsageError(
        what="the label was not kept", why=why, fix="give one of these", code="bad_label"
    )
