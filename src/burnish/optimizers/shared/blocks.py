"""Merging and pruning of prompt texts by their blocks, each put where its headings are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rapidfuzz import fuzz

from burnish.domain import placeholders
from burnish.optimizers.shared.block_reading import Block, blocks_of, json_in, text_of

__all__ = [
    "Block",
    "added",
    "blocks_of",
    "dropped",
    "kept_share",
    "merged",
    "restored",
    "text_of",
    "without",
]

_JSON = "\0json"
_REWORDED = 60.0


def kept_share(old: str, new: str) -> float:
    """How much of the old text's blocks the new one has, word for word."""
    before, after = ({_JSON if b.is_json else b.key for b in blocks_of(t)} for t in (old, new))
    return len(before & after) / len(before) if before else 1.0


def added(old: str, new: str) -> list[Block]:
    """What only the new text has, heads left out."""
    return _missing(blocks_of(new), blocks_of(old))


def dropped(old: str, new: str) -> list[Block]:
    """What only the old text has, heads left out."""
    return _missing(blocks_of(old), blocks_of(new))


def without(text: str, unwanted: Iterable[Block]) -> str:
    """The text without some of its blocks.

    Heads that lose all below them go as well, but for those that hold a placeholder.
    """
    gone = {(block.place, block.text) for block in unwanted}
    blocks = blocks_of(text)
    kept = [block for block in blocks if (block.place, block.text) not in gone]
    used = {block.path[:depth] for block in kept if not block.is_head for depth in _depths(block)}
    return text_of(
        _closed(
            blocks,
            [b for b in kept if not b.is_head or b.place in used or placeholders(b.text)],
        )
    )


def merged(base: str, first: str, *others: str) -> str:
    """The first text with what the others changed in the base.

    What another one only left out stays. Where two reworded the same block, the first one's counts,
    and a change that would take away the last of a placeholder is not made.
    """
    made = first
    for other in others:
        wanted = {*placeholders(base)} & {*placeholders(made)}
        changed = _merged(base, made, other, frozenset())
        lost = frozenset(wanted.difference(placeholders(changed)))
        made = _merged(base, made, other, lost) if lost else changed
    return text_of(blocks_of(made))


def restored(base: str, text: str) -> str:
    """The text with those blocks of the base that it dropped without putting others in their place."""
    new = added(base, text)
    made = list(blocks_of(text))
    for block in dropped(base, text):
        if _reworded(block, new) is None and all(one.key != block.key for one in new):
            made = _inserted(made, block, blocks_of(base))
    return text_of(made)


def _merged(base: str, first: str, other: str, kept: frozenset[str]) -> str:
    """Without a change of blocks that have one of the `kept` placeholders."""
    theirs, gone = blocks_of(other), dropped(base, other)
    made = list(blocks_of(first))
    for block in added(base, other):
        moved = next((one for one in gone if one.key == block.key and not one.is_json), None)
        old = moved or _reworded(block, gone)
        if old is None:
            had = any(one.is_json and one.path == block.path for one in blocks_of(base))
            rival = None if had else _json_rival(made, block, blocks_of(base))
            made = (
                _inserted(made, block, theirs)
                if rival is None
                else _replaced(made, rival, _united(rival, block, None))
            )
            continue
        gone = [one for one in gone if one is not old]
        mine = next((one for one in made if one.place == old.place), None)
        if mine is None and block.is_json:
            mine = _json_rival(made, block, blocks_of(base))
        if mine is None or kept.intersection(placeholders(mine.text)):
            continue
        if moved is not None:
            left = [one for one in made if one is not mine]
            made = _inserted(_closed(made, left), block, theirs)
        else:
            made = _replaced(made, mine, _united(mine, block, old) if block.is_json else block)
    return text_of(made)


def _missing(blocks: Sequence[Block], among: Sequence[Block]) -> list[Block]:
    there = {block.place for block in among}
    return [block for block in blocks if not block.is_head and block.place not in there]


def _reworded(block: Block, among: Sequence[Block]) -> Block | None:
    """The one of these that it says in other words, under the same heads."""
    alike = [one for one in among if one.path == block.path and one.is_json == block.is_json]
    if block.is_json and len(alike) == 1:
        return alike[0]
    best = max(alike, key=lambda one: fuzz.ratio(one.key, block.key), default=None)
    near = best is not None and fuzz.ratio(best.key, block.key) >= _REWORDED
    return best if near else None


def _inserted(made: list[Block], block: Block, source: Sequence[Block]) -> list[Block]:
    """With a block at the place that its heads give it; missing heads come along."""
    if any(one.place == block.place for one in made):
        return made
    for depth in _depths(block):
        if not any(one.place == block.path[:depth] for one in made):
            head = next(one for one in source if one.is_head and one.place == block.path[:depth])
            made = _placed(made, head, source)
    return _placed(made, block, source)


