"""The way of one configuration through the program: `python -m tests.house_hops` follows a marker.

A text of a section goes from `burnish optimize` through creating, storing, loading and running to the
answer of the API. A hop is a function of ours that is given a value which holds the text and returns
one: it passes the value on or converts it. A conversion is a pair of types, what came and what went;
there and back are two conversions that undo one another. Functions that only take the value (they
store, send or use it) or only return it (they read it) are no hops; they are counted beside. Nor is
what an optimizer makes of a text: that is its work.
Values are texts, containers, dataclasses and pydantic models, looked through a few levels deep.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import os
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
from pydantic import BaseModel

import burnish
from burnish.cli.invocation import run_command
from burnish.server.http.app import create_app
from burnish.server.http.settings import ServerSettings

MARKER = "followed-through-the-house"
_DEEPEST, _WIDEST = 6, 30
_OURS = str(Path(burnish.__file__).parent)
_OPTIMIZERS = str(Path(burnish.__file__).parent / "optimizers")
_CONFIG = f"""
[agent]
name = "followed"
run = "agent:answer"
[agent.sections]
system = "Say yes. {MARKER}"
[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "exact_match", field = "label" }}]
[budget]
max_trials = 1
"""


def holds(value: Any, deep: int = _DEEPEST) -> bool:
    """Whether the marker is in a value."""
    if isinstance(value, str):
        return MARKER in value
    if deep == 0 or value is None or isinstance(value, (int, float, bytes)):
        return False
    if isinstance(value, Mapping):
        inner = list(value.values())[:_WIDEST]
    elif isinstance(value, (list, tuple)):
        inner = value[:_WIDEST]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, one.name, None) for one in dataclasses.fields(value)]
    elif isinstance(value, BaseModel):
        inner = list(vars(value).values())
    else:
        return False
    return any(holds(one, deep - 1) for one in inner)


class Follower:
    """Notes which functions of ours are given the marker or return it, and as what."""

    def __init__(self) -> None:
        self.takers: set[str] = set()
        self.givers: set[str] = set()
        # By function: the types that one call was given, each with the type that it returned.
        self.hops: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._calls: dict[int, set[str]] = {}
        self._thread = threading.local()

    def __call__(self, frame: FrameType, what: str, value: Any) -> None:
        """As a profile function: called with each call and each return."""
        place = frame.f_code.co_filename
        if not place.startswith(_OURS) or place.startswith(_OPTIMIZERS):
            return
        if what in ("call", "return") and not getattr(self._thread, "busy", False):
            self._thread.busy = True  # Looking into a value may call code of ours.
            try:
                self._note(frame, what, value)
            finally:
                self._thread.busy = False

    def _note(self, frame: FrameType, what: str, value: Any) -> None:
        code = frame.f_code
        name = f"{Path(code.co_filename).relative_to(_OURS).with_suffix('')}:{code.co_qualname}"
        if what == "call":
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            values = [frame.f_locals.get(one) for one in names if one not in ("self", "cls")]
            self._calls[id(frame)] = came = {type(one).__name__ for one in values if holds(one)}
            self.takers |= {name} if came else set()
            return
        came = self._calls.pop(id(frame), set())
        if holds(value):
            self.givers.add(name)
            self.hops[name] |= {(one, type(value).__name__) for one in came}


def run_once(folder: Path) -> None:
    """Search once in a project of its own, then ask for the baseline as the browser does."""
    (folder / "burnish.toml").write_text(_CONFIG)
    (folder / "agent.py").write_text("def answer(configuration, item):\n    return 'yes'\n")
    (folder / "rows.jsonl").write_text('{"label": "yes"}\n{"label": "no"}\n')
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert run_command(["optimize"]) == 0
    database = str(folder / ".burnish" / "burnish.db")
    asyncio.run(_ask(ServerSettings(config=folder / "burnish.toml", database=database)))


async def _ask(settings: ServerSettings) -> None:
    app = create_app(settings)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        runs = "/v1/private/optimizations"
        (run,) = (await client.get(runs)).json()["items"]
        trials = f"{runs}/{run['optimization_id']}/trials"
        first = (await client.get(trials)).json()["items"][0]
        assert MARKER in (await client.get(f"{trials}/{first['candidate_id']}")).text


def report(follower: Follower) -> list[str]:
    """The figures, then every hop with its types."""
    hops = {name: pairs for name, pairs in sorted(follower.hops.items()) if pairs}
    pairs = {one for some in hops.values() for one in some if one[0] != one[1]}
    back = {tuple(sorted(one)) for one in pairs if one[::-1] in pairs}
    return [
        f"hops                      {len(hops)}, at most 30",
        f"conversions               {len(pairs)}, at most 15",
        f"of them there and back    {len(back)}, at most 0",
        f"functions that only take  {len(follower.takers - hops.keys())}",
        f"functions that only give  {len(follower.givers - hops.keys())}",
        "",
        *(
            f"{name}: {', '.join(' -> '.join(one) for one in sorted(some))}"
            for name, some in hops.items()
        ),
        "",
        *(f"there and back: {' and '.join(one)}" for one in sorted(back)),
    ]


def main() -> None:
    """Follow the marker and print its way."""
    follower = Follower()
    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(follower)
        sys.setprofile(follower)
        try:
            run_once(Path(folder))
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            os.chdir("/")
    print("\n".join(report(follower)))


if __name__ == "__main__":
    main()
