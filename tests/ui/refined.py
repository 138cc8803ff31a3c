"""An agent whose outputs are refined: of twenty, twelve are fixed and two get worse.

The world's endpoint plays all three roles. What it says follows from the item and the round alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from tests.servers.misbehaving import SeenRequest

API = "/v1/private"
UNDER_TEST, JUDGE, OPTIMIZER = "openai/writer", "openai/judge", "openai/editor"
LIMIT, THRESHOLD = 2, 0.8
_SECONDS = 600.0
_CRITERIA = "The reminder says who has to do what and by when, and it is friendly."
_MODEL = """
[models."{name}"]
base_url = "{base_url}"
api_key_env = ""
input_price = 0.5
output_price = 1.5
"""
_PEOPLE = (
    "Ada",
    "Grace",
    "Alan",
    "Edsger",
    "Barbara",
    "Donald",
    "Margaret",
    "Niklaus",
    "Radia",
    "Tim",
)
_DAYS = ("Monday", "Wednesday", "Friday")
_TASKS = (
    "send the signed lease back",
    "confirm the hotel in Lisbon",
    "pay the invoice of the printer",
    "review the draft of chapter three",
    "return the borrowed projector",
    "book the train to Utrecht",
    "renew the parking permit",
    "water the plants on the second floor",
    "upload the slides of the workshop",
    "order paper for the copier",
    "answer the survey about lunch",
    "collect the keys from reception",
    "sign the travel report",
    "update the list of contacts",
    "test the fire alarm",
    "archive the minutes of the board",
    "invite the new colleagues",
    "fix the lamp in room twelve",
    "choose a date for the party",
    "close the account at the library",
)


@dataclass(frozen=True, slots=True)
class Version:
    """An output with what the judge says of it."""

    text: str
    score: float
    reason: str


def rows() -> list[dict[str, str]]:
    """The dataset."""
    return [
        {
            "id": f"r{number:02}",
            "person": _PEOPLE[number % len(_PEOPLE)],
            "task": task,
            "due": f"{_DAYS[number % len(_DAYS)]} at {9 + number % 8}:00",
        }
        for number, task in enumerate(_TASKS)
    ]


def versions(number: int) -> Sequence[Version]:
    """What an item's output becomes in its rounds."""
    row = rows()[number]
    person, task, due = row["person"], row["task"], row["due"]
    curt = f"{person}, {task}."
    plain = f"Hello {person},\n\nplease remember to {task}.\n\nThank you!"
    dated = f"Hello {person},\n\nplease remember to {task} by {due}.\n\nThank you!"
    no_date = Version(plain, 0.4, f"The due date is missing: say that it is due on {due}.")
    complete = Version(dated, 0.9, "It says who, what and when, in a friendly tone.")
    kind = number % 10
    if kind < 4:
        return (no_date, complete)
    if kind < 6:
        return (
            Version(curt, 0.3, "It is curt: greet the person. The due date is missing too."),
            Version(plain, 0.6, f"Friendly now, but the due date is still missing: {due}."),
            complete,
        )
    if kind == 6:
        return (
            Version(plain, 0.5, "It is friendly, but says no date."),
            Version(
                f"Hello <b>{person}</b>,\n\n{task} <script>window.pwned = 1</script>\n\nThank you!",
                0.3,
                "There is <b>markup</b> in it now, and still no date.",
            ),
            Version(f"{task}!!", 0.2, "It neither greets nor says a date."),
        )
    if number == 18:
        return (
            no_date,
            Version(f"{plain}\n\nIt is due soon.", 0.5, "“Soon” is no date."),
            Version(f"{plain}\n\nIt is due this week.", 0.6, f"A week is no date: it is {due}."),
        )
    if kind < 9:
        return tuple(
            Version(plain + "\n" * tries, 0.4, "It does not say by when.") for tries in range(3)
        )
    return (Version(f"{dated}\nYour team", 1.0, "Nothing is missing."),)


def models(base_url: str) -> str:
    """The three models, for burnish.toml."""
    names = (UNDER_TEST, JUDGE, OPTIMIZER)
    return "".join(_MODEL.format(name=name, base_url=base_url) for name in names)


def answer(request: SeenRequest) -> str | None:
    """What one of the three models says; None for all others."""
    role = f"openai/{request.body.get('model')}"
    if role not in (UNDER_TEST, JUDGE, OPTIMIZER):
        return None
    said = str(request.body["messages"][-1]["content"])
    number = next(at for at, task in enumerate(_TASKS) if task in said)
    known = versions(number)
    if role == UNDER_TEST:
        return known[0].text
    at = max(at for at, one in enumerate(known) if f"\n{one.text}\n" in said)
    if role == OPTIMIZER:
        return known[min(at + 1, len(known) - 1)].text
    verdict = known[at]
    return json.dumps(
        {"score": verdict.score, "reason": verdict.reason, "pass": verdict.score >= THRESHOLD}
    )


def add_refined(client: httpx2.Client) -> dict[str, Any]:
    """Agent, suites and evaluations; the ids of those that were refined and could not be."""
    _post(
        client,
        "/agents",
        {
            "name": "reminders",
            "model": UNDER_TEST,
            "configuration": {
                "sections": {
                    "system": "Write a short, friendly reminder.",
                    "user": "Remind {{person}} to {{task}}. It is due on {{due}}.",
                }
            },
            "author": "ada",
        },
    )
    made = client.post(
        f"{API}/datasets", params={"name": "reminders", "format": "json"}, json=rows()
    ).json()
    judge = {"kind": "judge", "model": JUDGE, "criteria": _CRITERIA}
    for name, mode, scorers in (
        ("reminders", "llm", [judge]),
        ("reminders-schema", "schema", [{"kind": "contains", "text": "please"}]),
    ):
        _post(
            client,
            "/suites",
            {
                "name": name,
                "dataset_id": made["dataset_id"],
                "mode": mode,
                "scorers": scorers,
                "pass_threshold": THRESHOLD,
                "refine": {"model": OPTIMIZER, "limit": LIMIT, "threshold": THRESHOLD},
                "author": "ada",
            },
        )
    evaluations = {
        "refined": {"suite": "reminders", "name": "Reminders, refined"},
        "inactive": {"suite": "reminders-schema", "name": "Reminders by rules"},
        "gone": {"agent": "triage", "suite": "tickets", "name": "Its model is gone", "limit": 3},
    }
    found = {
        name: _post(client, "/evaluations", {"agent": "reminders", **body})["experiment_id"]
        for name, body in evaluations.items()
    }
    for one in found.values():
        _ended(client, one)
    return found


def _post(client: httpx2.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answered = client.post(API + path, json=body)
    if answered.status_code >= 400:
        raise RuntimeError(f"{path}: {answered.text}")
    made: dict[str, Any] = answered.json()
    return made


def _ended(client: httpx2.Client, experiment: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while client.get(f"{API}/evaluations/{experiment}").json()["status"] in ("pending", "running"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"evaluation {experiment} does not end")
        time.sleep(0.05)
