"""Picture files on a full disk, under kills, and on an S3 that answers badly or not at all."""

import asyncio
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from tests.servers.s3 import SECRET_KEY, Fault
from tests.support.child_processes import children, line
from tests.support.image_samples import digest_of

from burnish.domain import UnavailableError, UsageError
from burnish.storage import LocalImageFiles, ObjectImageFiles
from burnish.storage.engine import failpoints
from burnish.testing.clocks import FakeClock

DATA = b"a picture" * 1000
DIGEST = digest_of(DATA)

FULL_DISK = """
import asyncio, sys
from pathlib import Path
from burnish.domain import UnavailableError
from burnish.storage import LocalImageFiles
from tests.support.image_samples import digest_of

folder = Path(sys.argv[1])
small, large = b"small", bytes(3_000_000)

def there():
    return sorted(path.name[:6] for path in folder.rglob("*") if path.is_file())

async def fill():
    files = LocalImageFiles(folder)
    await files.put(digest_of(small), small)
    try:
        await files.put(digest_of(large), large)
    except UnavailableError as error:
        print(error.code, "|", error.why, "|", error.fix)
    print(there() == [digest_of(small)[:6]])
    try:
        await files.get(digest_of(large))
    except Exception as error:
        print(error.code)
    (folder / "ballast").write_bytes(bytes(1_000_000))
    await files.put(digest_of(b"more"), b"more")
    print(await files.get(digest_of(small)), await files.get(digest_of(b"more")))

asyncio.run(fill())
"""

# Two writers: one dies with a whole picture that has no name yet, one when its write is done.
KILLED = """
import asyncio, os, signal, sys
from burnish.storage import LocalImageFiles
from burnish.storage.engine import failpoints
from tests.support.image_samples import digest_of

def reach(place):
    if place.endswith(dies_at):
        os.kill(os.getpid(), signal.SIGKILL)

failpoints.on_reach = reach
for dies_at in (":unfinished", ":after"):
    data = dies_at.encode() * 1000
    if not (writer := os.fork()):
        asyncio.run(LocalImageFiles(sys.argv[1]).put(digest_of(data), data))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]), flush=True)
"""


def unfinished(folder):
    return list((folder / ".unfinished").glob("*"))


