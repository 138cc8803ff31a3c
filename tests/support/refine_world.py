"""A project whose outputs are refined, on a scripted endpoint: what comes of each item is known.

Of every ten items refinement fixes six, worsens one and leaves three as they are. The endpoint plays
all three roles: the model under test, the judge and the optimizer.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.servers.misbehaving import MisbehavingServer, SeenRequest, ok, running_server

UNDER_TEST, JUDGE, OPTIMIZER = "openai/under-test", "openai/judge", "openai/optimizer"
LIMIT, THRESHOLD = 2, 0.8

# Scores by version of an item's draft; the last one holds for all later versions.
_FIXED: Sequence[tuple[float, str]] = (
    (0.4, "The due date is missing: name the day on which it is due."),
    (0.9, "Complete."),
)
_WORSENED: Sequence[tuple[float, str]] = (
    (0.5, "The tone is too curt."),
    (0.3, "It is curt, and now it is wrong too."),
    (0.2, "It is wrong in every part."),
)
_UNCHANGED: Sequence[tuple[float, str]] = ((0.4, "It does not say who has to act."),)

_USAGE = {"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50}
_DRAFT = re.compile(r"draft (\d+) v(\d+)")
_TASK = re.compile(r"task (\d+)")

_CONFIG = """\
[agent]
name = "reminders"
model = "{under_test}"
concurrency = {concurrency}
[agent.sections]
system = "Write a reminder."
user = "{{{{task}}}}"

[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "judge", model = "{judge}", criteria = "Names who, what and when." }}]
pass_threshold = 0.8
{split}
[suite.refine]
model = "{optimizer}"
limit = {limit}
threshold = {threshold}

[models.openai]
base_url = "{base_url}"
input_price = 1.0
output_price = 2.0

[models."{under_test}"]
[models."{judge}"]
[models."{optimizer}"]
"""


def scores_of(number: int) -> Sequence[tuple[float, str]]:
    """What the judge says of an item's drafts: score and reason by version."""
    kind = number % 10
    if kind < 6:
        return _FIXED
    return _WORSENED if kind == 6 else _UNCHANGED


def answer(request: SeenRequest) -> str:
    """What the endpoint says, by the model's name."""
    said = request.body["messages"][-1]["content"]
    role = request.body["model"]
    if role == "under-test":
        return f"draft {_number(_TASK, said)} v0"
    found = _DRAFT.search(said)
    assert found is not None, said
    number, version = int(found[1]), int(found[2])
    if role == "optimizer":
        return f"draft {number} v{version + 1}"
    scores = scores_of(number)
    score, reason = scores[min(version, len(scores) - 1)]
    return json.dumps({"score": score, "reason": reason, "pass": score >= THRESHOLD})


@contextlib.contextmanager
def refine_endpoint(*, delay_seconds: float = 0.0) -> Iterator[MisbehavingServer]:
    """The scripted endpoint on a free port."""
    move = ok(answer, usage=_USAGE, delay_seconds=delay_seconds)
    with running_server(otherwise=move) as server:
        yield server


def make_refine_project(
    folder: Path,
    base_url: str,
    *,
    items: int = 20,
    limit: int = LIMIT,
    concurrency: int = 8,
    split: str = "",
    extra: str = "",
) -> Path:
    """Write the project's files; its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config = _CONFIG.format(
        under_test=UNDER_TEST,
        judge=JUDGE,
        optimizer=OPTIMIZER,
        base_url=base_url,
        limit=limit,
        threshold=THRESHOLD,
        concurrency=concurrency,
        split=split,
    )
    (folder / "burnish.toml").write_text(config + extra, encoding="utf-8")
    rows = [_row(number) for number in range(items)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def _row(number: int) -> dict[str, Any]:
    return {"id": f"i{number:03}", "task": f"task {number}"}


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    assert found is not None, text
    return int(found[1])
