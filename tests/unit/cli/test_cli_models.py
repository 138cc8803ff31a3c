from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from burnish.cli.commands.models import showing_bytes
from burnish.cli.invocation import run_command
from burnish.models.local import pull as pulling


@pytest.fixture
def pulled(monkeypatch, tmp_path):
    def pull(name, *, progress=None, received=None):
        if progress:
            progress("downloading it")
        if received:
            for here in range(0, 98_362_433, 1_000_000):
                received(here)
        return tmp_path / f"{name}.gguf"

    monkeypatch.setattr(pulling, "pull", pull)
    return tmp_path / "smollm2-135m.gguf"


def test_without_a_terminal_each_tenth_is_a_line(pulled, capsys):
    assert run_command(["models", "pull", "local/smollm2-135m"]) == 0

    said = capsys.readouterr()
    first, *tenths = said.err.splitlines()
    assert said.out.strip() == str(pulled)
    assert first == "downloading it"
    assert (tenths[0], tenths[-1]) == ("10 of 98 MB", "89 of 98 MB")
    assert len(tenths) == 9


def test_on_a_terminal_there_is_a_bar():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)

    with showing_bytes(console, 2_000_000) as received:
        received(1_000_000)

    shown = console.file.getvalue()
    assert "1.0/2.0 MB" in shown
    assert "of 2 MB" not in shown


def test_json_is_the_document_alone(pulled, capfd):
    assert run_command(["models", "pull", "smollm2-135m", "--json"]) == 0

    said = capfd.readouterr()
    assert json.loads(said.out) == {"name": "smollm2-135m", "path": str(pulled)}
    assert said.err == ""


def test_the_list_says_what_is_here_and_how_large_it_is(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    (tmp_path / "models").mkdir()
    with (tmp_path / "models" / "smollm2-135m.gguf").open("wb") as file:
        file.truncate(98_362_432)

    assert run_command(["models", "list"]) == 0

    small, large, embedder = capsys.readouterr().out.splitlines()
    assert small == (
        f"local/smollm2-135m  98 MB  Apache-2.0  2048 tokens  {tmp_path}/models/smollm2-135m.gguf"
    )
    assert large == (
        "local/qwen2.5-coder-1.5b  1117 MB  Apache-2.0  8192 tokens  "
        "not here: burnish models pull qwen2.5-coder-1.5b"
    )
    assert embedder == (
        "all-minilm-l6-v2  91 MB  Apache-2.0  256 tokens  "
        "not here: burnish models pull all-minilm-l6-v2"
    )
