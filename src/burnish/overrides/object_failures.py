"""What goes wrong on the way to a bucket, in Burnish's own errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from burnish.domain import BurnishError, UsageError
from burnish.overrides.redis_retry import PassingError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist")
# No other answer below 500 gets better by itself.
_PASSING_STATUS = frozenset({408, 409, 425, 429})
_LONGEST_SHOWN = 200


def names_no_bucket(error: Exception) -> bool:
    """Whether it is the bucket that is missing and not an object in it."""
    return _NO_BUCKET.search(str(error)) is not None


def translated(error: Exception, bucket: ObjectStore) -> BurnishError | PassingError:
    """What to raise instead: PassingError where another attempt may help."""
    from obstore import exceptions  # noqa: PLC0415 - an extra

    found = _STATUS.search(str(error))
    status = int(found.group(1)) if found else None
    refused = exceptions.PermissionDeniedError, exceptions.UnauthenticatedError
    if names_no_bucket(error):
        why = "there is no such bucket"
        fix = "create the bucket, or check its name and region"
        code = "unknown_bucket"
    elif isinstance(error, refused) or status in (401, 403):
        why = f"the server denies access (status {status})"
        fix = "check the credentials and their rights: get, put, delete and list"
        code = "overrides_refused"
    elif isinstance(error, exceptions.NotSupportedError) or status == 501:
        why = "the server does not know conditional writes"
        fix = "use a server that knows If-Match and If-None-Match, as Amazon S3 does"
        code = "unsupported_server"
    elif status is None or status >= 500 or status in _PASSING_STATUS:
        return PassingError(
            first_line(error) if status is None else f"it answered with status {status}"
        )
    else:
        why = f"the server refused the request (status {status})"
        fix = "check the endpoint, the region and the bucket's name"
        code = "overrides_refused"
    what = f"overrides in {bucket!r} cannot be used"
    return UsageError(what=what, why=why, fix=fix, code=code)


def first_line(error: Exception) -> str:
    """What may be shown of a foreign error: its source holds whole requests."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST_SHOWN]
