"""What every store of picture files holds to: names are digests, and bytes are what they name."""

from __future__ import annotations

import re
from hashlib import sha256

from burnish.domain import InvariantError, UnavailableError, UsageError

_DIGEST = re.compile(r"[0-9a-f]{64}")


def file_path(digest: str) -> str:
    """Where a file is below the store's root; anything but a digest names no file at all."""
    if not _DIGEST.fullmatch(digest):
        raise no_file(digest)
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def require_digest(digest: str, data: bytes) -> None:
    """Refuse to store bytes under a name that is not theirs."""
    if sha256(data).hexdigest() != digest:
        raise InvariantError(
            what="a picture was not stored",
            why=f"its bytes do not have the digest {digest!r}",
            fix="please report this",
        )


def checked(digest: str, data: bytes, where: str) -> bytes:
    """The bytes, if they are those that were stored."""
    if sha256(data).hexdigest() != digest:
        raise read_failed(
            where, "its bytes are not those that were stored", "restore the file from a backup"
        )
    return data


def no_file(digest: str) -> UsageError:
    """There is no such picture."""
    return UsageError(
        what=f"there is no picture {digest[:80]!r}",
        why="no file with that digest is stored",
        fix="take the digest from a commit or a comparison",
        code="not_found",
    )


def write_failed(where: str, why: str, fix: str) -> UnavailableError:
    """A picture could not be stored; nothing of it is left."""
    return UnavailableError(
        what=f"a picture was not written to {where}", why=why, fix=fix, code="STORAGE_WRITE_FAILED"
    )


def read_failed(where: str, why: str, fix: str) -> UnavailableError:
    """A picture is there, or may be, and cannot be read."""
    return UnavailableError(
        what=f"the picture {where} cannot be read", why=why, fix=fix, code="STORAGE_READ_FAILED"
    )
