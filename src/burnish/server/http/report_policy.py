"""The report's own content policy, which it names in its page, as headers too."""

from __future__ import annotations

import html
import re

from burnish.server.http.request_log import CONTENT_POLICY

_NAMED = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


def report_headers(page: str) -> dict[str, str]:
    """What only lets this very style and script act, and lets no other page frame it."""
    named = _NAMED.search(page)
    policy = f"{html.unescape(named.group(1))}; frame-ancestors 'none'" if named else CONTENT_POLICY
    return {"Content-Security-Policy": policy}
