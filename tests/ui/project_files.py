"""The folder of the world's project: a support desk whose model is simulated, and its settings."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from tests.ui import image_world, refined

from burnish.benchmarks.worlds import make_world
from burnish.benchmarks.worlds.vocabulary import USELESS_LINES

SEED = 7
SPEED = "seconds-per-item.txt"
_KNOWN_RULES = 5
_CONFIG = """
[agent]
name = "support"
run = "support_agent:answer"
concurrency = 4
[agent.sections]
system = {system}
user = "{{{{message}}}}"
[agent.parameters]
temperature = 0.0

[suite]
name = "tickets"
dataset = "tickets.jsonl"
scorers = ["support_agent:score", {{ kind = "exact_match", field = "expected" }}]
split = "field"

[optimizer]
name = "gepa"
model = "openai/reflector"

[budget]
max_trials = 30
max_evaluations = 4000

[models."openai/reflector"]
base_url = "{reflector}"
api_key_env = ""
input_price = 2.5
output_price = 10.0
cache = false

[models."openai/gone"]
base_url = "http://127.0.0.1:9/v1"
api_key_env = ""
max_attempts = 1
deadline_seconds = 2

[models."openai/patient"]
base_url = "{batches}"
api_key_env = ""
batch = true
input_price = 2.5
output_price = 10.0
"""
# What a model would do, with what it reports: tokens, dollars, time and how it got there.
_AGENT = '''"""The simulated model of a support desk."""

import asyncio
from pathlib import Path

import burnish
from burnish.benchmarks.worlds import make_world
from burnish.models import count_tokens

WORLD = make_world("rules", {seed})
SPEED = Path(__file__).with_name("{speed}")


async def answer(configuration, item):
    seconds = float(SPEED.read_text() or 0) if SPEED.exists() else 0.0
    if seconds:
        await asyncio.sleep(seconds)
    system = configuration["sections"]["system"]
    text = WORLD.answer({{"system": system}}, {{"message": item["message"]}})
    read, written = count_tokens(system) + count_tokens(item["message"]), count_tokens(text)
    usage = burnish.Usage(
        calls=1,
        input_tokens=read,
        output_tokens=written,
        cost_usd=(read * 0.15 + written * 0.6) / 1e6,
    )
    return burnish.AgentOutput(
        text=text,
        trace=trace_of(system, item["message"], text),
        spending=burnish.Spending.on(burnish.Purpose.AGENT, usage),
        latency_ms=180.0 + 0.4 * read + 7.0 * written,
    )


def trace_of(system, message, text):
    """Its steps, and as a transcript: what it called depends on the rules that it knows."""
    rules = [line for line in system.splitlines() if line[:1] == "-"]
    call = {{"id": "call_1", "name": "find_rules", "arguments": {{"known": len(rules)}}}}
    return {{
        "transcript": [
            {{"role": "user", "content": message}},
            {{"role": "assistant", "content": "Which rules are there?", "tool_calls": [call]}},
            {{"role": "tool", "tool_call_id": "call_1", "content": rules[-1] if rules else "none"}},
            {{"role": "assistant", "content": text}},
        ],
        "ended": "answer",
        "steps": [
            {{"step": "read", "characters": len(message)}},
            {{"step": "apply", "rules": rules}},
            {{"step": "answer", "parts": text.partition(": ")[2].split(", ")}},
        ],
    }}


def score(output, item):
    row = {{name: item[name] for name in ("message", "expected")}}
    value, reason = WORLD.score(output.text, row)
    return burnish.Score(value=value, reason=reason)
'''


def write_project(folder: Path, reflector: str, batches: str = "http://127.0.0.1:9/v1") -> None:
    """The files; those that are there and the same stay as they are."""
    world = make_world("rules", SEED)
    rows = [*world.train, *world.validation, *world.sample("test", 40)]
    files = {
        "burnish.toml": _CONFIG.format(
            system=json.dumps(first_prompt()), reflector=reflector, batches=batches
        )
        + refined.models(reflector)
        + image_world.models(reflector),
        "support_agent.py": _AGENT.format(seed=SEED, speed=SPEED),
        "tickets.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        file = folder / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


@cache
def first_prompt() -> str:
    """The prompt as it is given: it knows some of the rules."""
    lines = make_world("rules", SEED).solution()["system"].splitlines()
    return "\n".join(lines[: 2 + _KNOWN_RULES])


def wordy_prompt() -> str:
    """All rules, between lines that do nothing: something to compress."""
    opening, task, *rules = make_world("rules", SEED).solution()["system"].splitlines()
    lines = [opening, task]
    for number, rule in enumerate(rules):
        lines.append(rule)
        if number < len(USELESS_LINES):
            lines.append(f"- {USELESS_LINES[number]}")
    return "\n".join(lines)


def set_speed(folder: Path, seconds: float) -> None:
    """How long each item takes from now on, also in a server that runs."""
    (folder / SPEED).write_text(str(seconds))
