"""`python -m bench [NAME …]`: measure, and write `bench/RESULTS.md`."""

from __future__ import annotations

import sys
from importlib import import_module

from bench.results import save

NAMES = (
    *("startup", "overhead", "waiting", "memory", "framework", "browsing", "parallel", "demo"),
    "optimizers",
    "compress",
    "compress-real",
    "compress-gate",
    "mailboxes",
    "serving",
    "workers",
    "refine",
    "proofs",
    "judges",
    "images",
    "install",
    "jobs",
    "vendors",
    "tools",
    "caching",
)


# These have options, and write no page unless they are run as a whole.
COMMANDS = {
    "batches": "bench.batches",
    "clusters": "bench.clusters",
    "faults": "bench.faults.command",
    "local-speed": "bench.local_speed",
    "mixtures": "bench.mixtures",
    "outages": "bench.faults.outages",
    "qwen-judge": "bench.qwen.judge",
    "qwen-tools": "bench.qwen.tools",
    "races": "bench.races",
    "real": "bench.real.command",
    "soft": "bench.real.soft",
}


def main() -> None:
    """Run the named benches, or all."""
    if command := COMMANDS.get("".join(sys.argv[1:2])):
        import_module(command).main(sys.argv[2:])
        return
    wanted = sys.argv[1:] or NAMES
    for name in wanted:
        if name not in NAMES:
            raise SystemExit(f"there is no bench {name!r}; known are {', '.join(NAMES)}")
    for name in wanted:
        print(f"measuring {name} …", file=sys.stderr)
        section = import_module(f"bench.{name.replace('-', '_')}").run()
        save(section)
        for row in section.rows:
            print("  " + "  ".join(str(cell) for cell in row))


main()
