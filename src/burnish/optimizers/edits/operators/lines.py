"""Lines and sentences of the baseline that are dropped, swapped or moved, and filler that goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from burnish.domain import placeholders
from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import capitalised, sentences

_MOST = 12
_FILLER = re.compile(
    r"\b(?:please|kindly|very|really|just|simply|basically|actually|in order(?= to)|"
    r"make sure to|be sure to|it is important (?:that you|to))\s+",
    re.IGNORECASE,
)


def edits(subject: Subject) -> list[Edit]:
    """For every free section: drop one line or sentence, swap or reorder lines, cut filler."""
    found: list[Edit] = []
    for path in subject.free_paths():
        text = subject.baseline.sections[path]
        found += [*_dropped(path, text), *_moved(path, text), *_shortened(path, text)]
    return found


def _parts(text: str) -> list[str]:
    """Lines that say something, or the sentences when there is only one such line."""
    lines = [line for line in text.split("\n") if line.strip() and not placeholders(line)]
    several = [one for line in lines for one in sentences(line)]
    return lines if len(lines) > 1 else several


def _dropped(path: str, text: str) -> list[Edit]:
    parts = _parts(text)
    if len(parts) < 2 and not placeholders(text):
        return []
    named = {str(number): part for number, part in enumerate(parts[:_MOST], start=1)}
    for number, part in list(named.items()):
        several = sentences(part)
        if len(several) > 1:
            named |= {f"{number}.{place}": one for place, one in enumerate(several, start=1)}
    return [
        Edit(
            name=f"drop:{path}:{number}",
            group=f"drop:{path}:{number}",
            stage=Stage.LINES,
            says=f"drop “{_short(part)}”",
            apply=section_edit(path, partial(_without, parts=(part,))),
        )
        for number, part in list(named.items())[: 2 * _MOST]
    ]


def _without(text: str, *, parts: Sequence[str]) -> str | None:
    lines = text.split("\n")
    for part in parts:
        if part in lines:
            lines.remove(part)
            continue
        holder = next((i for i, line in enumerate(lines) if part in line), None)
        if holder is None:
            return None
        lines[holder] = re.sub(r"  +", " ", lines[holder].replace(part, "", 1)).strip()
    left = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return left if left.strip() else None


def _moved(path: str, text: str) -> list[Edit]:
    parts = _parts(text)
    if len(parts) < 2:
        return []
    orders: dict[str, list[int]] = {"last_first": [len(parts) - 1, *range(len(parts) - 1)]}
    for i in range(min(len(parts) - 1, _MOST)):
        swapped = list(range(len(parts)))
        swapped[i], swapped[i + 1] = i + 1, i
        orders[f"swap_{i + 1}"] = swapped
    if len(parts) > 2:
        orders["reversed"] = list(range(len(parts)))[::-1]
    return [
        Edit(
            name=f"move:{path}:{kind}",
            group=f"move:{path}",
            stage=Stage.LINES,
            says=f"put the lines of {path} in another order ({kind.replace('_', ' ')})",
            apply=section_edit(path, partial(_reordered, parts=parts, order=order)),
        )
        for kind, order in orders.items()
        if kind != "last_first" or len(parts) > 2
    ]


def _reordered(text: str, *, parts: Sequence[str], order: Sequence[int]) -> str | None:
    """Each part's place taken by another part; what stands between them stays."""
    pieces: list[str] = []
    rest = text
    for part in parts:
        before, found, rest = rest.partition(part)
        if not found:
            return None
        pieces.append(before)
    return "".join(pieces[i] + parts[order[i]] for i in range(len(parts))) + rest


def _shortened(path: str, text: str) -> list[Edit]:
    found = []
    if _FILLER.search(text):
        found.append(
            Edit(
                name=f"shorten:{path}:filler",
                group=f"shorten:{path}",
                stage=Stage.SHORTEN,
                says="cut words that say nothing",
                apply=section_edit(path, _without_filler),
                promise=0.005,
            )
        )
    parts = _parts(text)
    half = len(parts) // 2
    cuts = {"first": parts[1:], "first_half": parts[half:], "second_half": parts[:half]}
    for kind, dropped in cuts.items():
        if len(parts) > (2 if kind == "first" else 3):
            found.append(
                Edit(
                    name=f"shorten:{path}:{kind}",
                    group=f"shorten:{path}",
                    stage=Stage.LINES,
                    says=f"keep only the {kind.replace('_', ' ')} of the instructions in {path}",
                    apply=section_edit(path, partial(_without, parts=tuple(dropped))),
                )
            )
    return found


def _without_filler(text: str) -> str | None:
    return "\n".join(
        capitalised(_FILLER.sub("", line)) if _FILLER.search(line) else line
        for line in text.split("\n")
    )


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
