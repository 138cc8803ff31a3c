"""A bare FastAPI route with the raw query: what no server can be much quicker than."""

from __future__ import annotations

import json
import socket
import sqlite3
import sys

import uvicorn
from fastapi import FastAPI, Response

QUERY = """
SELECT t.candidate_id, t.number, c.step_index, c.parent_candidate_ids, t.type, t.status,
  t.objective_score AS score, t.total_items AS items, t.passed_items AS passed,
  t.failed_items AS failed, t.pass_rate, t.total_cost AS cost_usd, t.avg_latency_ms, t.avg_ttft_ms,
  t.avg_tokens, t.avg_cost_usd, t.error, c.rationale, t.experiment_id
FROM trials t JOIN candidates c ON c.optimization_id = t.optimization_id AND c.number = t.number
WHERE t.optimization_id = ? AND t.slot = '' AND t.number > ? ORDER BY t.number LIMIT ?
"""


def read_page(connection: sqlite3.Connection, identity: str, after: int, limit: int) -> str:
    """The page as JSON."""
    rows = connection.execute(QUERY, (identity, after, limit)).fetchall()
    lines = [dict(row) for row in rows]
    for line in lines:
        line["parent_candidate_ids"] = json.loads(line["parent_candidate_ids"])
    return json.dumps({"items": lines})


def connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def main() -> None:
    path = sys.argv[1]
    app, connection = FastAPI(), connect(path)

    @app.get("/trials/{identity}")
    async def trials(identity: str, after: int, limit: int) -> Response:
        text = read_page(connection, identity, after, limit)
        return Response(text, media_type="application/json")

    # With its protocol named: else asyncio leaves Nagle's delay on, and each answer takes 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        print(bound.getsockname()[1], flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", http="httptools"))
        server.run(sockets=[bound])


if __name__ == "__main__":
    main()
