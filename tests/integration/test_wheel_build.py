"""The wheel has the web UI where it was built, and is whole without it."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import burnish_build; print(burnish_build.build_wheel('out'))"


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as a build needs, with a few of its packages."""
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "build_backend", tmp_path / "build_backend")
    package = tmp_path / "src" / "burnish"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "src" / "burnish" / "__init__.py", package)
    unbuilt = shutil.ignore_patterns("ui_dist*", "__pycache__")
    shutil.copytree(ROOT / "src" / "burnish" / "server", package / "server", ignore=unbuilt)
    return tmp_path


def wheel(checkout, **variables):
    ended = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": "build_backend", **variables},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    with zipfile.ZipFile(checkout / "out" / ended.stdout.split()[-1]) as built:
        return set(built.namelist()), ended.stderr


def test_the_built_ui_is_in_the_wheel(checkout):
    ui = checkout / "src" / "burnish" / "server" / "ui_dist"
    (ui / "assets").mkdir(parents=True)
    (ui / "index.html").write_text("<!doctype html>")
    (ui / "assets" / "index-abc.js").write_text("export {};")

    names, _ = wheel(checkout)

    assert "burnish/server/ui_dist/index.html" in names
    assert "burnish/server/ui_dist/assets/index-abc.js" in names
    assert "burnish/server/http/app.py" in names
    assert not any("burnish_build" in name for name in names)


def test_a_wheel_is_whole_without_node_and_without_the_ui(checkout, tmp_path_factory):
    nothing = str(tmp_path_factory.mktemp("empty"))

    names, said = wheel(checkout, PATH=nothing)

    assert "burnish/server/http/app.py" in names
    assert not any("ui_dist" in name for name in names)
    assert "no web UI" in said


def test_the_ui_is_built_where_there_is_node(checkout):
    tools, ui = checkout / "tools", checkout / "ui"
    tools.mkdir()
    ui.mkdir()
    (ui / "package.json").write_text("{}")
    npm = tools / "npm"
    npm.write_text(
        '#!/bin/sh\n[ "$1" = ci ] || { mkdir -p dist && echo built > dist/index.html; }\n'
    )
    npm.chmod(0o755)

    names, _ = wheel(checkout, PATH=f"{tools}:{os.environ['PATH']}")

    assert "burnish/server/ui_dist/index.html" in names
