"""Values that stand as examples in the OpenAPI."""

from typing import Any

OPTIMIZATION_ID = "0199d1c8-5f0e-7a44-9c1b-2f7d3c9e8a10"
CANDIDATE_ID = "3c9e8a10-4"
EXPERIMENT_ID = "5f3c5b0e-8d0f-5a43-b0a5-1a3c0f6f3f11"
MOMENT = "2026-01-31T12:00:00.000000Z"

LINE: dict[str, Any] = {
    "optimization_id": OPTIMIZATION_ID,
    "name": "edits of reviews",
    "status": "running",
    "stop_reason": None,
    "agent": "reviews",
    "suite": "reviews",
    "optimizer": "edits",
    "seed": 0,
    "baseline_score": 0.72,
    "best_score": 0.88,
    "best_candidate_id": CANDIDATE_ID,
    "trials": 9,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "owned": True,
    "change": {
        "delta": 0.16,
        "ci_low": None,
        "ci_high": None,
        "p_value": None,
        "held_out": False,
        "items": None,
    },
    "calls": 900,
    "tokens": 82800,
    "cost_usd": 0.0,
    "started_at": MOMENT,
    "ended_at": None,
    "duration_seconds": 12.5,
    "spark": [{"evaluations": 50, "score": 0.72}, {"evaluations": 200, "score": 0.88}],
}
CONFIGURATION: dict[str, Any] = {
    "sections": {"system": "Is the review positive or negative?", "user": "{{review}}"},
    "parameters": {"temperature": 0.0},
    "examples": [],
}
USAGE: dict[str, Any] = {
    "calls": 900,
    "input_tokens": 81000,
    "output_tokens": 1800,
    "cached_tokens": 0,
    "cost_usd": 0.0,
}
SCORED: dict[str, Any] = {
    "candidate_id": CANDIDATE_ID,
    "number": 4,
    "score": 0.88,
    "configuration": CONFIGURATION,
    "status": "completed",
    "items": 50,
    "passed": 44,
    "pass_rate": 0.88,
    "ci_low": 0.76,
    "ci_high": 0.94,
    "avg_tokens": 92.0,
    "avg_latency_ms": 91.5,
    "avg_cost_usd": 0.0,
    "prompt_tokens": 31,
}
_NO_LIMITS: dict[str, Any] = dict.fromkeys(("trials", "calls", "tokens", "cost_usd", "seconds"))
BUDGET: dict[str, Any] = {
    "limits": {**_NO_LIMITS, "evaluations": 2000},
    "used": {
        "trials": 9,
        "evaluations": 462,
        "calls": 900,
        "tokens": 82800,
        "cost_usd": 0.0,
        "seconds": 12.5,
    },
    "left": {**_NO_LIMITS, "evaluations": 1538},
}
TRIAL: dict[str, Any] = {
    "candidate_id": CANDIDATE_ID,
    "number": 4,
    "step_index": 2,
    "parent_candidate_ids": ["3c9e8a10-1"],
    "type": "trial",
    "status": "completed",
    "score": 0.88,
    "items": 50,
    "passed": 44,
    "failed": 6,
    "pass_rate": 0.88,
    "cost_usd": 0.0,
    "avg_latency_ms": 91.5,
    "avg_ttft_ms": None,
    "avg_tokens": 92.0,
    "avg_cost_usd": 0.0,
    "error": None,
    "rationale": "name the labels in the first line",
    "experiment_id": EXPERIMENT_ID,
}
REQUEST: dict[str, Any] = {
    "agent": "reviews",
    "suite": "reviews",
    "optimizer": {"name": "edits", "settings": {"racing": "aggressive"}},
    "budget": {"max_evaluations": 400},
    "seed": 7,
    "name": "first try",
    "start": True,
}
