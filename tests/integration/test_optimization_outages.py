"""The database goes away in the middle of a run, or the disk is full."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from optimization_world import World, fingerprint, run
from tests.servers.postgres import running_postgres


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fingerprint(asyncio.run(run(World(tmp_path_factory.mktemp("calm")))))


@pytest.fixture
def server():
    # One of its own: it is stopped and started.
    with running_postgres() as server:
        yield server


@pytest.mark.parametrize("over_socket", [False, True], ids=["tcp", "socket"])
async def test_postgresql_restarted_in_mid_run(over_socket, server, expected, tmp_path):
    world = World(tmp_path, item_seconds=0.01)
    world.db = server.url(server.create_database(), over_socket=over_socket)
    task = asyncio.create_task(run(world))
    for calls in (40, 120):
        while len(world.calls()) < calls and not task.done():
            await asyncio.sleep(0.01)
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)

    result = await asyncio.wait_for(task, 600)

    assert fingerprint(result) == expected


async def test_a_database_that_is_away_for_seconds(server, expected, tmp_path):
    world = World(tmp_path, item_seconds=0.01)
    world.db = server.url(server.create_database())
    task = asyncio.create_task(run(world))
    while len(world.calls()) < 60:
        await asyncio.sleep(0.01)
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(2)  # Longer than any pause between two attempts.
    await asyncio.to_thread(server.start)

    result = await asyncio.wait_for(task, 600)

    assert fingerprint(result) == expected


FULL_DISK = """
    import asyncio, json, sys
    sys.path.insert(0, sys.argv[1])
    from optimization_world import World, fingerprint, run
    from burnish.domain import UnavailableError

    world = World(sys.argv[2])
    world.log = __import__("pathlib").Path(sys.argv[3]) / "calls.log"
    world.id_file = world.log.with_name("id")
    filler = open(f"{sys.argv[2]}/filler", "wb")
    try:
        while True:
            filler.write(b"x" * 65536)
            filler.flush()
    except OSError:
        pass
    # Some room for the beginning, and not enough for the whole run.
    filler.truncate(filler.tell() - 700_000)
    try:
        asyncio.run(run(world))
        print("finished")
    except UnavailableError as error:
        print(f"unavailable: {error}")
    filler.truncate(0)
    result = asyncio.run(run(world))
    print(json.dumps(fingerprint(result), sort_keys=True, default=str))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a mount namespace")
def test_a_full_disk_ends_the_run_clearly_and_room_lets_it_go_on(expected, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(FULL_DISK))
    here = str(Path(__file__).parent)
    command = (
        f"mount -t tmpfs -o size=24m tmpfs {small} && "
        f"exec {sys.executable} {script} {here} {small} {tmp_path}"
    )

    finished = subprocess.run(
        ["unshare", "-m", "sh", "-c", command],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )

    assert finished.returncode == 0, finished.stderr
    first, last = finished.stdout.strip().splitlines()
    assert first.startswith("unavailable:")
    assert "disk" in first or "full" in first
    assert json.loads(last) == json.loads(json.dumps(expected, sort_keys=True, default=str))
