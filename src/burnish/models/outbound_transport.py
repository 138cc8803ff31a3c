"""HTTP transport that calls only addresses which the outbound rules have checked."""

from __future__ import annotations

import httpx2

from burnish.models.outbound_rules import OutboundRules, Resolve
from burnish.support.tls import tls_context

# A name with very many dead addresses must not hold a call for as many timeouts.
_MOST_ADDRESSES = 3


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves once a request, checks every address and connects to one of these.

    So a name that means another address a moment later reaches nothing. The Host header and the
    name that a certificate is checked for stay the URL's. One transport is for one host: connections
    are kept by address.
    """

    def __init__(
        self,
        rules: OutboundRules,
        *,
        resolve: Resolve | None = None,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._inner = inner or httpx2.AsyncHTTPTransport(verify=tls_context())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer of the first address that takes the connection."""
        try:
            addresses = await self._rules.addresses(str(request.url), self._resolve)
        except OSError:
            raise httpx2.ConnectError("the host cannot be resolved", request=request) from None
        failed: httpx2.TransportError = httpx2.ConnectError(
            "the host has no address", request=request
        )
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failed = error
        raise failed

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    host = request.url.raw_host.decode("ascii")
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
