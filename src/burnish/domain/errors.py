"""The four error families: each says what happened, why, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class BurnishError(Exception):
    """Parent of the four families; never raised itself.

    `code` is a stable machine name. `what`, `why` and `fix` are shown to people, so no key, header
    or other secret may be put into them.
    """

    exit_code: ClassVar[int] = 70
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    default_code: ClassVar[str] = "error"

    def __init__(self, *, what: str, why: str, fix: str, code: str | None = None) -> None:
        super().__init__(f"{what}: {why}. {fix}")
        self.what = what
        self.why = why
        self.fix = fix
        self.code = code or self.default_code

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only arguments don't survive the default pickling between processes.
        return _rebuild, (type(self), self.what, self.why, self.fix, self.code)

    def to_json(self) -> dict[str, Any]:
        """The one shape in which every surface shows an error."""
        return {
            "code": self.code,
            "message": f"{self.what}: {self.why}",
            "fix": self.fix,
            "retryable": self.retryable,
        }


def _rebuild(kind: type[BurnishError], what: str, why: str, fix: str, code: str) -> BurnishError:
    return kind(what=what, why=why, fix=fix, code=code)


class UsageError(BurnishError):
    """The caller gave something that cannot be used."""

    exit_code = 2
    http_status = 422
    default_code = "invalid_request"


class RowsError(UsageError):
    """Rows that cannot be used, each with its place and what is wrong with it."""

    def __init__(
        self,
        *,
        what: str,
        why: str,
        fix: str,
        code: str | None = None,
        problems: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(what=what, why=why, fix=fix, code=code)
        self.problems = tuple(problems)


class ConflictError(BurnishError):
    """Somebody else owns or changed it."""

    exit_code = 3
    http_status = 409
    default_code = "conflict"


class UnavailableError(BurnishError):
    """Something outside does not answer; trying again later may help."""

    exit_code = 4
    http_status = 503
    retryable = True
    default_code = "unavailable"


class InvariantError(BurnishError):
    """Our own bug: a promise of the program did not hold."""

    exit_code = 70
    http_status = 500
    default_code = "internal"
