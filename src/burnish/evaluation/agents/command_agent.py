"""Command agent: a program that is run an item, in a folder of its own with the sections as files."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Json,
    UsageError,
    canonical_hash,
    placeholders,
    render,
)
from burnish.evaluation.agents.answers import read_answer
from burnish.evaluation.agents.workspace import (
    OpenWorkspace,
    WorkspaceFiles,
    item_json,
    open_workspace,
)
from burnish.evaluation.workspace_policy import WorkspacePolicy
from burnish.support.sandboxed_child import Sandbox, can_cut_network, keeps_writes_inside

# What a program needs to be found and to write text; no keys.
_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
# What arguments may hold besides an item's fields.
_OWN_PLACEHOLDERS = ("project", "workspace", "sections", "parameters", "repeat")
_TAIL = 4000
_CHUNK = 65536
_LOOK_SECONDS = 1.0


class CommandAgent:
    """Starts the command in a fresh workspace, gives it the item and reads its answer.

    The item is JSON on stdin, and in a file where the policy says so. Arguments may hold
    placeholders: fields of the item, `project`, `workspace`, `repeat`, `sections.PATH` and
    `parameters.NAME`. A program with a slash in its name is one of the project's folder.
    """

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        command: Sequence[str],
        files: Mapping[str, str],
        workspace: WorkspacePolicy,
        folder: Path,
        version: str | None = None,
    ) -> None:
        self.name = name
        self.configuration = configuration
        self.policy = workspace
        self._folder = folder.absolute()
        self._command = (_program(name, command[0], self._folder), *command[1:])
        template = None if workspace.template is None else self._folder / workspace.template
        self._files = WorkspaceFiles.of(files, template, configuration)
        _require_variables(name, workspace.environment)
        if not workspace.network and not can_cut_network():
            raise _not_isolated(name)
        self.fingerprint: str | None = canonical_hash(
            [
                "command-agent/1",
                list(command),
                self._files.fingerprint(),
                self._code(),
                [workspace.item_file, workspace.output, workspace.answer, workspace.network],
                [
                    list(workspace.environment),
                    None if workspace.fields is None else list(workspace.fields),
                ],
                version,
            ]
        )

    @property
    def placeholders(self) -> set[str]:
        """The item's fields that the arguments name."""
        named = {one for argument in self._command for one in placeholders(argument)}
        return {one for one in named if one.split(".")[0] not in _OWN_PLACEHOLDERS}

    @property
    def isolation(self) -> str:
        """What the command can reach, in words."""
        writes = (
            "writes only in its workspace"
            if keeps_writes_inside()
            else "may write wherever you may: this kernel has no Landlock"
        )
        network = "has your network" if self.policy.network else "has no network"
        return f"{writes}, reads whatever you may read, {network}"

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """One run of the command; an exit code other than 0 is an error of the item."""
        with open_workspace() as workspace:
            await asyncio.to_thread(self._files.write, workspace.work, configuration)
            given = item_json(item, self.policy.fields)
            if self.policy.item_file is not None:
                path = workspace.work / self.policy.item_file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(given, encoding="utf-8")
            command = self._arguments(workspace, configuration, item, repeat)
            code, said, errors = await self._call(workspace, command, given)
            if code != 0:
                raise _failed(code, errors or said[-_TAIL:])
            return self._output(workspace, said, errors)

    async def close(self) -> None:
        """Nothing stays open between two runs."""

    def _arguments(
        self, workspace: OpenWorkspace, configuration: Configuration, item: Item, repeat: int
    ) -> list[str]:
        values: dict[str, Json] = {**item.row, "id": item.id}
        values |= {
            "project": str(self._folder),
            "workspace": str(workspace.work),
            "repeat": repeat,
            **{f"sections.{path}": text for path, text in configuration.sections.items()},
            "parameters": dict(configuration.parameters),
        }
        return [render(one, values) for one in self._command]

    async def _call(
        self, workspace: OpenWorkspace, command: Sequence[str], given: str
    ) -> tuple[int, bytes, bytes]:
        sandbox = Sandbox(
            root=str(workspace.root),
            writable=(
                str(workspace.root),
                *(str(self._folder / one) for one in self.policy.writable),
            ),
            network=self.policy.network,
            max_file_bytes=self.policy.max_workspace_bytes,
            max_memory_bytes=self.policy.max_memory_bytes,
        )
        process = await asyncio.create_subprocess_exec(
            *sandbox.command(command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=workspace.work,
            env=self._environment(workspace),
            start_new_session=True,  # Ctrl-C is ours to handle.
        )
        tasks = _talk(process, given.encode(), self.policy.max_output_bytes)
        watched = asyncio.create_task(self._watch(workspace))
        waited: set[asyncio.Future[Any]] = {asyncio.gather(*tasks), watched}
        try:
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()  # What failed first: the size of the answer, or that of the folder.
            return await process.wait(), tasks[1].result(), tasks[2].result()
        finally:
            for task in (*tasks, watched):
                task.cancel()
            await asyncio.shield(_end(process, [*tasks, *waited]))

    async def _watch(self, workspace: OpenWorkspace) -> None:
        while True:
            self._require_small(await asyncio.to_thread(workspace.size))
            await asyncio.sleep(_LOOK_SECONDS)

    def _require_small(self, size: int) -> None:
        if size > self.policy.max_workspace_bytes:
            raise UsageError(
                what="the command was ended",
                why=f"its workspace is larger than {self.policy.max_workspace_mb:g} MB",
                fix="have it write less, or raise workspace.max_workspace_mb",
                code="workspace_too_large",
            )

    def _output(self, workspace: OpenWorkspace, said: bytes, errors: bytes) -> AgentOutput:
        self._require_small(workspace.size())
        most = self.policy.max_output_bytes
        written = self.policy.output
        answer = said if written is None else workspace.read(written, most)
        if len(answer) > most:
            raise _too_long(most)
        trace: dict[str, Json] = {"stderr": _text(errors)} if errors else {}
        if written is not None and said:
            trace["stdout"] = _text(said[-_TAIL:])
        if self.policy.answer == "text":
            # What a program prints ends with a line break that is no part of the answer.
            return AgentOutput(text=_text(answer).removesuffix("\n"), trace=trace or None)
        try:
            return read_answer(_text(answer), trace or None)
        except ValueError as error:
            raise UsageError(
                what="the command's answer cannot be used",
                why=f"it is no JSON ({error}): {_text(answer)[:200]}",
                fix='have it print JSON, or leave workspace.answer at "text"',
                code="no_output",
            ) from None

    def _environment(self, workspace: OpenWorkspace) -> dict[str, str]:
        handed = {
            name: os.environ[name]
            for name in (*_VARIABLES, *self.policy.environment)
            if name in os.environ
        }
        folders = {"HOME": str(workspace.home), "TMPDIR": str(workspace.temporary)}
        return {**folders, **handed}

    def _code(self) -> dict[str, Json]:
        """The project's own files among the arguments: changed code gives other answers."""
        found: dict[str, Json] = {}
        for argument in self._command:
            path = Path(argument.replace("{{project}}", str(self._folder)))
            if path.is_absolute() and path.is_file() and path.is_relative_to(self._folder):
                name = path.relative_to(self._folder).as_posix()
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found


def _talk(
    process: asyncio.subprocess.Process, given: bytes, most: int
) -> tuple[asyncio.Task[None], asyncio.Task[bytes], asyncio.Task[bytes]]:
    """All of stdout and the end of stderr, while the item goes in."""
    assert process.stdout is not None
    assert process.stderr is not None
    return (
        asyncio.create_task(_feed(process, given)),
        asyncio.create_task(_read_all(process.stdout, most)),
        asyncio.create_task(_read_end(process.stderr)),
    )


async def _feed(process: asyncio.subprocess.Process, given: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # It need not read the item.
        process.stdin.write(given)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


async def _read_all(stream: asyncio.StreamReader, most: int) -> bytes:
    read = bytearray()
    while chunk := await stream.read(_CHUNK):
        read += chunk
        if len(read) > most:
            raise _too_long(most)
    return bytes(read)


async def _read_end(stream: asyncio.StreamReader) -> bytes:
    read = b""
    while chunk := await stream.read(_CHUNK):
        read = (read + chunk)[-_TAIL:]
    return read


async def _end(process: asyncio.subprocess.Process, tasks: Sequence[asyncio.Future[Any]]) -> None:
    """Its supervisor ends whatever it started, and then itself.

    A process has not ended for asyncio before all that it wrote is read.
    """
    await asyncio.gather(*tasks, return_exceptions=True)
    assert process.stdin is not None
    process.stdin.close()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    for stream in (process.stdout, process.stderr):
        while stream is not None and await stream.read(_CHUNK):
            pass
    await process.wait()


def _program(name: str, program: str, folder: Path) -> str:
    own = folder / program
    found = str(own) if "/" in program and own.is_file() else shutil.which(program)
    if found is None or not os.access(found, os.X_OK):
        raise UsageError(
            what=f"the agent {name!r} cannot be run",
            why=f"there is no program {program!r}"
            + (f" in {folder}" if "/" in program else " in the folders of PATH")
            + (", or it is not executable" if found or "/" in program else ""),
            fix="install it, or correct the first word of `command`",
            code="missing_program",
        )
    return found


def _require_variables(name: str, names: Sequence[str]) -> None:
    missing = next((one for one in names if one not in os.environ), None)
    if missing is not None:
        raise UsageError(
            what=f"the agent {name!r} cannot be run",
            why=f"the variable {missing} of workspace.environment is not set",
            fix=f"set it, or leave {missing} out",
            code="missing_key",
        )


def _not_isolated(name: str) -> UsageError:
    return UsageError(
        what=f"the agent {name!r} cannot be run without a network",
        why="this kernel does not let a program give up its network (user namespaces are off)",
        fix="remove `network = false`, or run where they are on",
        code="not_isolated",
    )


def _failed(code: int, said: bytes) -> UsageError:
    signals = {one.value: one.name for one in signal.Signals}
    ended = f" ({signals[code - 128]})" if code - 128 in signals else ""
    return UsageError(
        what=f"the command ended with code {code}{ended}",
        why=_text(said).strip() or "it said nothing on stderr",
        fix="run it by hand in a folder like its workspace",
        code="command_failed",
    )


def _too_long(most: int) -> UsageError:
    return UsageError(
        what="the command's answer cannot be used",
        why=f"it is larger than {most / 1024**2:g} MB",
        fix="have it print less, or raise workspace.max_output_mb",
        code="answer_too_large",
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
