"""Price tables of genai-prices: as they were installed, or newer ones that a command fetched."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.domain import UnavailableError, UsageError

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

_PACKAGE = "genai-prices"
_LARGEST_BYTES = 64 * 1024 * 1024
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PriceTables:
    """Prices by vendor and model. `fetched_at` is None for those that were installed.

    `note` says why fetched ones are not used, where there are any.
    """

    snapshot: DataSnapshot
    source: str
    fetched_at: str | None = None
    note: str | None = None


def tables_file() -> Path:
    """Where fetched tables are kept."""
    from burnish.models.local.pull import cache_directory  # noqa: PLC0415 - slow to load

    return cache_directory() / "prices.json"


def current_tables() -> PriceTables:
    """The fetched tables where they fit the installed package, else the installed ones."""
    path = tables_file()
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _installed() if not changed else _kept(path, changed)


def update_tables(address: str | None = None) -> PriceTables:
    """Fetch the tables of today, check that they can be used, and keep them.

    `address` is a URL, or a file for machines without a way out; else the package's own.
    """
    from genai_prices.update_prices import DEFAULT_UPDATE_URL  # noqa: PLC0415

    origin = address or DEFAULT_UPDATE_URL
    remote = origin.startswith(("http://", "https://"))
    content = _downloaded(origin) if remote else _read(Path(origin))
    try:
        providers = json.loads(content)
        _snapshot(providers)
    except Exception as error:  # noqa: BLE001 - the package may fail as it likes
        raise UsageError(
            what="the prices were not updated",
            why=f"{origin} holds no tables that {_PACKAGE} {_version()} can read "
            f"({type(error).__name__})",
            fix=f"upgrade it (pip install -U {_PACKAGE}); the tables that were in use still are",
            code="invalid_prices",
        ) from None
    _keep(
        {
            "version": _version(),
            "origin": origin if remote else Path(origin).name,
            "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "providers": providers,
        }
    )
    return current_tables()


def _installed(note: str | None = None) -> PriceTables:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    return PriceTables(get_snapshot(), f"{_PACKAGE} {_version()} as installed", note=note)


@lru_cache(maxsize=1)
def _kept(path: Path, _changed: int) -> PriceTables:
    try:
        kept = json.loads(path.read_bytes())
        version, moment = str(kept["version"]), str(kept["fetched_at"])
        if version != _version():
            # Which of the two is newer cannot be told, and the format may be another.
            return _installed(
                f"prices of {moment} were fetched for {_PACKAGE} {version} and are not used: run "
                "burnish models prices --update"
            )
        snapshot = _snapshot(kept["providers"])
    except Exception:  # noqa: BLE001 - whatever is in that file, calls are priced
        return _installed(f"{path} cannot be read: run burnish models prices --update")
    return PriceTables(snapshot, f"{_PACKAGE}, fetched {moment}", fetched_at=moment)


def _snapshot(providers: Any) -> DataSnapshot:
    from genai_prices import types  # noqa: PLC0415
    from genai_prices.data_snapshot import DataSnapshot  # noqa: PLC0415

    if not isinstance(providers, list) or not providers:
        raise ValueError("no list of providers")
    # The package reads what it fetches by this, and has no public way to read a file.
    read = types._providers_from_raw  # noqa: SLF001
    return DataSnapshot(read(providers), from_auto_update=True)


@cache
def _version() -> str:
    return metadata.version(_PACKAGE)


def _downloaded(url: str) -> bytes:
    import httpx2  # noqa: PLC0415 - slow to load

    from burnish.support.tls import tls_context  # noqa: PLC0415

    content = bytearray()
    try:
        with httpx2.stream(
            "GET", url, timeout=_SECONDS, follow_redirects=True, verify=tls_context()
        ) as response:
            response.raise_for_status()
            for piece in response.iter_bytes():
                content += piece
                if len(content) > _LARGEST_BYTES:
                    raise _unreachable(url, f"it sends more than {_LARGEST_BYTES >> 20} MB")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _unreachable(url, str(error) or type(error).__name__) from None
    return bytes(content)


def _unreachable(url: str, why: str) -> UnavailableError:
    return UnavailableError(
        what="the prices were not updated",
        why=f"{url} did not give them: {why}",
        fix="the tables that were in use still are; without a way out fetch that file elsewhere and "
        "give it with --from FILE, or upgrade genai-prices by pip",
        code="download_failed",
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            what="the prices were not updated",
            why=f"{path} cannot be read: {error.strerror}",
            fix="name a file with the tables of genai-prices, or an address that starts with https://",
            code="not_found",
        ) from None


def _keep(document: dict[str, Any]) -> None:
    """Readers see the old file or the new one, never a part."""
    path = tables_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix="prices-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
