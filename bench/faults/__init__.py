"""Faults and outages while something runs: what of it was lost, doubled, blamed, or hung.

Each hits a small run at one place. Whatever stops is resumed until it has ended, and its result is
compared with that of a run that nobody disturbed. `python -m bench faults` has many faults with short
limits, `python -m bench outages` outages of real length with the limits of the product. What was tried
stands in `build/bench/faults.jsonl` and `outages.jsonl`: a command that was killed goes on.
"""

import sys

from bench.processes import ROOT

# The worlds that are disturbed are those of the tests.
for folder in (ROOT, ROOT / "tests" / "integration"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