def test_a_full_disk_leaves_no_half_picture_and_loses_none(tmp_path):
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("needs the right to mount")
    mount = f'mount -t tmpfs -o size=2m none "{tmp_path}" && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-W", "error"]

    done = subprocess.run(
        [*command, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines() == [
        "STORAGE_WRITE_FAILED | the disk is full | "
        "free some space; every picture stored so far is kept",
        "True",
        "not_found",
        "b'small' b'more'",
    ], done.stderr


async def test_a_writer_that_was_killed_leaves_a_whole_picture_or_none(tmp_path):
    with children(KILLED, [(str(tmp_path),)]) as (parent,):
        assert [await asyncio.to_thread(line, parent) for _ in range(2)] == ["-9", "-9"]
    files = LocalImageFiles(tmp_path)
    lost, kept = b":unfinished" * 1000, b":after" * 1000
    assert await files.get(digest_of(kept)) == kept
    with pytest.raises(UsageError, match="no picture"):
        await files.get(digest_of(lost))
    assert len(unfinished(tmp_path)) == 1

    # It may still be somebody's, so a store of the same time leaves it alone.
    await files.put(digest_of(lost), lost)
    assert len(unfinished(tmp_path)) == 1
    later = FakeClock(datetime.now(UTC) + timedelta(hours=2))
    await LocalImageFiles(tmp_path, clock=later).put(DIGEST, DATA)

    assert unfinished(tmp_path) == []
    assert await files.get(digest_of(lost)) == lost


async def test_a_write_that_fails_in_the_middle_leaves_nothing(tmp_path, monkeypatch):
    def fail(_place):
        if _place.endswith(":unfinished"):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(failpoints, "on_reach", fail)
    with pytest.raises(UnavailableError, match="Input/output error") as caught:
        await LocalImageFiles(tmp_path).put(DIGEST, DATA)

    assert caught.value.code == "STORAGE_WRITE_FAILED"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "images").write_text("a file")
    files = LocalImageFiles(tmp_path / "images")

    with pytest.raises(UnavailableError, match="images") as caught:
        await files.put(DIGEST, DATA)
    assert caught.value.code == "STORAGE_WRITE_FAILED"
    with pytest.raises(UnavailableError, match="images") as caught:
        await files.get(DIGEST)
    assert caught.value.code == "STORAGE_READ_FAILED"


async def test_no_link_leads_out_of_a_picture_s_name(tmp_path):
    outside = tmp_path / "secret"
    outside.write_bytes(b"secret")
    path = tmp_path / "images" / DIGEST[:2] / DIGEST[2:4] / DIGEST
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    files = LocalImageFiles(tmp_path / "images")

    with pytest.raises(UnavailableError):
        await files.get(DIGEST)
    await files.put(DIGEST, DATA)

    assert outside.read_bytes() == b"secret"
    assert not os.path.islink(path)


@pytest.fixture
def server(s3):
    s3.misbehave()
    yield s3
    s3.misbehave()


@pytest.fixture
def address():
    return f"s3://overrides/{uuid.uuid4().hex}"


async def test_an_s3_that_is_unavailable_for_a_moment_is_waited_for(server, address):
    files = ObjectImageFiles(address, **server.settings)

    server.misbehave(Fault(status=503), Fault(status=500, after=True))
    await files.put(DIGEST, DATA)
    server.misbehave(Fault(status=503))

    assert await files.get(DIGEST) == DATA
    assert server.requests() == 2


async def test_an_s3_that_stays_unavailable_is_given_up_by_the_deadline(server, address):
    files = ObjectImageFiles(address, deadline_seconds=0.3, **server.settings)
    calls = {
        "STORAGE_WRITE_FAILED": lambda: files.put(DIGEST, DATA),
        "STORAGE_READ_FAILED": lambda: files.get(DIGEST),
    }

    for fault in (Fault(status=503), Fault(seconds=0.6)):
        for code, call in calls.items():
            server.misbehave(*[fault] * 10)
            with pytest.raises(UnavailableError) as caught:
                await call()
            assert caught.value.code == code
            assert SECRET_KEY not in repr(caught.value.to_json())


async def test_an_s3_that_refuses_says_why(server, address):
    files = ObjectImageFiles(address, **server.settings)
    elsewhere = ObjectImageFiles("s3://no-such-bucket/x", **server.settings)

    server.misbehave(Fault(status=403))
    with pytest.raises(UnavailableError, match="denies access") as caught:
        await files.put(DIGEST, DATA)
    assert caught.value.code == "STORAGE_WRITE_FAILED"
    server.misbehave()
    for call in (lambda: elsewhere.put(DIGEST, DATA), lambda: elsewhere.get(DIGEST)):
        with pytest.raises(UnavailableError, match="no such bucket") as caught:
            await call()
        assert SECRET_KEY not in str(caught.value)


async def test_an_s3_that_is_not_there_is_unavailable():
    settings = {"endpoint": "http://127.0.0.1:9", "region": "x", "access_key_id": "a"}
    files = ObjectImageFiles(
        "s3://b/x", deadline_seconds=0.3, secret_access_key=SECRET_KEY, **settings
    )

    with pytest.raises(UnavailableError) as caught:
        await files.put(DIGEST, DATA)

    assert caught.value.code == "STORAGE_WRITE_FAILED"
    assert SECRET_KEY not in str(caught.value)


@pytest.mark.parametrize("address", ["nonsense", "ftp://canary-user:canary-password@host/x"])
def test_an_address_that_cannot_be_understood_is_refused_without_repeating_it(address):
    with pytest.raises(UsageError, match="s3://bucket/folder") as caught:
        ObjectImageFiles(address)

    assert caught.value.code == "invalid_address"
    assert "canary" not in str(caught.value)
