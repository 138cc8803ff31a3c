"""Files under many processes, kills, foreign locks and a full disk."""

import asyncio
import signal
import subprocess
import sys

import pytest
from tests.support.child_processes import children, line

from burnish.domain import UnavailableError
from burnish.overrides import LocalPromptOverridesStore
from burnish.testing.samples.overrides import HERE, PROMPT, bodies, many_sections, override

# Forks so many real processes out of one that has everything loaded.
MANY_PROCESSES = """
import asyncio, os, sys
from burnish.overrides import LocalPromptOverridesStore
from burnish.testing.samples.overrides import many_sections, override_of

folder, count = sys.argv[1], int(sys.argv[2])
prompt = many_sections(count)
ready, start = os.pipe()

def write(number):
    os.read(ready, 1)
    store = LocalPromptOverridesStore(folder)
    one = override_of(prompt, f"s{number}", f"by {number}")
    asyncio.run(store.store(prompt, one, tag="t"))

for number in range(count):
    if os.fork() == 0:
        try:
            write(number)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
os.write(start, b"x" * count)
print("failed", sum(os.wait()[1] != 0 for _ in range(count)), flush=True)
"""

# Again and again a process writes 1, 2, 3 and says each number once its write is done, and is killed.
KILLED = """
import asyncio, itertools, os, random, signal, sys, time
from burnish.overrides import LocalPromptOverridesStore
from burnish.testing.samples.overrides import PROMPT, bodies, override

store = LocalPromptOverridesStore(sys.argv[1])

async def count(after, says):
    for number in itertools.count(after + 1):
        await store.store(PROMPT, override("system", str(number) + "x" * 5_000), tag="t")
        os.write(says, b"%d " % number)

draw, last = random.Random(7), 0
for _ in range(int(sys.argv[2])):
    hears, says = os.pipe()
    writer = os.fork()
    if not writer:
        asyncio.run(count(last, says))
    os.close(says)
    said = os.read(hears, 1)
    time.sleep(draw.random() * 0.05)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    said += b"".join(iter(lambda: os.read(hears, 1000), b""))
    os.close(hears)
    text = asyncio.run(bodies(store, "t"))["system"]
    found = int(text.rstrip("x"))
    assert text == str(found) + "x" * 5_000, text
    assert int(said.split()[-1]) <= found <= int(said.split()[-1]) + 1, (said, found)
    last = found
print("never lost", last >= int(sys.argv[2]), flush=True)
"""

# Stops in the middle of a write, with the lock held and the new file half on its way.
STUCK = """
import asyncio, os, sys, time
from burnish.overrides import LocalPromptOverridesStore, files
from burnish.testing.samples.overrides import PROMPT, override

def stuck(handle):
    os.ftruncate(handle, 20)
    print("writing", flush=True)
    time.sleep(600)

files.os.fsync = stuck
asyncio.run(LocalPromptOverridesStore(sys.argv[1]).store(PROMPT, override("system", "new"), tag="t"))
"""

FULL_DISK = """
import asyncio, sys
from pathlib import Path
from burnish.domain import UnavailableError
from burnish.overrides import LocalPromptOverridesStore
from burnish.testing.samples.overrides import PROMPT, bodies, override

async def fill():
    store = LocalPromptOverridesStore(sys.argv[1])
    await store.store(PROMPT, override("system", "small"), tag="t")
    try:
        await store.store(PROMPT, override("user", "x" * 3_000_000), tag="t")
    except UnavailableError as error:
        print(error.why, "|", error.fix)
    print(await bodies(store, "t"))
    print(sorted(path.name for path in (Path(sys.argv[1]) / "support" / "router").iterdir()))
    await store.store(PROMPT, override("system", "still works"), tag="t")
    print(await bodies(store, "t"))

asyncio.run(fill())
"""


def files(folder):
    return sorted(path.name for path in (folder / "support" / "router").iterdir())


def test_fifty_processes_that_write_one_tag_lose_nothing(tmp_path):
    with children(MANY_PROCESSES, [(str(tmp_path), "50")]) as (parent,):
        assert line(parent) == "failed 0"

    store = LocalPromptOverridesStore(tmp_path)
    found = asyncio.run(bodies(store, "t", many_sections(50)))
    assert found == {f"s{number}": f"by {number}" for number in range(50)}
    assert files(tmp_path) == [".lock", "t.json"]


async def test_a_writer_killed_in_the_middle_leaves_no_half_file_and_no_lock(tmp_path):
    store = LocalPromptOverridesStore(tmp_path, lock_seconds=0.2)
    await store.store(PROMPT, override("system", "old"), tag="t")

    with children(STUCK, [(str(tmp_path),)]) as (writer,):
        assert await asyncio.to_thread(line, writer) == "writing"
        assert await bodies(store, "t") == {"system": "old"}
        assert len(files(tmp_path)) == 3
        with pytest.raises(UnavailableError, match="another process has kept") as caught:
            await store.store(PROMPT, override("user", "x"), tag="t")
        assert caught.value.code == "locked"
        writer.send_signal(signal.SIGKILL)
        writer.wait()

    assert await bodies(store, "t") == {"system": "old"}
    assert await store.list_tags(**HERE) == ["t"]
    await store.store(PROMPT, override("user", "next"), tag="t")
    assert await bodies(store, "t") == {"system": "old", "user": "next"}
    assert files(tmp_path) == [".lock", "t.json"]


def test_whenever_a_writer_is_killed_what_it_said_is_there(tmp_path):
    with children(KILLED, [(str(tmp_path), "20")]) as (parent,):
        assert line(parent) == "never lost True"


async def test_threads_with_loops_of_their_own_share_a_store(tmp_path):
    store = LocalPromptOverridesStore(tmp_path)
    prompt = many_sections(20)

    def write(number):
        section = prompt.sections[number]
        one = override(section.path, f"by {number}", text=f"Section {number}.")
        asyncio.run(store.store(prompt, one, tag="t"))

    await asyncio.gather(*(asyncio.to_thread(write, number) for number in range(20)))

    assert await bodies(store, "t", prompt) == {f"s{n}": f"by {n}" for n in range(20)}


def test_a_full_disk_loses_nothing_that_was_there(tmp_path):
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("needs the right to mount")
    mount = f'mount -t tmpfs -o size=2m none "{tmp_path}" && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-W", "error"]

    done = subprocess.run(
        [*command, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines() == [
        "the disk is full | free some space",
        "{'system': 'small'}",
        "['.lock', 't.json']",
        "{'system': 'still works'}",
    ], done.stderr


async def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "support").write_text("a file")
    store = LocalPromptOverridesStore(tmp_path)

    for attempt in (
        store.resolve(PROMPT, tag="t"),
        store.store(PROMPT, override("system", "x"), tag="t"),
        store.list_tags(**HERE),
    ):
        with pytest.raises(UnavailableError, match="support.*check the folder"):
            await attempt
