"""How much a process grows while it evaluates a large file. Prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import burnish


async def instant(configuration: dict, item: dict) -> str:
    return item["label"]


def resident(which: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no {which}")


def evaluate(path: str, database: str) -> None:
    agent = burnish.Agent(name="instant", configuration={"sections": {"system": "-"}}, run=instant)
    suite = burnish.Suite(dataset=path, scorers=[{"kind": "exact_match", "field": "label"}])
    result = burnish.evaluate(agent, suite, db=database)
    assert result.score == 1.0


def main() -> None:
    items = int(sys.argv[1])
    for name, count in (("small.jsonl", 100), ("large.jsonl", items)):
        with Path(name).open("w") as file:
            for n in range(count):
                row = {"question": f"Question {n}: " + "word " * 40, "label": str(n)}
                file.write(json.dumps(row) + "\n")
    evaluate("small.jsonl", "small.db")
    before = resident("VmRSS")
    evaluate("large.jsonl", "large.db")
    print(json.dumps({"before": before, "peak": resident("VmHWM")}))


main()
