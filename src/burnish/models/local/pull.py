"""Local model files: downloaded once, checked, kept in the user's cache with their SHA-256."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path

from burnish.domain import UnavailableError, UsageError, text_hash
from burnish.models.local.catalog import FILES, KNOWN, WRITING, KnownModel
from burnish.models.local.download import Received, SourceError, fetch, file_sha256, source_name


def cache_directory() -> Path:
    """Where Burnish keeps files of the user: `$BURNISH_CACHE`, or the platform's cache."""
    if chosen := os.environ.get("BURNISH_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "burnish"


def models_directory() -> Path:
    """Where pulled model files lie."""
    return cache_directory() / "models"


def installed(*, directory: Path | None = None) -> dict[str, Path]:
    """The files of the known models that are here, by name."""
    folder = directory or models_directory()
    places = {known.name: _place(known, folder) for known in KNOWN.values()}
    return {name: path for name, path in places.items() if _is_complete(KNOWN[name], path)}


def path_of(name: str, *, directory: Path | None = None, embeds: bool = False) -> Path:
    """The file of a pulled model; an error that says how to get it when it is not here."""
    known = known_model(name)
    if known.embeds and not embeds:
        raise UsageError(
            what=f"the model {name} cannot be asked",
            why="it makes vectors of texts, for `burnish import --sample-by cluster`, and writes none",
            fix=f"name another one: {', '.join(WRITING)}",
            code="unknown_model",
        )
    path = _place(known, directory or models_directory())
    if not _is_complete(known, path):
        raise UsageError(
            what=f"the model {name} cannot be used",
            why=f"its file is not at {path}",
            fix=f"run: burnish models pull {name}",
            code="model_missing",
        )
    return path


def pull(
    name: str,
    *,
    directory: Path | None = None,
    progress: Callable[[str], None] | None = None,
    received: Received | None = None,
) -> Path:
    """Download, check and keep a known model; return its path. Does nothing when it is here.

    Safe to call from several processes at once, and after one that broke it goes on from there.
    `progress` gets one line of text per step, `received` how many bytes are here.
    """
    known = known_model(name)
    folder = directory or models_directory()
    path = _place(known, folder)
    if _is_complete(known, path):
        return path
    say = progress or (lambda _: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f".{known.name}.lock", say) as work:
            if not _is_complete(known, path):
                _install(known, path, work, say, received or (lambda _: None))
    except OSError as error:
        raise UnavailableError(
            what=f"the model {name} could not be stored",
            why=f"{folder}: {error.strerror or error}",
            fix="free some disk space, or set BURNISH_CACHE to a folder that can be written",
            code="cache_unwritable",
        ) from error
    return path


def _install(
    known: KnownModel, path: Path, work: Path, say: Callable[[str], None], received: Received
) -> None:
    """Source by source, in a folder beside the target; what is whole in it is used next time."""
    work.mkdir(exist_ok=True)
    failures: list[SourceError] = []
    try:
        for source in known.sources:
            who = source_name(source)
            say(f"downloading {known.name} from {who} ({known.size_bytes // 1_000_000:,} MB)")
            try:
                part = fetch(source, known, work, received)
            except SourceError as error:
                failures.append(error)
                error.args = (f"{who}: {error}",)
                if len(failures) < len(known.sources):
                    say(f"{error}; trying the next source")
                continue
            _keep(part, known, path)
            shutil.rmtree(work, ignore_errors=True)
            say(f"stored {path}")
            return
    finally:
        with contextlib.suppress(OSError):
            (work / "pin.txt").unlink(missing_ok=True)
            work.rmdir()  # only where nothing is left to go on with
    raise UnavailableError(
        what="the model could not be downloaded",
        why="; ".join(map(str, failures)),
        fix="check the network and pip's index settings, then run it again: it goes on from there",
        code=failures[-1].code,
    )


def _keep(part: Path, known: KnownModel, path: Path) -> None:
    """The licence first: whoever sees the model finds it there."""
    licence = (FILES / f"{known.licence}.txt").read_text(encoding="utf-8")
    notice = f"{path.name}: {known.attribution}\nLicensed under {known.licence}, as follows.\n"
    path.with_name(f"{known.name}.LICENSE.txt").write_text(f"{notice}\n{licence}", encoding="utf-8")
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(path)


@contextlib.contextmanager
def _alone(lock: Path, say: Callable[[str], None]) -> Iterator[Path]:
    """The folder to work in. One pull at a time where the platform can lock files; elsewhere each
    works in a folder of its own, and the atomic rename keeps the result whole."""
    with lock.open("wb") as file:
        try:
            import fcntl  # noqa: PLC0415
        except ImportError:  # Windows
            yield lock.with_suffix(f".pull-{os.getpid()}")
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process is pulling it; waiting for that")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield lock.with_suffix(".pull")


def known_model(name: str) -> KnownModel:
    """The model of a name; an error with the nearest one where there is none."""
    if name in KNOWN:
        return KNOWN[name]
    near = get_close_matches(name, KNOWN, n=1)
    raise UsageError(
        what=f"there is no local model {name!r}",
        why=f"known names are {', '.join(KNOWN)}",
        fix=f"write {(near or list(KNOWN))[0]}, or the path of a .gguf file",
        code="unknown_model",
    )


def _place(known: KnownModel, folder: Path) -> Path:
    return folder / known.file_name


def _is_complete(known: KnownModel, path: Path) -> bool:
    """Files get their name only once checked, so the size is enough to see damage from outside."""
    try:
        return path.stat().st_size == known.size_bytes
    except OSError:
        return False


def model_digest(path: Path) -> str:
    """SHA-256 of the file, computed anew only when its size or its time of change differ."""
    status = path.stat()
    seen = {"path": str(path), "size": status.st_size, "modified_ns": status.st_mtime_ns}
    note = cache_directory() / "digests" / f"{text_hash(str(path))[:32]}.json"
    with contextlib.suppress(OSError, ValueError, AttributeError):
        known = json.loads(note.read_text(encoding="utf-8"))
        if {name: known.get(name) for name in seen} == seen and known.get("sha256"):
            return str(known["sha256"])
    digest = file_sha256(path)
    with contextlib.suppress(OSError):  # a note that cannot be kept costs time, nothing else
        note.parent.mkdir(parents=True, exist_ok=True)
        part = note.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps({**seen, "sha256": digest}), encoding="utf-8")
        part.replace(note)
    return digest
