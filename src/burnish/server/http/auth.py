"""Authentication: API keys, and checks of a request's Host, its key and, for changes, its Origin.

Deny is the default. The check stands before every route, also before those that do not exist, so that
none can be forgotten. Of keys only the hashes are kept.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from burnish.domain import UsageError
from burnish.server.http.errors import error_response
from burnish.server.http.logs import caller
from burnish.server.http.ui_pages import UiSite

KEYS_VARIABLE = "BURNISH_API_KEY"
_NAMED = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,64}):(?P<scope>[a-z]+):(?P<key>.+)")
_BETWEEN = re.compile(r"[\s,]+")
_SHORTEST = 16
# These tell nothing but that the server is there, and are what a browser and a probe ask first.
PUBLIC = frozenset({"/", "/health/live", "/health/ready"})
OPIK_PATHS = "/api/"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITE = ("same-origin", "none")
_bearer = HTTPBearer(auto_error=False, description="A key of BURNISH_API_KEY, where keys are set.")


class KeyScope(StrEnum):
    """What a key allows; who may write may also read."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Key:
    """A key by its hash, so that no trace or dump can show it."""

    name: str
    scope: KeyScope
    digest: bytes = field(repr=False)

    @property
    def may_write(self) -> bool:
        """Whether it allows changes."""
        return self.scope is KeyScope.WRITE


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
    if scope not in [one.value for one in KeyScope]:
        raise _bad(f"the scope of the key {name!r} is not known", "use read or write")
    if len(key) < _SHORTEST:
        raise _bad(
            f"the key {name!r} is shorter than {_SHORTEST} characters, and could be guessed",
            "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return Key(name, KeyScope(scope), _digest(key))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _bad(why: str, fix: str) -> UsageError:
    return UsageError(what=f"{KEYS_VARIABLE} cannot be used", why=why, fix=fix, code="invalid_key")


async def documented_key(
    _: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None,
) -> None:
    """Only says in the OpenAPI that keys are taken; `Auth` is what checks them.

    Async, as all dependencies here: a plain one would cost each request a visit to a thread.
    """


class Auth:
    """ASGI middleware: answers what may not pass, and lets the rest through."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keys,
        hosts: frozenset[str],
        public: Iterable[str] = PUBLIC,
        site: UiSite | None = None,
    ) -> None:
        self._app = app
        self._keys = keys
        self._hosts = hosts
        self._public = frozenset(public)
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = (
            self._wrong_host(headers)
            or self._wrong_site(scope["method"], headers)
            or self._wrong_key(scope, headers)
        )
        await (refusal or self._app)(scope, receive, send)

    def _wrong_host(self, headers: Headers) -> Response | None:
        """Another name may be an attacker's, pointed at this address (DNS rebinding)."""
        given = headers.getlist("host")
        name = host_name(given[0]) if len(given) == 1 else None
        if name is not None and ("*" in self._hosts or name in self._hosts):
            return None
        return error_response(
            403,
            code="host_not_allowed",
            message="the request is refused: its Host is none of this server's names",
            fix="use the address that the server printed, or allow the name with --allow-host",
        )

    def _wrong_site(self, method: str, headers: Headers) -> Response | None:
        """A page of another site may make a browser send what its user never wanted."""
        if method in _READS:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = origin is None or _netloc(origin) == headers["host"].lower()
        if own and (site is None or site in _OWN_SITE):
            return None
        return error_response(
            403,
            code="cross_site",
            message="the request is refused: it comes from a page of another site",
            fix="send it from this server's own pages, or from a program without an Origin",
        )

    def _wrong_key(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._keys or scope["path"] in self._public:
            return None
        # Its files hold nothing but programs that ask for the key themselves.
        if self._site is not None and self._site.takes(scope, headers):
            return None
        key = self._keys.find(_given_key(scope["path"], headers.get("authorization", "")))
        if key is None:
            return error_response(
                401,
                code="key_needed",
                message="the request is refused: it has no key that this server knows",
                fix="send the header Authorization: Bearer KEY",
                headers={"WWW-Authenticate": "Bearer"},
            )
        caller.set(key.name)
        if scope["method"] in _READS or key.may_write:
            return None
        return error_response(
            403,
            code="read_only_key",
            message=f"the request is refused: the key {key.name!r} may only read",
            fix="use a key with the scope write",
        )


def _given_key(path: str, header: str) -> str:
    """The key in the header; Opik's clients send it without a word before it."""
    scheme, _, given = header.strip().partition(" ")
    if not given and path.startswith(OPIK_PATHS):
        return scheme
    return given.strip() if scheme.lower() == "bearer" else ""


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None when it is none."""
    name, bracket, port = host.strip().lower().rpartition("]")
    if bracket:
        name, port = name + bracket, port.removeprefix(":")
    else:
        name, _, port = port.partition(":")
    return name.rstrip(".") if name and (not port or port.isdecimal()) else None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None
