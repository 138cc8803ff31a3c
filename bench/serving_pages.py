"""Reads pages of trials and the graph: over HTTP, from a bare route, and raw. Prints JSON."""

from __future__ import annotations

import base64
import http.client
import json
import subprocess
import sys
import time
from statistics import median, quantiles
from urllib.parse import urlsplit

from bench.bare_trials import connect, read_page

GRAPHS = 5


def get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body
    return body


def milliseconds(work: object) -> float:
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return (time.perf_counter() - started) * 1000


def cursor(after: int) -> str:
    text = json.dumps(["number", after, ""], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def main() -> None:
    address, path, identity, limit, rounds = sys.argv[1:]
    size, number = int(limit), int(rounds)
    ours = http.client.HTTPConnection(urlsplit(address).netloc)
    raw = connect(path)
    base = f"/v1/private/optimizations/{identity}"
    times: dict[str, list[float]] = {"ours": [], "bare": [], "raw": []}
    with subprocess.Popen(
        [sys.executable, "-m", "bench.bare_trials", path], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        bare = http.client.HTTPConnection("127.0.0.1", int(server.stdout.readline()))
        for turn in range(number + 20):
            after = (turn * 37) % 9000
            asked = f"{base}/trials?limit={size}&cursor={cursor(after)}"
            plain = f"/trials/{identity}?after={after}&limit={size}"
            taken = {
                "ours": milliseconds(lambda asked=asked: get(ours, asked)),
                "bare": milliseconds(lambda plain=plain: get(bare, plain)),
                "raw": milliseconds(lambda after=after: read_page(raw, identity, after, size)),
            }
            if turn >= 20:
                for name, value in taken.items():
                    times[name].append(value)
        mine = json.loads(get(ours, asked))["items"]
        assert mine == json.loads(get(bare, plain))["items"], "the same page"
        server.terminate()
    graphs, body = [], b""
    for _ in range(GRAPHS):
        started = time.perf_counter()
        body = get(ours, f"{base}/graph")
        graphs.append(time.perf_counter() - started)
    print(
        json.dumps(
            {
                **{name: median(values) for name, values in times.items()},
                # Others on the machine make requests slower, never quicker.
                **{f"{name}_quick": quantiles(values, n=10)[0] for name, values in times.items()},
                "graph": max(graphs),
                "graph_bytes": len(body),
                "graph_rounds": GRAPHS,
            }
        )
    )


if __name__ == "__main__":
    main()