def _placed(made: list[Block], block: Block, source: Sequence[Block]) -> list[Block]:
    """After the block that it follows in its source, else at the end of what is below its head."""
    level, elders = block.level, []
    for one in source:
        if one.place == block.place:
            break
        if one.path == block.path and one.level == level:
            elders.append(one.place)
    place = next(
        (_region(made, elder)[1] for elder in reversed(elders) if _region(made, elder)[1]), None
    )
    if place is None:
        start, end = _region(made, block.path)
        below = range(start, end)
        place = next(
            (n for n in below if made[n].level and (made[n].level < level or not level)), end
        )
        if not level and (direct := [n for n in below if n < place and made[n].path == block.path]):
            place = _region(made, made[direct[-1]].place)[1] or place
    return _apart([*made[:place], block, *made[place:]], place)


def _region(made: Sequence[Block], path: tuple[str, ...]) -> tuple[int, int]:
    """Where what stands below the last head with this path begins and ends; (0, 0) without one."""
    if not path:
        return 0, len(made)
    start = max((n + 1 for n, one in enumerate(made) if one.place == path), default=0)
    end = start
    while start and end < len(made) and made[end].path[: len(path)] == path:
        end += 1
    return start, end


def _replaced(made: list[Block], old: Block, new: Block) -> list[Block]:
    if new is old:
        return made
    place = next(n for n, one in enumerate(made) if one is old)
    return _apart([*made[:place], replace(new, before=old.before), *made[place + 1 :]], place)


def _apart(made: list[Block], place: int) -> list[Block]:
    """With white space that keeps a block apart from its neighbours."""
    for number in (place, place + 1):
        if 0 < number < len(made):
            made[number] = replace(made[number], before=_before(made[:number], made[number]))
    return made


def _before(so_far: Sequence[Block], block: Block) -> str:
    above = so_far[-1]
    if above.is_table or any(one.is_table and one.place == above.path for one in so_far):
        is_row = block.path == (above.place if above.is_table else above.path)
        return "\n" if is_row else max("\n\n", block.before, key=len)
    begun = max(n for n, one in enumerate(so_far) if not n or "\n" in one.before)
    line = text_of(so_far[begun:])
    for before in (block.before, "\n"):
        read = blocks_of(line + before + block.text)
        if before and [one.text for one in read[-2:]] == [above.text, block.text]:
            return before
    return "\n" if above.is_head else "\n\n"


def _closed(blocks: Sequence[Block], kept: Sequence[Block]) -> list[Block]:
    """The kept ones, apart as far as what stood between them was."""
    stays = {id(block) for block in kept}
    found: list[Block] = []
    before = ""
    for block in blocks:
        before = max(before, block.before, key=lambda space: space.count("\n"))
        if id(block) in stays:
            gap = before if before.count("\n") > block.before.count("\n") else block.before
            found = _apart([*found, replace(block, before=gap)], len(found))
            before = ""
    return found


def _json_rival(made: Sequence[Block], block: Block, base: Sequence[Block]) -> Block | None:
    """The one JSON object that this text, too, has changed or put there."""
    known = {one.place for one in base}
    there = [b for b in made if b.is_json and b.path == block.path and b.place not in known]
    return there[0] if block.is_json and len(there) == 1 else None


def _united(here: Block, new: Block, old: Block | None) -> Block:
    """A JSON object with the fields of another one that the base does not have."""
    start, end, mine = json_in(here.text) or (0, 0, {})
    theirs, was = _value(new), {} if old is None else _value(old)
    value = _union(mine, theirs, was)
    if value == mine:
        return here
    flat = "\n" not in here.text[start:end]
    made = json.dumps(value, ensure_ascii=False, indent=None if flat else 2)
    return replace(here, text=here.text[:start] + made + here.text[end:])


def _union(here: Mapping[str, Any], new: Mapping[str, Any], old: Mapping[str, Any]) -> Any:
    found = dict(here)
    for name, value in new.items():
        mine, was = found.get(name), old.get(name)
        if isinstance(mine, dict) and isinstance(value, dict):
            found[name] = _union(mine, value, was if isinstance(was, dict) else {})
        elif isinstance(mine, list) and isinstance(value, list):
            found[name] = [*mine, *(one for one in value if one not in mine)]
        elif name not in found or (mine == was and value != was):
            found[name] = value
    return found


def _value(block: Block) -> dict[str, Any]:
    found = json_in(block.text)
    return {} if found is None else found[2]


def _depths(block: Block) -> range:
    return range(1, len(block.path) + 1)
