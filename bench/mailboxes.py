"""Mailboxes against raw list operations of redis-py on the same server, and in memory."""

from __future__ import annotations

from statistics import median

from bench.processes import measure
from bench.results import Section

ROUNDS, BATCH = 99, 64

RAW = {
    "lists": "redis-py asyncio: LPUSH, RPOPLPUSH; never settled",
    "lists, settled": "redis-py asyncio: LPUSH, RPOPLPUSH, LREM",
    "blocking lists": "redis-py blocking: LPUSH, RPOPLPUSH; never settled",
    "blocking lists, settled": "redis-py blocking: LPUSH, RPOPLPUSH, LREM",
}


def run() -> Section:
    """One process and one server; short turns, and the median over all of them."""
    answer = measure("bench.burnish_mailboxes", ROUNDS, BATCH)
    measured = answer["measured"]

    def row(name: str, what: str, compared: str) -> list[object]:
        rates = [one["rate"] for one in measured[name]]
        own = 1e6 / median(one["own"] for one in measured[name])
        return [what, *(f"{one:,.0f}" for one in (median(rates), max(rates), own)), compared]

    def ratio(name: str) -> str:
        pairs = zip(measured["mailbox"], measured[name], strict=True)
        return f"{median(ours['rate'] / raw['rate'] for ours, raw in pairs):.2f} of it"

    return Section(
        name="mailboxes",
        title=f"Mailboxes: messages of {answer['bytes']} bytes",
        command="python -m bench mailboxes",
        columns=[
            "",
            "messages/s (median)",
            "best",
            "messages/s of the client's own CPU time",
            "the Redis mailbox reaches",
        ],
        rows=[
            row("mailbox", f"RedisMailbox: send, receive, acknowledge, {BATCH} at a time", ""),
            *(row(name, f"{what}, {BATCH} a pipeline", ratio(name)) for name, what in RAW.items()),
            row("memory", "InMemoryMailbox: send, receive, acknowledge, one at a time", ""),
        ],
        notes=[
            "Client and server share the machine's two cores. Ratios are medians over "
            f"{ROUNDS} turns taken in alternation on one server (Valkey, append-only file on).",
            "Both mailboxes write and check typed bodies; the raw lists move ready bytes, keep no "
            "visibility timeout, no delivery count and no bound.",
        ],
    )
