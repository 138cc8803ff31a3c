"""Where Python 3.13 is on this machine: `python -m tests.wink.interpreter` prints it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

WANTED = "3.13"


def candidates():
    """What may be one, the likeliest first."""
    if given := os.environ.get("BURNISH_PYTHON313"):
        yield given
    if on_path := shutil.which(f"python{WANTED}"):
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(map(str, pyenv.glob(f"versions/{WANTED}*/bin/python")), reverse=True)
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is not None:
        found = run([uv, "python", "find", "--no-python-downloads", WANTED])
        if found is not None:
            yield found


def run(command):
    """What it prints; None when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def find():
    """The first that runs and is of the version; None when there is none."""
    # A shim on PATH may be there and refuse to start.
    ask = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2], sep='\\n')"
    for one in candidates():
        answer = run([one, "-c", ask])
        if answer is not None and answer.endswith(f"\n{WANTED}"):
            return answer.splitlines()[0]
    return None


if __name__ == "__main__":
    found = find()
    if found is None:
        sys.exit(f"There is no Python {WANTED}: install it, or name it with BURNISH_PYTHON313=…")
    print(found)
