"""Parent selection of `gepa`: whom to reflect on, and with which of its failures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from random import Random

from burnish.domain import ItemResult
from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.gepa.step_view import Move, StepView
from burnish.optimizers.shared.pareto import draw_leaders, leads
from burnish.optimizers.shared.section_roles import tool_of
from burnish.optimizers.shared.seeded_random import generator

# Of a section that no failure points at.
_LEAST_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A section of a parent with failures to learn from and an item that passed."""

    parent: Known
    section: str
    failures: tuple[str, ...]
    passed: tuple[str, ...]


class ParentSelection:
    """The tip while it gets better; else it shares with parents of the per-item front."""

    def __init__(self, view: StepView) -> None:
        self._view = view
        self._texts: dict[tuple[str, str], str] = {}

    def is_stalled(self, one: Known) -> bool:
        """Whether a whole population of rewrites brought nothing."""
        view = self._view
        return view.reflected_on(one) >= view.settings.population or self._is_mastered(one)

    def _is_mastered(self, one: Known) -> bool:
        """Whether it passes every item that there is to learn from."""
        view = self._view
        return not view.failures(one) and all(item in one.results for item in view.items.pool)

    def chosen(self) -> list[Known]:
        """One parent, or two once the tip is stalled."""
        view = self._view
        if not self.is_stalled(view.tip):
            return [view.tip]
        others = [
            one
            for one in view.evidence.trialed
            if one.id != view.tip.id and not self._is_mastered(one)
        ]
        if not others:
            return [view.tip]
        drawn = self._drawn(others)
        return [drawn] if self._is_mastered(view.tip) else [drawn, view.tip]

    def looks(self, parents: list[Known], *, more: bool) -> list[Move]:
        """Runs of parents that have too few failures nobody was shown yet; of all to see `more`."""
        view, found = self._view, []
        for parent in parents:
            failures = view.failures(parent)
            fresh = [item for item in view.items.pool if item not in parent.results]
            seen = view.shown(parent)
            unseen = [item for item in failures if item not in seen]
            ran = len(failures) + len(view.passes(parent))
            enough = len(unseen) >= view.settings.group or (
                unseen and ran >= 2 * view.settings.look
            )
            if not fresh or (enough and not more):
                continue
            # What its ancestors failed comes first, then what nobody of its line has seen.
            before = [
                item
                for item in fresh
                if (last := view.evidence.last_result(parent, item)) is not None
                and last.score < 1.0
            ]
            new = [item for item in fresh if item not in before]
            half = view.settings.look // 2
            size = max(view.settings.look - parent.lost, 1)
            chosen = [*before[:half], *new][:size]
            found.append(view.move(parent.candidate.configuration, parent, chosen))
        return found

    def tasks(self, parents: list[Known], places: int) -> list[Task]:
        """What to reflect on: failures that were shown least come first."""
        view, found = self._view, []
        for number, parent in enumerate(parents):
            count = places // len(parents) + (number < places % len(parents))
            failures = view.shuffled(view.failures(parent), "failures", parent.candidate.number)
            passed = view.shuffled(view.passes(parent), "passed", parent.candidate.number)
            group = view.settings.group
            groups = min(count, -(-len(failures) // group))
            places_of: Counter[str] = Counter()
            for turn, section in enumerate(self._sections(parent, groups)):
                shown = view.shown(parent, section)
                named = self._naming(parent, section)
                first = places_of[section] * group
                places_of[section] += 1
                found.append(
                    Task(
                        parent=parent,
                        section=section,
                        failures=tuple(
                            sorted(failures, key=lambda item: (item not in named, shown[item]))[
                                first : first + group
                            ]
                        ),
                        passed=tuple(passed[turn : turn + 1]),
                    )
                )
        return found

    def _sections(self, parent: Known, count: int) -> list[str]:
        """Sections to work on: in turn, and rather those whose rewrites helped."""
        view, chosen = self._view, []
        asked = {path: view.reflected_on(parent, path) for path in view.sections}
        failed = len(view.failures(parent))
        shares = {
            # A text of a tool that no failure names is rarely the reason; it may be, though.
            path: max(len(self._naming(parent, path)) / max(failed, 1), _LEAST_SHARE)
            for path in asked
        }
        for turn in range(count):
            chance = generator(
                view.facts.seed, "section", view.generation, parent.candidate.number, turn
            )
            drawn = {
                path: shares[path] * self._drawn_use(path, chance) / (1 + asked[path])
                for path in asked
            }
            chosen.append(max(drawn, key=lambda path: drawn[path]))
            asked[chosen[-1]] += 1
        return chosen

    def _naming(self, parent: Known, section: str) -> set[str]:
        """Failures that a section may be to blame for: of a tool's text, those that name the tool."""
        failures = self._view.failures(parent)
        tool = tool_of(section)
        if tool is None:
            return set(failures)
        for item in failures:
            if (parent.id, item) not in self._texts:
                self._texts[parent.id, item] = _told(parent.results[item])
        return {item for item in failures if tool in self._texts[parent.id, item]}

    def _drawn_use(self, section: str, chance: Random) -> float:
        """How often rewriting a section helps, drawn from what is known of it."""
        view = self._view
        made = [one for one in view.evidence.known.values() if one.section == section]
        won = sum(
            1
            for one in made
            if (elder := view.evidence.parent(one)) is not None
            and view.evidence.gain(one, elder) > 0
        )
        in_vain = sum(view.asked_in_vain(times.get(section, {})) for times in view.in_vain.values())
        return chance.betavariate(1 + won, 1 + len(made) - won + in_vain)

    def _drawn(self, among: list[Known]) -> Known:
        """A candidate of the per-item front; who was reflected on in vain is drawn less."""
        view, evidence = self._view, self._view.evidence
        validation = set(view.items.validation)
        led = leads(
            {
                one.id: {i: r.score for i, r in one.results.items() if i in validation}
                for one in evidence.trialed
            }
        )
        weights = {}
        for one in among:
            reflected_on = view.reflected_on(one)
            weights[one.id] = led[one.id] / (1 + reflected_on / view.settings.population)
        chance = generator(view.facts.seed, "parent", view.generation)
        drawn = draw_leaders(
            chance, weights, list(weights), temperature=view.settings.temperature, count=1
        )
        return evidence.known[drawn[0]]


def _told(result: ItemResult) -> str:
    """Everything that a result says, in which a tool may be named."""
    output = result.output
    trace = "" if output is None or output.trace is None else json.dumps(output.trace)
    reasons = " ".join(one.reason for one in result.scores)
    return f"{trace} {reasons} {'' if output is None else output.text}"
