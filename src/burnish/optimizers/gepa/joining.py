"""Joining and taking apart in `gepa`: rewrites that won are tried further, merged and pruned."""

from __future__ import annotations

from burnish.domain import Configuration, placeholders
from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.gepa.step_view import Move, StepView
from burnish.optimizers.shared.blocks import Block, added, blocks_of, kept_share, merged, restored
from burnish.optimizers.shared.blocks import without as without_blocks
from burnish.optimizers.shared.pareto import leads

# A rewrite that keeps less of its parent's blocks is another text, not a change of it.
_KEPT = 0.5


class Joining:
    """What to do with rewrites that mended some of the failures that they saw."""

    def __init__(self, view: StepView) -> None:
        self._view = view

    def moves(self) -> list[Move]:
        """Each parent's open rewrites: the merge of all, else the best of them by itself."""
        by_parent: dict[str, list[Known]] = {}
        for one in self._view.evidence.known.values():
            parent = self._view.evidence.parent(one)
            if one.kind == "rewrite" and parent is not None and self._is_open(one, parent):
                by_parent.setdefault(parent.id, []).append(one)
        found = []
        for parent_id, open_ones in by_parent.items():
            found += self._joined(self._view.evidence.known[parent_id], open_ones)
        return [move for move in found if self._view.is_new(move)]

    def _is_open(self, one: Known, parent: Known) -> bool:
        """Whether it mended something it saw, and nothing came of it yet."""
        if self._view.is_verified(one) or self._view.evidence.gain(one, parent) <= 0:
            return False
        return not any(
            one.id in other.candidate.parent_candidate_ids and self._view.is_accepted(other)
            for other in self._view.evidence.known.values()
        )

    def _joined(self, parent: Known, open_ones: list[Known]) -> list[Move]:
        view = self._view
        ranked = sorted(
            open_ones,
            key=lambda one: (-view.evidence.gain(one, parent), one.candidate.number),
        )
        seen = {item for one in ranked for item in one.shown}
        unseen = [item for item in view.failures(parent) if item not in seen]
        passes = [item for item in view.passes(parent) if item not in seen]
        more = [
            *view.shuffled(unseen, "unseen", parent.candidate.number)[: view.settings.unseen],
            *view.shuffled(passes, "passes", parent.candidate.number)[: view.settings.passes],
        ] or [item for item in sorted(seen) if item not in ranked[0].shown]
        together = self._together(parent, ranked)
        if together is not None and together.hash not in view.evidence.by_hash:
            mended = [
                item
                for one in ranked
                for item in sorted(one.shown)
                if item in one.results
                and item in parent.results
                and one.results[item].score > parent.results[item].score
            ]
            said = "Joined: " + " ".join(one.candidate.rationale or "" for one in ranked)
            items = [*mended[: 2 * len(ranked)], *more]
            return [
                view.move(
                    together, parent, items, *ranked, said=said, kind="join", shown=sorted(seen)
                )
            ]
        return [view.move(ranked[0].candidate.configuration, ranked[0], more)]

    def _together(self, parent: Known, ranked: list[Known]) -> Configuration | None:
        """All changes in one configuration; None where that is none of its own."""
        base = parent.candidate.configuration.sections
        texts: dict[str, list[str]] = {}
        for one in ranked:
            for path, text in one.candidate.configuration.sections.items():
                if text != base[path] and kept_share(base[path], text) >= _KEPT:
                    texts.setdefault(path, []).append(text)
        made = {
            path: merged(base[path], restored(base[path], many[0]), *many[1:])
            for path, many in texts.items()
        }
        configuration = parent.candidate.configuration.with_sections(made) if made else None
        known = {one.candidate.configuration.hash for one in ranked}
        if configuration is None or configuration.hash in known:
            return None
        return configuration if self._view.allows(configuration) else None

    def prunes(self, tip: Known, count: int) -> list[Move]:
        """The tip without some of its blocks: halves of them, then quarters, down to single ones.

        The first block of a section stays: it says what the section is.
        """
        view = self._view
        sections = tip.candidate.configuration.sections
        blocks = [
            (path, block)
            for path, text in sections.items()
            if view.facts.space.may_change(path)
            for block in blocks_of(text)[1:]
            if not block.is_head and not placeholders(block.text)
        ]
        items = [
            *view.shuffled(view.passes(tip), "prune")[: 2 * view.settings.passes],
            *view.shuffled(view.failures(tip), "prune")[: view.settings.unseen],
        ]
        found: list[Move] = []
        waiting = [blocks]
        while waiting and items and len(found) < count:
            drops = waiting.pop(0)
            middle = len(drops) // 2
            if len(drops) < len(blocks):
                made = self._without(tip, drops)
                known = made is not None and view.evidence.by_hash.get(made.hash)
                if made is not None and not known:
                    said = f"Without “{'; '.join(b.text.strip() for _, b in drops)}”"
                    found.append(view.move(made, tip, items, said=said, kind="prune"))
                    continue
            if middle:
                waiting += [drops[:middle], drops[middle:]]
        return [move for move in found if view.is_new(move)]

    def _without(self, one: Known, drops: list[tuple[str, Block]]) -> Configuration | None:
        sections = one.candidate.configuration.sections
        by_path: dict[str, list[Block]] = {}
        for path, block in drops:
            by_path.setdefault(path, []).append(block)
        made = {path: without_blocks(sections[path], many) for path, many in by_path.items()}
        if not all(text.strip() for text in made.values()):
            return None
        return one.candidate.configuration.with_sections(made)

    def lineages(self) -> list[Move]:
        """Two leaders in one: the first with the blocks that only the second has."""
        view, evidence = self._view, self._view.evidence
        validation = set(view.items.validation)
        led = leads(
            {
                one.id: {i: r.score for i, r in one.results.items() if i in validation}
                for one in evidence.trialed
            }
        )
        ranked = sorted(evidence.trialed, key=lambda one: (-led[one.id], one.candidate.number))[:4]
        for number, first in enumerate(ranked):
            for second in ranked[number + 1 :]:
                made = self._crossed(first, second)
                items = self._contested(first, second)
                if made is not None and items and made.hash not in evidence.by_hash:
                    return [
                        view.move(
                            made,
                            first,
                            items,
                            second,
                            said="Joined two candidates that lead on other items.",
                            kind="merge",
                        )
                    ]
        return []

    def _crossed(self, first: Known, second: Known) -> Configuration | None:
        root = self._view.facts.baseline.sections
        ours, theirs = first.candidate.configuration, second.candidate.configuration
        made = {
            path: merged(root[path], text, theirs.sections[path])
            for path, text in ours.sections.items()
            if added(text, theirs.sections[path])
        }
        configuration = ours.with_sections(made) if made else None
        allowed = configuration is not None and self._view.allows(configuration)
        return configuration if allowed else None

    def _contested(self, first: Known, second: Known) -> list[str]:
        shared = [
            item
            for item in self._view.items.validation
            if item in first.results and item in second.results
        ]
        lost = [one for one in shared if first.weak(one) and not second.weak(one)]
        won = self._view.shuffled([one for one in shared if not first.weak(one)], "contested")
        size = self._view.settings.unseen + self._view.settings.passes
        return [*lost[:size], *won[: len(lost[:size])]] if lost else []
