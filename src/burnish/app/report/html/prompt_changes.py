"""Changes of the winner's configuration: sections word by word, parameters, examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from burnish.app.report.html.markup import (
    as_text,
    definitions,
    details,
    excerpt,
    row,
    safe,
    table,
)
from burnish.app.report.html.material import Material
from burnish.domain import Candidate, Configuration, Json, canonical_json
from burnish.domain.wording import counted
from burnish.models import count_tokens

# A piece of text that both have, that only the first has, or that only the second has.
Piece = tuple[str, str]
SAME, REMOVED, ADDED = "same", "removed", "added"

# A word or a sign with the space behind it; only the word decides what is equal.
Word = tuple[str, str]
_WORD = re.compile(r"(\w+|[^\w\s]|^)(\s*)")
# Beyond so many pairs of equal words, lines are compared first and words only within them.
_MAX_PAIRS = 60_000
# Equal pieces up to so long are no landmarks between two longer changes.
_SCRAP = 12


def word_diff(before: str, after: str) -> list[Piece]:
    """Pieces in reading order, removals before the additions that replace them."""
    old, new = _words(before), _words(after)
    if _pairs(old, new) <= _MAX_PAIRS:
        return _tidied(_by_words(old, new))
    return _tidied(_by_lines(before.splitlines(keepends=True), after.splitlines(keepends=True)))


def diff_html(before: str, after: str) -> str:
    """The difference as safe HTML."""
    tags = {SAME: "", REMOVED: "del", ADDED: "ins"}
    return "".join(
        f"<{tags[kind]}>{safe(text)}</{tags[kind]}>" if tags[kind] else safe(text)
        for kind, text in word_diff(before, after)
    )


def _words(text: str) -> list[Word]:
    return [(word, space) for word, space in _WORD.findall(text) if word or space]


def _by_words(old: Sequence[Word], new: Sequence[Word]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, [w for w, _ in old], [w for w, _ in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield REMOVED, _joined(old[a:b])
            yield ADDED, _joined(new[c:d])
            continue
        for (word, before), (_, after) in zip(old[a:b], new[c:d], strict=True):
            if before == after:
                yield SAME, word + before
            else:
                yield from ((SAME, word), (REMOVED, before), (ADDED, after))


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            yield SAME, "".join(old[a:b])
        elif b - a == d - c:
            for before, after in zip(old[a:b], new[c:d], strict=True):
                yield from _by_words_if_few(before, after)
        else:
            yield from _by_words_if_few("".join(old[a:b]), "".join(new[c:d]))


def _by_words_if_few(before: str, after: str) -> Iterator[Piece]:
    old, new = _words(before), _words(after)
    if _pairs(old, new) <= _MAX_PAIRS:
        yield from _by_words(old, new)
    else:
        yield from ((REMOVED, before), (ADDED, after))


def _joined(words: Sequence[Word]) -> str:
    return "".join(word + space for word, space in words)


def _pairs(old: Sequence[Word], new: Sequence[Word]) -> int:
    """How many pairs of equal words there are: what finding the longest match costs."""
    counts = Counter(word for word, _ in new)
    return sum(counts[word] for word, _ in old)


def _tidied(pieces: Iterator[Piece]) -> list[Piece]:
    """One change between two equal pieces; a scrap that is equal by chance joins the changes."""
    changes = _changes(pieces)
    found: list[Piece] = []
    removed, added, same = changes[0]
    for gone, come, then in changes[1:]:
        if len(same) <= min(_SCRAP, max(len(removed), len(added)), max(len(gone), len(come))):
            removed, added, same = removed + same + gone, added + same + come, then
        else:
            found += [(REMOVED, removed), (ADDED, added), (SAME, same)]
            removed, added, same = gone, come, then
    found += [(REMOVED, removed), (ADDED, added), (SAME, same)]
    return [one for one in found if one[1]]


def _changes(pieces: Iterator[Piece]) -> list[tuple[str, str, str]]:
    """What was removed, what was added and what stayed behind that, over and over."""
    found: list[tuple[str, str, str]] = []
    removed = added = same = ""
    for kind, text in pieces:
        if kind != SAME and text and same:
            found.append((removed, added, same))
            removed = added = same = ""
        removed += text if kind == REMOVED else ""
        added += text if kind == ADDED else ""
        same += text if kind == SAME else ""
    return [*found, (removed, added, same)]


_MAX_FIELD = 2_000


def prompt_changes(material: Material) -> str:
    """The difference between the baseline and what it is compared with."""
    before, after = material.baseline, material.subject
    if before is None:
        return "<p>There is no configuration yet.</p>\n"
    if after is None:
        return "<p>No other candidate was scored: this is the baseline.</p>\n" + _whole(before)
    old, new = before.configuration, after.configuration
    name = "best" if material.beaten else "strongest challenger"
    rationale = (
        f"<p>Why it was tried: {excerpt(after.rationale, _MAX_FIELD)}</p>"
        if after.rationale
        else ""
    )
    intro = (
        f"<p>From the baseline to candidate {after.number}, the {name}: <del>removed</del>, "
        f"<ins>added</ins>.</p>{rationale}\n"
    )
    return (
        intro
        + _sections(old, new)
        + _parameters(old.parameters, new.parameters)
        + _examples(old.examples, new.examples)
        + details(f"The whole configuration of candidate {after.number}", _whole(after))
    )


def _sections(old: Configuration, new: Configuration) -> str:
    parts = []
    for path in dict.fromkeys((*old.sections, *new.sections)):
        before, after = old.sections.get(path), new.sections.get(path)
        name = f"<code>{safe(path)}</code>"
        if before == after:
            parts.append(details(f"{name} is unchanged", f"<pre>{safe(before or '')}</pre>"))
            continue
        sizes = f"{count_tokens(before or ''):,} → {count_tokens(after or ''):,} tokens"
        what = " is new" if before is None else " is gone" if after is None else ""
        shown = diff_html(before or "", after or "")
        parts.append(
            f'<h3>{name}{what} <span class="soft">{sizes}</span></h3><pre class="diff">{shown}</pre>\n'
        )
    return "".join(parts)


def _parameters(old: Mapping[str, Json], new: Mapping[str, Json]) -> str:
    if not old and not new:
        return ""
    rows = []
    for name in dict.fromkeys((*old, *new)):
        before, after = (
            safe(as_text(values[name])) if name in values else "–" for values in (old, new)
        )
        same = before == after
        shown = [before, after] if same else [f"<del>{before}</del>", f"<ins>{after}</ins>"]
        rows.append(row([f"<code>{safe(name)}</code>", *shown], classes="" if same else "changed"))
    return "<h3>Parameters</h3>" + table("Parameters", ["Parameter", "Baseline", "After"], rows)


def _examples(old: Sequence[Mapping[str, Json]], new: Sequence[Mapping[str, Json]]) -> str:
    """Examples are the same when their content is; another order is told in words."""
    if not old and not new:
        return ""
    before = {canonical_json(dict(one)): one for one in old}
    after = {canonical_json(dict(one)): one for one in new}
    if list(before) == list(after):
        shown = "".join(map(_example, new))
        return details(f"{counted(len(new), 'example')}, unchanged", f"<ol>{shown}</ol>")
    kept = [key for key in before if key in after]
    moved = [key for key in after if key in before] != kept
    told = f"{len(old):,} before, {len(new):,} after, {len(kept):,} in both"
    told += ", in another order" if moved else ""
    gone = "".join(_example(one, "del") for key, one in before.items() if key not in after)
    now = "".join(_example(one, "" if key in before else "ins") for key, one in after.items())
    removed = f"<p>Removed:</p><ol>{gone}</ol>" if gone else ""
    listed = (
        f"<p>Shown now, in this order:</p><ol>{now}</ol>" if now else "<p>None is shown now.</p>"
    )
    return f"<h3>Examples</h3><p>{told}.</p>{removed}{listed}\n"


def _example(example: Mapping[str, Json], tag: str = "") -> str:
    fields = {safe(name): excerpt(as_text(value), _MAX_FIELD) for name, value in example.items()}
    shown = definitions(fields)
    return f"<li><{tag}>{shown}</{tag}></li>" if tag else f"<li>{shown}</li>"


def _whole(candidate: Candidate) -> str:
    configuration = candidate.configuration
    parts = [
        f"<h3><code>{safe(path)}</code></h3><pre>{safe(text)}</pre>"
        for path, text in configuration.sections.items()
    ]
    if configuration.parameters:
        parts.append(
            f"<h3>Parameters</h3><pre>{safe(as_text(dict(configuration.parameters)))}</pre>"
        )
    if configuration.examples:
        shown = as_text([dict(one) for one in configuration.examples])
        parts.append(f"<h3>Examples</h3><pre>{excerpt(shown, 50 * _MAX_FIELD)}</pre>")
    return "".join(parts) + f'<p class="soft">hash <code>{safe(configuration.hash)}</code></p>\n'
