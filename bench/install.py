"""How large an install is: the wheel in new environments, without and with the extra `local`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.results import Section

ROOT = Path(__file__).parents[1]
# What an install may add: megabytes (2**20 bytes, as `du -m` says) and packages.
MOST_CORE, MOST_PACKAGES, MOST_LOCAL = 170, 45, 110
# What a new environment brings by itself.
_BROUGHT = ("pip", "setuptools")


def run() -> Section:
    """Build the wheel, install it, and weigh what is there; too much ends in an error."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = _wheel(Path(folder))
        bare = _environment(Path(folder) / "bare")
        core = _environment(Path(folder) / "core", str(wheel))
        local = _environment(Path(folder) / "local", f"{wheel}[local]")
        sizes = {name: _megabytes(path) for name, path in _named(bare, core, local)}
        packages = {name: _packages(path) for name, path in _named(bare, core, local)}
        largest = _largest(core)
        weight = wheel.stat().st_size / 2**20
    added, more = sizes["core"] - sizes["bare"], sizes["local"] - sizes["core"]
    section = Section(
        name="install",
        title="Install: what `pip install burnish` comes to",
        command="python -m bench install",
        columns=["", "MB", "at most", "packages", "at most"],
        rows=[
            ["a new environment", round(sizes["bare"]), "", 0, ""],
            ["what `burnish` adds", round(added), MOST_CORE, packages["core"], MOST_PACKAGES],
            ["what `burnish[local]` adds", round(more), MOST_LOCAL, _more(packages), ""],
        ],
        notes=[
            f"The wheel has {weight:.1f} MB.",
            "Sizes are of whole environments as `du -m` says, with compiled files; packages are those "
            "of `pip list` without pip and setuptools, which a new environment has.",
            f"Largest: {', '.join(largest)}.",
        ],
    )
    if added > MOST_CORE or packages["core"] > MOST_PACKAGES or more > MOST_LOCAL:
        raise SystemExit(f"the install is too large: {section.rows}")
    return section


def _named(*paths: Path) -> list[tuple[str, Path]]:
    return [(path.name, path) for path in paths]


def _more(packages: dict[str, int]) -> int:
    return packages["local"] - packages["core"]


def _wheel(folder: Path) -> Path:
    """The wheel of what is committed or changed here; nothing is built in the checkout itself."""
    copy = folder / "source"
    listed = _out(
        "git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    )
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    _out(*pip, str(copy))
    (wheel,) = folder.glob("burnish-*.whl")
    return wheel


def _environment(path: Path, *requirements: str) -> Path:
    _out(sys.executable, "-m", "venv", str(path))
    if requirements:
        _out(str(path / "bin" / "pip"), "install", "--quiet", *requirements)
    return path


def _packages(path: Path) -> int:
    listed = json.loads(_out(str(path / "bin" / "pip"), "list", "--format", "json"))
    return sum(package["name"] not in _BROUGHT for package in listed)


def _megabytes(path: Path) -> float:
    found = [path, *path.rglob("*")]
    return sum(one.lstat().st_blocks for one in found) * 512 / 2**20


def _largest(path: Path) -> list[str]:
    (site,) = path.glob("lib/python*/site-packages")
    sizes = sorted(((_megabytes(one), one.name) for one in site.iterdir()), reverse=True)
    return [f"{name} {size:.0f}" for size, name in sizes[:8]]


def _out(*command: str) -> str:
    # Bytecode is part of what users get, whatever this process was told.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout
