"""API keys: who may read and who may write. Only their hashes are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from burnish.domain import UsageError

VARIABLE = "BURNISH_API_KEY"
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,64}):(?P<scope>[a-z]+):(?P<key>.+)")
_BETWEEN = re.compile(r"[\s,]+")
_SHORTEST = 16


class Scope(StrEnum):
    """What a key allows; who may write may also read."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Key:
    """A key by its hash, so that no trace or dump can show it."""

    name: str
    scope: Scope
    digest: bytes = field(repr=False)

    @property
    def may_write(self) -> bool:
        """Whether it allows changes."""
        return self.scope is Scope.WRITE


@dataclass(frozen=True, slots=True)
class Keys:
    """All keys of a server; without any, whoever reaches it may do everything."""

    entries: Sequence[Key] = ()

    def __bool__(self) -> bool:
        return bool(self.entries)

    @classmethod
    def of(cls, text: str | None) -> Keys:
        """From `KEY` or `NAME:SCOPE:KEY`, several with commas or spaces between them."""
        entries = [_key(part) for part in _BETWEEN.split(text or "") if part]
        names = [one.name for one in entries]
        if len(set(names)) < len(names):
            raise _bad("two keys have the same name", "give each a name, as NAME:SCOPE:KEY")
        return cls(tuple(entries))

    def find(self, given: str) -> Key | None:
        """The key that was given. It takes as long for a wrong one as for a right one."""
        digest = _digest(given)
        found = None
        for one in self.entries:
            if hmac.compare_digest(one.digest, digest):
                found = one
        return found


def _key(text: str) -> Key:
    named = _NAMED.fullmatch(text)
    name, scope, key = named.group("name", "scope", "key") if named else ("key", "write", text)
    if scope not in [one.value for one in Scope]:
        raise _bad(f"the scope of the key {name!r} is not known", "use read or write")
    if len(key) < _SHORTEST:
        raise _bad(
            f"the key {name!r} is shorter than {_SHORTEST} characters, and could be guessed",
            "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return Key(name, Scope(scope), _digest(key))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _bad(why: str, fix: str) -> UsageError:
    return UsageError(what=f"{VARIABLE} cannot be used", why=why, fix=fix, code="invalid_key")
