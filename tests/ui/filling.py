"""Fills a world over HTTP, as a user would: runs of every end, versions, configs, datasets."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
from tests.ui.image_world import add_images
from tests.ui.large_run import add_large_run
from tests.ui.project_files import set_speed, wordy_prompt
from tests.ui.refined import add_refined
from tests.ui.refusals import add_refusals
from tests.ui.served import serving

API = "/v1/private"
RUNS = f"{API}/optimizations"
OPTIMIZERS = "/planar/v1/agents/support/optimizers/"
_FINAL = ("completed", "failed", "cancelled")
# Long enough on a machine that is very busy: only what hangs takes so long.
_SECONDS = 900.0


def fill(folder: Path, known: dict[str, Any], *, trials: int) -> dict[str, Any]:
    """What is known with what was lacking; the model for reflection has to answer."""
    database = folder / ".burnish" / "burnish.db"
    if not known:
        for file in database.parent.glob("burnish.db*"):
            file.unlink()
        with serving(folder, 0) as address, httpx2.Client(base_url=address, timeout=600) as client:
            known = Filling(client, folder).fill()
        add_refusals(database, known["gepa"])
    elif "refined" not in known:  # a folder from before there was refinement
        with serving(folder, 0) as address, httpx2.Client(base_url=address, timeout=600) as client:
            known = {**known, **add_refined(client)}
    if "image_run" not in known:
        with serving(folder, 0) as address, httpx2.Client(base_url=address, timeout=600) as client:
            known = {**known, **add_images(client)}
    if trials and str(trials) not in known:
        known = {**known, str(trials): add_large_run(database, trials)}
    return known


class Filling:
    """One run after the other, and what each left is used by the next."""

    def __init__(self, client: httpx2.Client, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self.found: dict[str, Any] = {}

    def fill(self) -> dict[str, Any]:
        """The ids of what was made, by what it is good for."""
        best = self._gepa()
        self._promote(best)
        self._compress()
        self._revert()
        self._others()
        self._configs()
        self._datasets()
        self._drafts()
        return self.found | add_refined(self._client)

    def _gepa(self) -> dict[str, Any]:
        body = {
            "name": "Reflection on tickets",
            "optimizer": {"name": "gepa", "settings": {"model": "openai/reflector"}},
            "budget": {"max_trials": 26, "max_evaluations": 1000},
            "seed": 11,
        }
        run = self._ended(self._start(body), "completed")
        self.found["gepa"] = run["optimization_id"]
        return run

    def _promote(self, run: dict[str, Any]) -> None:
        note = {"promoted_by": "ada", "note": "Better on held-out tickets."}
        self._post(f"{RUNS}/{run['optimization_id']}/promote", note)

    def _compress(self) -> None:
        configuration = {
            "sections": {"system": wordy_prompt(), "user": "{{message}}"},
            "parameters": {"temperature": 0.0},
        }
        wordy = self._post(
            f"{API}/agents/support/versions",
            {"configuration": configuration, "author": "bob", "note": "All rules, in many words."},
        )
        body = {
            "name": "Fewer words",
            "agent_version": wordy["version"],
            "optimizer": {"name": "compress", "settings": {}},
            "budget": {"max_evaluations": 6000},
        }
        run = self._ended(self._start(body), "completed")
        self.found["compress"] = run["optimization_id"]
        self.found["wordy_version"] = wordy["version"]

    def _revert(self) -> None:
        versions = self._client.get(f"{API}/agents/support/versions").json()["items"]
        promoted = next(one for one in versions if "candidate_id" in one["origin"])
        body = {"version": promoted["version"], "author": "ada", "note": "The short one, please."}
        self._post(f"{API}/agents/support/revert", body)

    def _others(self) -> None:
        body = {
            "name": "Bred from the best",
            "agent_version": 1,
            "optimizer": {"name": "evolve", "settings": {"model": "openai/reflector"}},
            "budget": {"max_trials": 10},
        }
        self.found["evolve"] = self._ended(self._start(body), "completed")["optimization_id"]
        empty = self._post(RUNS, {"name": "Not started yet", "start": False})
        self.found["empty"] = empty["optimization_id"]
        set_speed(self._folder, 0.02)
        edits = {"name": "edits", "settings": {}}
        stopped = self._start({"name": "Stopped halfway", "optimizer": edits, "seed": 5})
        self._until(stopped, lambda view: view["counters"]["completed"] >= 3)
        self._post(f"{RUNS}/{stopped}/cancel", None)
        self._ended(stopped, "cancelled")
        set_speed(self._folder, 0.0)
        self.found["cancelled"] = stopped
        self.found["failed"] = self._failed()

    def _failed(self) -> str:
        prompt = {"sections": {"system": "Answer the ticket.", "user": "{{message}}"}}
        self._post(
            f"{API}/agents",
            {"name": "triage", "model": "openai/gone", "configuration": prompt, "author": "bob"},
        )
        body = {
            "name": "Its model is gone",
            "agent": "triage",
            "optimizer": {"name": "edits", "settings": {}},
        }
        return str(self._ended(self._start(body), "failed")["optimization_id"])

    def _configs(self) -> None:
        self._post(
            OPTIMIZERS,
            {
                "name": "nightly",
                "optimizer": "gepa",
                "model": "openai/reflector",
                "max_iterations": 6,
                "population_size": 4,
                "mutation_strategies": ["system_template"],
                "budget": {"max_evaluations": 900},
                "schedule": "0 2 * * *",
                "author": "ada",
            },
        )
        for seed in (1, 2):
            self._post(
                OPTIMIZERS,
                {
                    "name": "quick",
                    "optimizer": "edits",
                    "settings": {"patience": 2},
                    "budget": {"max_trials": 4},
                    "seed": seed,
                    "author": "bob",
                },
            )
            run = self._post(f"{OPTIMIZERS}quick/run", None)
            self._ended(run["id"], "completed")

    def _datasets(self) -> None:
        rows = self._client.get(f"{API}/suites/tickets/items", params={"split": "test"}).json()
        lines = [{**one["data"], "id": one["item_id"]} for one in rows["items"]]
        made = self._client.post(
            f"{API}/datasets", params={"name": "held-out-tickets", "format": "json"}, json=lines
        ).json()
        self._post(
            f"{API}/suites",
            {
                "name": "held-out",
                "dataset_id": made["dataset_id"],
                "scorers": [{"kind": "exact_match", "field": "expected"}],
                "split": {"train": 0.3, "validation": 0.4, "test": 0.3},
                "author": "ada",
            },
        )
        self.found["dataset"] = made["dataset_id"]

    def _drafts(self) -> None:
        """A prompt agent, of which calls and cost can be estimated, and an evaluation of another."""
        prompt = {"sections": {"system": "Draft a reply to the ticket.", "user": "{{message}}"}}
        self._post(
            f"{API}/agents",
            {
                "name": "drafts",
                "model": "openai/reflector",
                "configuration": prompt,
                "author": "ada",
            },
        )
        body = {"agent": "support", "split": "validation", "name": "The active version"}
        self.found["evaluation"] = self._post(f"{API}/evaluations", body)["experiment_id"]

    def _start(self, body: dict[str, Any]) -> str:
        return str(self._post(RUNS, body)["optimization_id"])

    def _post(self, path: str, body: Any) -> dict[str, Any]:
        answer = self._client.post(path, json=body) if body is not None else self._client.post(path)
        if answer.status_code >= 400:
            raise RuntimeError(f"{path}: {answer.text}")
        made: dict[str, Any] = answer.json()
        return made

    def _ended(self, run: str, status: str) -> dict[str, Any]:
        view = self._until(run, lambda one: one["status"] in _FINAL)
        if view["status"] != status:
            raise RuntimeError(f"{view['name']} is {view['status']}: {view['explanation']}")
        return view

    def _until(self, run: str, reached: Any) -> dict[str, Any]:
        deadline = time.monotonic() + _SECONDS
        while True:
            view: dict[str, Any] = self._client.get(f"{RUNS}/{run}").json()
            if reached(view):
                return view
            if time.monotonic() > deadline:
                raise TimeoutError(f"{view['name']} is still {view['status']}")
            time.sleep(0.25)
