"""What Opik's own client sends, as a captured run of it did, from a few lines a test can read."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass

import httpx2
from serving_world import OPTIMIZATIONS

from burnish.support.ids import new_id

PRIVATE = "/api/v1/private"
OBJECTIVE = "label_match"
FIRST = {"system": "Route the ticket.", "user": "TICKET: {ticket}"}
BETTER = {**FIRST, "system": "Read it word by word."}


@dataclass
class OpikSender:
    """Sends, and wants every answer to be good unless told otherwise."""

    client: httpx2.Client
    workspace: str = "default"
    key: str | None = None

    def send(self, method, path, body=None, *, pack=True, status=range(200, 300), **headers):
        content = b"" if body is None else json.dumps(body).encode()
        sent = {"Comet-Workspace": self.workspace, "Content-Type": "application/json", **headers}
        if self.key is not None:
            sent["Authorization"] = self.key
        if pack and len(content) > 200:
            content, sent["Content-Encoding"] = gzip.compress(content), "gzip"
        path = path if path.startswith("/") else f"{PRIVATE}/{path}"
        answer = self.client.request(method, path, content=content, headers=sent)
        wanted = status if isinstance(status, range) else (status,)
        assert answer.status_code in wanted, (method, path, answer.status_code, answer.text)
        return answer

    def dataset(self, name, rows=4):
        """A dataset with rows; the ids of those."""
        self.send("POST", "datasets", {"name": name, "project_name": "P", "description": None})
        ids = [new_id() for _ in range(rows)]
        items = [
            {
                "id": one,
                "trace_id": None,
                "source": "sdk",
                "data": {"ticket": f"ticket {n}", "label": "billing"},
                "evaluators": None,
            }
            for n, one in enumerate(ids)
        ]
        self.send("PUT", "datasets/items", {"dataset_name": name, "items": items})
        return ids

    def optimization(self, dataset, **changes):
        body = {
            "id": new_id(),
            "name": None,
            "dataset_name": dataset,
            "project_name": "Optimization",
            "objective_name": OBJECTIVE,
            "status": "running",
            "metadata": {"optimizer": "GepaOptimizer", "model": "openai/scripted"},
            **changes,
        }
        self.send("POST", "optimizations", body)
        return body["id"]

    def experiment(self, optimization, dataset, prompts=FIRST, *, kind="trial", **metadata):
        body = experiment_body(optimization, dataset, prompts, kind, metadata)
        self.send("POST", "experiments", body)
        return body["id"]

    def run(self, experiment, scores, *, parts=("traces", "spans", "scores", "items")):
        """Runs with a score by row; their bodies in the order of the parts."""
        bodies = run_bodies(experiment, scores)
        for part in parts:
            self.send(*bodies[part])
        return bodies

    def finish(self, experiment):
        self.send("POST", "experiments/finish", {"ids": [experiment]})

    def trial(self, optimization, dataset, scores, prompts=FIRST, **options):
        """A whole experiment."""
        experiment = self.experiment(optimization, dataset, prompts, **options)
        self.run(experiment, scores)
        self.finish(experiment)
        return experiment

    def end(self, optimization, status="completed", **more):
        self.send("PUT", f"optimizations/{optimization}", {"name": None, "status": status, **more})

    def view(self, optimization):
        return self.ours(optimization, "")

    def trials(self, optimization):
        return self.ours(optimization, "/trials?mini_batches=true")["items"]

    def items(self, optimization, candidate):
        return self.ours(optimization, f"/trials/{candidate}/items")["items"]

    def ours(self, optimization, path):
        """What our own API says."""
        answer = self.client.get(f"{OPTIMIZATIONS}/{optimization}{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()


def experiment_body(optimization, dataset, prompts, kind, metadata):
    messages = [{"role": role, "content": text} for role, text in prompts.items()]
    return {
        "id": new_id(),
        "dataset_name": dataset,
        "project_name": "P",
        "name": None,
        "metadata": {
            "agent_config": {"messages": messages, "model": "openai/scripted", "tools": []},
            "optimizer": "GepaOptimizer",
            "configuration": {"prompt": {"router": messages}, "tools": []},
            **metadata,
        },
        "tags": None,
        "type": kind,
        "evaluation_method": "dataset",
        "optimization_id": optimization,
        "prompt_versions": None,
    }


def run_bodies(experiment, scores):
    """One run of each row, as four requests. A score of None is not sent."""
    traces, spans, told, items = [], [], [], []
    for row, score in scores.items():
        trace, task, call = new_id(), new_id(), new_id()
        times = {
            "start_time": "2026-11-16T19:59:34.000000Z",
            "end_time": "2026-11-16T19:59:34.250000Z",
        }
        answer = {"llm_output": "billing" if score else "no idea"}
        traces.append(
            {"id": trace, "name": "evaluation_task", **times, "input": {"id": row}}
            | {"output": answer, "tags": ["GEPA"], "source": "optimization"}
        )
        spans += [
            {"id": call, "trace_id": trace, "parent_span_id": task, "name": "completion"}
            | {"type": "llm", **times, "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
            {"id": task, "trace_id": trace, "name": "llm_task", "type": "general", **times},
        ]
        if score is not None:
            told.append(
                {"id": trace, "name": OBJECTIVE, "value": score, "source": "sdk"}
                | {"reason": "right" if score else "it is billing", "category_name": None}
            )
        items.append(
            {"id": new_id(), "experiment_id": experiment, "dataset_item_id": row}
            | {"trace_id": trace, "execution_policy": {"runs_per_item": 1}}
        )
    return {
        "traces": ("POST", "traces/batch", {"traces": traces}),
        "spans": ("POST", "spans/batch", {"spans": spans}),
        "scores": ("PUT", "traces/feedback-scores", {"scores": told}),
        "items": ("POST", "experiments/items", {"experiment_items": items}),
    }
