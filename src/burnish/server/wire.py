"""HTTP as it comes in: what is not HTTP at all is answered in the one shape too."""

from __future__ import annotations

import json

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_BODY = json.dumps(
    {
        "code": "unreadable",
        "message": "the request cannot be read: it is not HTTP",
        "fix": "send HTTP/1.1, with every header on a line of its own",
        "retryable": False,
        "problems": [],
    }
).encode()
_ANSWER = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
    b"x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
) % len(_BODY)


class Wire(HttpToolsProtocol):
    """uvicorn's protocol, with our words for what it cannot read."""

    def send_400_response(self, msg: str) -> None:
        """Answer, and close."""
        self.transport.write(_ANSWER + _BODY)
        self.transport.close()
