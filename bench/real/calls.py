"""Model calls kept on disk, so that a command that was killed goes on, and counted for each run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnish.domain import InvariantError, Model, ModelRequest, ModelResponse


class KeptCalls:
    """Call cache in one SQLite file; several processes may use it at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # One thread at a time uses it, but not always the one that made it.
        self._connection = sqlite3.connect(
            path, timeout=60, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, value TEXT)"
        )

    async def get(self, key: str) -> Mapping[str, Any] | None:
        """The response of a call that was made before."""
        row = self._connection.execute("SELECT value FROM calls WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep a response."""
        self._connection.execute(
            "INSERT OR REPLACE INTO calls VALUES (?, ?)", (key, json.dumps(dict(value)))
        )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class CountedModel:
    """A model that counts its calls, and refuses more of them than `most`."""

    def __init__(self, model: Model, most: int | None = None) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.calls = 0
        self.from_disk = 0
        self._model = model
        self._most = most

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer."""
        if self._most is not None and self.calls >= self._most:
            raise InvariantError(
                what=f"{self.name} is asked too often",
                why=f"this run may ask it {self._most} times",
                fix="report it with the command that was run",
            )
        self.calls += 1
        response = await self._model.complete(request)
        self.from_disk += response.cached
        return response

    async def close(self) -> None:
        """Close the model behind."""
        await self._model.close()
