"""Messages that no one could handle."""

from __future__ import annotations

import base64
from typing import Literal

from burnish.domain.mailboxes import DeadLetter
from burnish.runtime.mailboxes.message_types import Packed


def dead_letter(
    mailbox: str,
    message_id: str,
    packed: Packed,
    *,
    reply_to: str | None,
    delivery_count: int,
    explanation: str | None,
) -> DeadLetter:
    """The letter for a body as it stood; without an explanation it was delivered too often."""
    payload, encoding = _as_text(packed.payload)
    return DeadLetter(
        mailbox=mailbox,
        message_id=message_id,
        reason="too_many_deliveries" if explanation is None else "undecodable",
        explanation=explanation or f"it came back after {delivery_count} deliveries",
        delivery_count=delivery_count,
        type=packed.type,
        version=packed.version,
        payload=payload,
        encoding=encoding,
        reply_to=reply_to,
    )


def packed_body(letter: DeadLetter) -> Packed:
    """The body again as it travelled, for whoever wants to decode or send it once more."""
    raw = letter.payload.encode()
    return Packed(
        letter.type, letter.version, base64.b64decode(raw) if letter.encoding == "base64" else raw
    )


def _as_text(payload: bytes) -> tuple[str, Literal["utf-8", "base64"]]:
    try:
        return payload.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(payload).decode(), "base64"
