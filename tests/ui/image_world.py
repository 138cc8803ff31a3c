"""Projects of pictures for the UI: runs that went well, one with a judge that is gone, one without
pictures. A planner that can be held is there too, so that a run's stages can be watched."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx2
from tests.servers.misbehaving import SeenRequest

PLANNER = "openai/planner"
# While a file of this name is in the world's folder, the planner does not answer: a run stays in
# that stage until it was seen.
HOLDS = {"planning": "hold-planning", "refining": "hold-refining"}
_GONE = "openai/gone"
_SECONDS = 600.0
_MODEL = f"""
[models."{PLANNER}"]
base_url = "{{base_url}}"
api_key_env = ""
input_price = 0.5
output_price = 1.5
cache = false
"""
_LIGHTHOUSE = "a red and white lighthouse on a rocky island at sunset, with a small sailing boat"
_OTHERS = {
    "teapot": ("a blue teapot with two cups on a wooden table", "product"),
    "night-market": ("a night market with lanterns and a big moon over the roofs", "aesthetic"),
}
_BASE = re.compile(r"<<<BASE PROMPT \w+\n(?P<prompt>.*?)\nBASE PROMPT", re.DOTALL)
_ASPECTS = ("closer, from below", "under a big moon at night", "in fog, in soft light")


def models(base_url: str) -> str:
    """The planner, for burnish.toml."""
    return _MODEL.format(base_url=base_url)


def plans(request: SeenRequest) -> bool:
    """Whether this is for the planner."""
    return f"openai/{request.body.get('model')}" == PLANNER


def stage(request: SeenRequest) -> str:
    """What the planner is asked for: variants, or suggestions at the end."""
    return "planning" if '"variants"' in _said(request) else "refining"


def _said(request: SeenRequest) -> str:
    return "\n".join(str(one.get("content", "")) for one in request.body["messages"])


def answer(request: SeenRequest) -> str:
    """What the planner says: variants when it is asked for them, else suggestions."""
    said = _said(request)
    found = _BASE.search(said)
    base = "" if found is None else found["prompt"]
    if stage(request) == "planning":
        planned = [
            {"variant_prompt": f"{base}, {aspect}", "mutation_tags": ["view"]}
            for aspect in _ASPECTS
        ]
        return json.dumps({"variants": planned})
    return json.dumps(
        {
            "conservative": f"{base}, as it is",
            "balanced": f"{base}, with a clear subject",
            "aggressive": f"{base}, seen from far above",
        }
    )


def add_images(client: httpx2.Client) -> dict[str, str]:
    """Three projects; ids of the runs and commits that screens are shown with."""
    for project, (prompt, objective) in _OTHERS.items():
        _ended(client, project_id=project, base_prompt=prompt, objective_preset=objective)
    first = _ended(
        client,
        project_id="lighthouse",
        base_prompt=_LIGHTHOUSE,
        objective_preset="adherence",
        constraints={"must_include": ["boat"], "must_avoid": ["text"]},
    )
    ranked = [one["commit_id"] for one in first["leaderboard"]]
    common = {"project_id": "lighthouse", "n_variants": 2, "objective_preset": "aesthetic"}
    second = _ended(
        client,
        **common | {"n_variants": 3},
        base_prompt=first["suggestions"]["balanced"],
        parent_commit_id=ranked[0],
    )
    degraded = _ended(
        client,
        **common,
        base_prompt=f"{_LIGHTHOUSE}, in a storm",
        judge_model=_GONE,
        parent_commit_id=ranked[1],
    )
    _ended(
        client,
        **common,
        base_prompt=f"{_LIGHTHOUSE}, on a postcard",
        image_model=_GONE,
        parent_commit_id=ranked[2],
    )
    return {
        "image_project": "lighthouse",
        "image_anchor": first["anchor_commit_id"],
        "image_run": first["run_id"],
        "image_next_run": second["run_id"],
        "image_degraded": degraded["run_id"],
        "image_best": second["leaderboard"][0]["commit_id"],
    }


def _ended(client: httpx2.Client, **request: Any) -> dict[str, Any]:
    answered = client.post("/eval-runs", json=request)
    if answered.status_code >= 400:
        raise RuntimeError(f"/eval-runs: {answered.text}")
    run: dict[str, Any] = answered.json()
    deadline = time.monotonic() + _SECONDS
    while run["completed_at"] is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"image run {run['run_id']} is still {run['status']}")
        time.sleep(0.05)
        run = client.get(f"/eval-runs/{run['run_id']}").json()
    return run
