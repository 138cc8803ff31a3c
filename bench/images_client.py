"""Starts image runs on a server and uses its API until all have ended. Prints JSON."""

from __future__ import annotations

import http.client
import json
import sys
import time
from urllib.parse import urlsplit

ENDED = ("completed", "completed_degraded", "failed", "cancelled")


WISH = {
    "project_id": "bench",
    "base_prompt": "an astronaut chef in a neon diner",
    "objective_preset": "adherence",
    "image_model": "openai/draw",
    "judge_model": "openai/look",
}


class Client:
    """One connection, with the milliseconds of each answer by what was asked for."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc)
        self.times: dict[str, list[float]] = {}

    def ask(self, what: str, method: str, path: str, body: object = None) -> bytes:
        """The answer's bytes; anything but a success ends the bench."""
        sent = None if body is None else json.dumps(body)
        started = time.perf_counter()
        self._connection.request(method, path, sent, {"content-type": "application/json"})
        answer = self._connection.getresponse()
        data = answer.read()
        self.times.setdefault(what, []).append((time.perf_counter() - started) * 1000)
        assert answer.status < 300, data
        return data

    def spread(self, *names: str) -> dict[str, float]:
        """How long these took."""
        took = sorted(one for name in names for one in self.times[name])
        middle, late = (took[int(len(took) * share)] for share in (0.5, 0.99))
        return {"p50": middle, "p99": late, "worst": took[-1], "count": len(took)}


def use(client: Client, runs: int) -> list[str]:
    """Start runs, ask for this and that until all have ended, and say how."""
    made = [json.loads(client.ask("post", "POST", "/eval-runs", WISH)) for _ in range(runs)]
    turn, states = 0, [one["status"] for one in made]
    while not all(state in ENDED for state in states):
        identity = made[turn % runs]["run_id"]
        view = json.loads(client.ask("run", "GET", f"/eval-runs/{identity}"))
        states[turn % runs] = view["status"]
        client.ask("list", "GET", "/eval-runs?limit=50")
        shown = next((one["thumbnail_url"] for one in view["variants"] if one["image_url"]), None)
        if shown is not None:
            client.ask("thumbnail", "GET", shown)
            client.ask("picture", "GET", shown.removesuffix("/thumbnail"))
        if turn % 10 == 0:
            client.ask("lineage", "GET", "/projects/bench/lineage")
        turn += 1
        time.sleep(0.02)
    return sorted(set(states))


def main() -> None:
    address, endpoint, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
    # What is loaded and made once.
    use(Client(address), 1)
    Client(endpoint).ask("reset", "GET", "/reset")
    client = Client(address)
    states = use(client, runs)
    print(
        json.dumps(
            {
                "states": states,
                "all": client.spread(*client.times),
                "by": {name: client.spread(name) for name in client.times},
            }
        )
    )


main()
