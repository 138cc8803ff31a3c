"""Replay and recording models: a run's calls are recorded, and run again without the model."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

from burnish.domain import (
    Model,
    ModelRequest,
    ModelResponse,
    UnavailableError,
    UsageError,
    exact_hash,
    text_hash,
)


class RecordingModel:
    """Passes every request on, and appends it with its answer to a JSONL file."""

    def __init__(self, model: Model, path: str | Path) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self._model = model
        self._path = Path(path)
        self._lock = threading.Lock()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's own answer; it is on disk before the caller sees it."""
        response = await self._model.complete(request)
        record = {
            "key": recording_key(request),
            "request": request.to_json(),
            "response": response.to_json(),
        }
        await asyncio.to_thread(self._append, json.dumps(record, ensure_ascii=False) + "\n")
        return response

    async def close(self) -> None:
        """Close the model behind."""
        await self._model.close()

    def _append(self, line: str) -> None:
        try:
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise UnavailableError(
                what=f"the recording {self._path} cannot be written",
                why=error.strerror or type(error).__name__,
                fix="check the folder, its permissions and the space on the disk",
            ) from error


class ReplayModel:
    """Answers from a recording, usage included, and reaches nobody.

    Where a request was recorded more than once, the last answer counts.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        text = _read(self._path)
        self._responses = dict(
            _parse(self._path, number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        )
        self.name = f"replay/{self._path}"
        self.fingerprint = f"replay@{text_hash(text)}"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The recorded answer."""
        response = self._responses.get(recording_key(request))
        if response is None:
            raise UsageError(
                what=f"{self.name} has no answer to this request",
                why=f"it is not among the {len(self._responses)} recorded ones",
                fix="record again: the prompt, the parameters or the dataset have changed since",
                code="not_recorded",
            )
        return response

    async def close(self) -> None:
        """Nothing is held."""


def recording_key(request: ModelRequest) -> str:
    """The request alone: a recording stands for any model."""
    return exact_hash(request.to_json())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(
            what=f"the recording {path} cannot be read",
            why=why or type(error).__name__,
            fix="give the path of a JSONL file that RecordingModel wrote",
            code="unreadable_recording",
        ) from error


def _parse(path: Path, number: int, line: str) -> tuple[str, ModelResponse]:
    try:
        record: Any = json.loads(line)
        return str(record["key"]), ModelResponse.of(record["response"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            what=f"the recording {path} cannot be used",
            why=f"line {number} is not a recorded call",
            fix="remove the line, or record again",
            code="unreadable_recording",
        ) from error
