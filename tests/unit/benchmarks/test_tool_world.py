"""The world of tool agents: its truth is exact, and a real tool agent meets the same one."""

import asyncio
import json

import pytest

from burnish.app.wiring import build_agent
from burnish.benchmarks.tool_agents import agent_of, calls_in, proofs
from burnish.benchmarks.worlds.tool_reflector import RIGHT, WRONG
from burnish.benchmarks.worlds.tools import HOME, SYSTEM, ToolWorld
from burnish.domain import Configuration, Item

LINES = {
    "enum": "For {word} give {value} as {field} of {tool}.",
    "confusion": "For {word} matters call {value}.",
    "omission": "Always give {field} to {tool}.",
    "order": "Call {value} first, then {tool}.",
}


@pytest.fixture(scope="module")
def world():
    return ToolWorld(3)


def told(world, place):
    """All facts, each at home or in the system prompt."""
    sections = dict(world.sections)
    for trap in world.traps:
        path = "system" if place == "system" else min(trap.homes)
        sections[path] += "\n" + LINES[trap.kind].format(**vars(trap))
    return sections


def test_the_expectation_is_the_mean_of_many_tasks(world):
    rows = world.sample("many", 800)
    for sections in (world.sections, told(world, "system"), told(world, "home")):
        mean = sum(world.score(world.answer(sections, row), row)[0] for row in rows) / len(rows)
        assert world.expectation(sections) == pytest.approx(mean, abs=0.05)
    assert world.expectation(told(world, "home")) == pytest.approx(HOME)
    assert world.expectation(told(world, "system")) == pytest.approx(SYSTEM)


def test_a_tool_agent_makes_the_calls_of_the_world(world):
    agent = build_agent(agent_of(world), lambda model: model)
    sections = Configuration.of(agent.configuration).sections
    assert {path: sections[path] for path in world.sections} == world.sections

    async def calls(row):
        item = Item(id=row["id"], data=row)
        return calls_in((await agent.run(agent.configuration, item, repeat=0)).trace)

    for row in world.validation[:20]:
        assert json.dumps(asyncio.run(calls(row))) == world.answer(world.sections, row)


def test_the_reflector_writes_right_wrong_and_vague_lines(world):
    told_of = " ".join(
        world.score(world.answer(world.sections, row), row)[1] for row in world.train[:12]
    )
    gains = []
    for number in range(60):
        answer = world.reflect(f"{number}: section `system`\n```\n\n```\n{told_of}")
        text = answer.split("```")[1].strip()
        gains.append(world.expectation({**world.sections, "system": text}) - world.start)

    assert sum(gain > 0 for gain in gains) > 60 * (RIGHT - WRONG)
    assert any(gain < 0 for gain in gains)


def test_edits_are_proven_open_or_refuted_on_held_out_tasks(world):
    good = told(world, "home")
    bad = next(trap for trap in world.traps if trap.kind == "omission")
    best = {
        **good,
        "tools.weigh.parameters.order": "Mind it.",
        "tools.hold.parameters.order": f"Never give {bad.field} to {bad.tool}.",
    }
    verdicts = {one.section: one.verdict for one in proofs(world, best)}

    assert verdicts["tools.weigh.parameters.order"] == "open"
    assert verdicts["tools.hold.parameters.order"] == "refuted"
    assert "proven" in verdicts.values()
