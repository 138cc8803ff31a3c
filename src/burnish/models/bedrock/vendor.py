"""Bedrock as a vendor: region and address, a key or signatures, tokens and errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import Model, Usage, UsageError
from burnish.models.endpoint.answers import Answer, token_count
from burnish.models.endpoint.vendor import Vendor, bearer
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2
    from botocore.session import Session

# A key of Bedrock's own, which needs no signatures.
_KEY = "AWS_BEARER_TOKEN_BEDROCK"
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


def open_bedrock(name: str, settings: ModelSettings) -> Model:
    """The model `bedrock/MODEL-ID`, in the region that AWS's variables or profile name."""
    from burnish.models.bedrock.wire import BedrockModel  # noqa: PLC0415

    if settings.stream:
        raise UsageError(
            what=f"bedrock/{name} cannot be used",
            why="answers of Bedrock come as a whole here",
            fix="remove stream from its settings",
            code="invalid_settings",
        )
    variable = _KEY if settings.api_key_env is None else settings.api_key_env
    by_key = bool(os.environ.get(variable, "").strip())
    return BedrockModel(_with_key() if by_key else _signed(), name, settings)


def read_usage(body: Mapping[str, Any]) -> Answer[None] | None:
    """Tokens without their price; those of the cache count as input, as everywhere."""
    given = body.get("usage")
    if not isinstance(given, Mapping):
        return None
    read, written, cached, kept = (
        token_count(given.get(name))
        for name in ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    )
    if read is None or written is None:
        return None
    usage = Usage(
        calls=1,
        input_tokens=read + (cached or 0) + (kept or 0),
        output_tokens=written,
        cached_tokens=cached or 0,
    )
    return Answer(None, usage, cache_write_tokens=kept or 0)


def _with_key() -> Vendor:
    named = any(os.environ.get(name) for name in _REGIONS)
    return _vendor(_region(None if named else _session()), headers=bearer)


def _signed() -> Vendor:
    session = _session()
    region = _region(session)
    credentials = session.get_credentials()
    if credentials is None:
        raise UsageError(
            what="models of bedrock cannot be used",
            why=f"there are no credentials of AWS, and the environment variable {_KEY} is not set",
            fix=f"put a key into {_KEY}, or log in as for the AWS command line (AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE)",
            code="missing_key",
        )
    return _vendor(region, headers=_no_headers, sign=_signer(credentials, region))


def _region(session: Session | None) -> str:
    named = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), None)
    if named or session is None:
        return named or ""
    return str(session.get_config_variable("region") or "")


def _vendor(
    region: str,
    *,
    headers: Callable[[str], Mapping[str, str]],
    sign: Callable[[httpx2.Request], None] | None = None,
) -> Vendor:
    if not region:
        raise UsageError(
            what="models of bedrock cannot be used",
            why="no region of AWS is named",
            fix="set AWS_REGION, such as us-east-1",
            code="missing_address",
        )
    suffix = ".cn" if region.startswith("cn-") else ""
    return Vendor(
        provider="bedrock",
        address=f"https://bedrock-runtime.{region}.amazonaws.com{suffix}",
        address_env="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        key_env=_KEY if sign is None else "",
        needs_key=sign is None,
        prices="aws",
        speaks="Bedrock's Converse API",
        headers=headers,
        sign=sign,
        read_usage=read_usage,
    )


def _session() -> Session:
    try:
        from botocore.session import Session  # noqa: PLC0415 - an extra, and slow to load
    except ImportError as error:
        raise UsageError(
            what="models of bedrock cannot be used",
            why="the package botocore, which signs requests, is not installed",
            fix=f"run: pip install 'burnish[bedrock]'; or put a key of Bedrock into {_KEY} and the "
            "region into AWS_REGION, which needs no package",
            code="missing_extra",
        ) from error
    return Session()


def _no_headers(_key: str) -> Mapping[str, str]:
    return {}


def _signer(credentials: Any, region: str) -> Callable[[httpx2.Request], None]:
    """Signs as AWS's own clients do; credentials that end are renewed by botocore."""
    from botocore.auth import SigV4Auth  # noqa: PLC0415
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415

    def sign(request: httpx2.Request) -> None:
        url = request.url
        host = url.netloc.decode("ascii")
        given = AWSRequest(
            method=request.method,
            url=f"{url.scheme}://{host}{url.raw_path.decode('ascii')}",
            data=request.content,
            headers={"Content-Type": request.headers.get("content-type", "application/json")},
        )
        SigV4Auth(credentials, "bedrock", region).add_auth(given)
        for name in ("Authorization", "X-Amz-Date", "X-Amz-Security-Token"):
            if name in given.headers:
                request.headers[name] = given.headers[name]

    return sign
