"""What is tried first: sets that often help, then one edit of each family, then of each kind."""

from __future__ import annotations

from burnish.optimizers.edits.edit_catalog import Library
from burnish.optimizers.shared.seeded_random import generator

# For labelled answers the frame of the input and the words for the labels matter most.
_FIRST = (
    ("frame", "cue"),
    ("format",),
    ("frame", "cue", "format"),
    ("words",),
    ("options", "frame", "cue", "format"),
    ("definitions",),
    ("task",),
)


def screening_queue(library: Library) -> list[tuple[str, ...]]:
    """Sets of edits in the order they should be screened; the order within a rank is seeded."""
    by_family: dict[str, list[str]] = {}
    for name, edit in library.edits.items():
        by_family.setdefault(edit.family, []).append(name)
    chance = generator(library.facts.seed, "screening")
    for names in by_family.values():
        chance.shuffle(names)
        names.sort(key=lambda name: -library.edits[name].promise)
    queue = [
        tuple(by_family[family][0] for family in families if family in by_family)
        for families in _FIRST
    ]
    seen = {name for names in queue for name in names}
    rest = [names[0] for family, names in by_family.items() if names[0] not in seen]
    queue += [(name,) for name in rest]
    return list(dict.fromkeys(names for names in queue if names))
