"""How much processor time `burnish --help` and `burnish list` take, and what they load."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from bench.results import Section

HEAVY = ("sqlalchemy", "fastapi", "openai", "numpy", "pydantic", "alembic")
# What a start may take: user and system time of the best of so many, in seconds.
MOST = {"--help": 0.25, "list": 0.45}
TRIES = 5

_BURNISH = "from burnish.cli import main; main({arguments!r})"


def run() -> Section:
    """Processor time of the best start, against an empty Python program in the same run."""
    with tempfile.TemporaryDirectory() as folder:
        _burnish(folder, "init", "-t", "python", ".")
        _burnish(folder, "eval")
        programs = {"python with nothing": "pass"} | {
            f"burnish {name}": _BURNISH.format(arguments=[name]) for name in MOST
        }
        best = {
            name: min(_seconds(program, folder) for _ in range(TRIES))
            for name, program in programs.items()
        }
        loaded = {name: _loaded(program, folder) for name, program in programs.items()}
    return Section(
        name="startup",
        title="Start: `burnish --help` and `burnish list`",
        command="python -m bench startup",
        columns=["", f"seconds of processor time (best of {TRIES})", "at most", "loads"],
        rows=[
            [
                name,
                f"{seconds:.3f}",
                str(MOST.get(name.removeprefix("burnish "), "")),
                ", ".join(loaded[name]) or "none",
            ]
            for name, seconds in best.items()
        ],
        notes=[f"Loaded of {', '.join(HEAVY)}."],
    )


def _burnish(folder: str, *arguments: str) -> None:
    program = _BURNISH.format(arguments=list(arguments))
    subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, check=True)


def _seconds(program: str, folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _loaded(program: str, folder: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    names = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    return sorted(names & set(HEAVY))
