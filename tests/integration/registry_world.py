"""What tests of agents, suites, datasets and evaluations over HTTP share."""

import contextlib
import json
import time

from serving_world import API, DEADLINE, ServerThread, make_served_project, settings_of

AGENTS, SUITES, DATASETS = f"{API}/agents", f"{API}/suites", f"{API}/datasets"
EVALUATIONS, CASES = f"{API}/evaluations", f"{API}/regression-cases"
ROWS = [{"text": f"row {n}", "label": ("billing", "technical")[n % 2]} for n in range(12)]
EXACT = [{"kind": "exact_match", "field": "label"}]
PROMPT = {"sections": {"system": "Billing or technical?", "user": "{{text}}"}}


@contextlib.contextmanager
def registry_client(folder):
    """A client of a server whose one model never answers, and that takes small uploads only."""
    make_served_project(folder, items=20)
    with (folder / "burnish.toml").open("a") as config:
        config.write('base_url = "http://127.0.0.1:9/v1"\n[models."scripted/first-label"]\n')
    settings = settings_of(folder, max_upload_bytes=200_000)
    with ServerThread(settings) as server, server.client() as opened:
        yield opened


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def upload(client, name, rows=ROWS, **parameters):
    return client.post(DATASETS, params={"name": name, **parameters}, content=lines(rows))


def finished(client, body):
    made = client.post(EVALUATIONS, json=body)
    assert made.status_code == 201, made.text
    return ended(client, made.json()["experiment_id"])


def ended(client, experiment_id):
    deadline = time.monotonic() + DEADLINE
    while True:
        view = client.get(f"{EVALUATIONS}/{experiment_id}").json()
        if view["status"] in ("completed", "failed"):
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.01)


def refused(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["fix"]
    return answer.json()


def pages(client, path, **parameters):
    found, cursor = [], None
    while True:
        given = {**parameters, **({"cursor": cursor} if cursor else {})}
        page = client.get(path, params={"limit": 1, **given}).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
