"""`python -m tests.ui.world FOLDER`: a server with something of everything, for the UI's tests.

The folder is filled once, which takes a while, and served from then on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.learning_model import learning_model
from tests.servers.misbehaving import SeenRequest, ok, running_server
from tests.ui import image_world, refined
from tests.ui.project_files import SEED, set_speed, write_project
from tests.ui.served import serving

from burnish.benchmarks.worlds import make_world
from burnish.testing.vendors.batches import OpenAIBatchServer
from burnish.testing.vendors.batches.server import TakenBatch
from burnish.testing.vendors.server import in_thread

# Raise it when what is filled in changes: a folder of another version is filled anew.
VERSION = 3


@contextlib.contextmanager
def reflecting(folder: Path) -> Iterator[str]:
    """The address of a simulated model for reflection, as an OpenAI-compatible endpoint."""
    world = make_world("rules", SEED)

    def answer(request: SeenRequest) -> str:
        said = [str(one.get("content", "")) for one in request.body.get("messages", [])]
        return refined.answer(request) or world.reflect("\n\n".join(said))

    used = {"prompt_tokens": 900, "completion_tokens": 260, "total_tokens": 1160}
    at_once = ok(answer, usage=used)
    planner = ok(image_world.answer, usage=used)

    async def move(request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        if not image_world.plans(request):
            await at_once(request, writer)
            return
        hold = folder / image_world.HOLDS[image_world.stage(request)]
        while hold.exists():
            await asyncio.sleep(0.02)
        await planner(request, writer)

    with running_server(otherwise=move) as server:
        yield server.base_url


class HeldBatches(OpenAIBatchServer):
    """Batches that go on for as long as a file `hold-batches` is in the world's folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._hold = folder / "hold-batches"

    def find(self, batch_id: str, *, look: bool = False) -> TakenBatch:
        """A look at one that is held does not bring its end nearer."""
        return super().find(batch_id, look=look and not self._hold.exists())


def prepared(folder: Path, reflector: str, batches: str, *, trials: int = 0) -> dict[str, Any]:
    """The ids of what is in the folder, which is filled unless it is."""
    write_project(folder, reflector, batches)
    set_speed(folder, 0.0)
    marker = folder / "filled.json"
    known: dict[str, Any] = json.loads(marker.read_text()) if marker.exists() else {}
    wanted = {"version": VERSION, "refined": None, "image_run": None} | (
        {str(trials): None} if trials else {}
    )
    if known.get("version") == VERSION and wanted.keys() <= known.keys():
        return known
    from tests.ui.filling import fill  # noqa: PLC0415 - a start that has all needs none of it

    known = fill(folder, known if known.get("version") == VERSION else {}, trials=trials)
    marker.write_text(json.dumps({**known, "version": VERSION}, indent=2))
    return known


def _serve_empty(folder: Path, port: int) -> None:
    """The folder as it is, with a model behind `openai/NAME` that learns from examples."""
    with learning_model() as model:
        os.environ["OPENAI_BASE_URL"] = model.base_url
        with serving(folder, port) as address:
            print(f"the empty world is at {address}", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()


def main() -> None:
    """Fill, serve, and say where."""
    parser = argparse.ArgumentParser(prog="python -m tests.ui.world", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8731, help="0 picks a free one")
    parser.add_argument("--trials", type=int, default=0, help="a run with so many trials too")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds that each item takes")
    parser.add_argument("--key", help="the server then wants this key")
    parser.add_argument("--fill-only", action="store_true", help="fill it and end")
    parser.add_argument("--empty", action="store_true", help="put nothing into the folder")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if given.empty:
        _serve_empty(given.folder, given.port)
        return
    started = time.monotonic()
    with reflecting(given.folder) as reflector, in_thread(HeldBatches(given.folder)) as held:
        known = prepared(given.folder, reflector, held.base_url, trials=given.trials)
        if given.fill_only:
            print(json.dumps(known), flush=True)
            return
        set_speed(given.folder, given.slow)
        with serving(given.folder, given.port, given.key) as address:
            print(json.dumps(known), flush=True)
            seconds = time.monotonic() - started
            print(f"the world is at {address} after {seconds:.1f} s", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()


if __name__ == "__main__":
    main()
