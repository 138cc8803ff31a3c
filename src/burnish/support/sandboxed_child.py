"""Sandboxed child: a command under a supervisor that ends it with everything it started.

Run by its file name it is that supervisor, on the standard library alone. It ends the command's
children however they detach themselves, and when whoever started it is gone, however that went.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
# Of Landlock's rights those that change a file or a folder, by the version that brought them.
_WRITING = ((1, 0x1FF2), (2, 0x2000), (3, 0x4000))
_ON_FILES = 0x4002
# Devices such as /dev/null are written to, and processes of one program share memory.
_DEVICES = "/dev"
_SHARED = (_DEVICES, "/dev/shm")  # noqa: S108
_NOT_STARTED = 127
_TRY_NETWORK = "--without-network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """What a command may do. `root` is removed if whoever started it goes without doing so.

    `writable` are the only folders to write in, where the kernel has Landlock. Without `network`
    it reaches nothing but itself; a kernel that refuses that is a reason not to start.
    """

    root: str
    writable: tuple[str, ...]
    network: bool = True
    max_file_bytes: int | None = None
    max_memory_bytes: int | None = None

    def command(self, command: Sequence[str]) -> list[str]:
        """What to start in place of the command."""
        options = json.dumps({**asdict(self), "parent": os.getpid()})
        return [sys.executable, "-I", "-S", __file__, options, *command]


def keeps_writes_inside() -> bool:
    """Whether the kernel can refuse writes outside of given folders."""
    return _landlock_version() > 0


@functools.cache
def can_cut_network() -> bool:
    """Whether the kernel lets us start a command without a network; tried in a child, once."""
    if sys.platform != "linux":
        return False
    import subprocess  # noqa: PLC0415 - the supervisor needs none of it

    asked = [sys.executable, "-I", "-S", __file__, _TRY_NETWORK]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0  # noqa: S603


def _main() -> None:
    if sys.argv[1] == _TRY_NETWORK:
        return _cut_network()
    options, command = json.loads(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, _end)
    code = 1
    try:
        if os.getppid() == options["parent"]:
            code = _supervise(options, command)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _end_children()
        if os.getppid() != options["parent"]:
            import shutil  # noqa: PLC0415 - seldom needed, and every command waits for this module

            shutil.rmtree(options["root"], ignore_errors=True)
    sys.exit(code)


def _end(*_: Any) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def _supervise(options: dict[str, Any], command: Sequence[str]) -> int:
    child = os.fork()
    if child == 0:
        _become(options, command)
    try:
        os.waitid(
            os.P_PID, child, os.WEXITED | os.WNOWAIT
        )  # Not reaped yet: its group is still its.
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # It may not have had a group of its own yet.
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def _become(options: dict[str, Any], command: Sequence[str]) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        _limit(options)
        if not options["network"]:
            _cut_network()
        _keep_writes_inside(options["writable"])
        os.execvp(command[0], list(command))  # noqa: S606 - what the project declares
    except BaseException as error:  # noqa: BLE001 - the child must not go on as a second supervisor
        os.write(2, f"{command[0]} cannot be run: {error}\n".encode())
        os._exit(_NOT_STARTED)


def _limit(options: dict[str, Any]) -> None:
    import resource  # noqa: PLC0415 - not there on every system

    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: options["max_file_bytes"],
        resource.RLIMIT_AS: options["max_memory_bytes"],
    }
    for kind, most in limits.items():
        if most is not None:
            hard = resource.getrlimit(kind)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (least, least))


def _cut_network() -> None:
    """A network of our own with nothing but a loopback in it. The user stays who it is."""
    import fcntl  # noqa: PLC0415 - few commands ask for it
    import socket  # noqa: PLC0415

    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the kernel gives it no network of its own")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        up = struct.pack("16sh", b"lo", 1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(one, 0x8914, up)  # SIOCSIFFLAGS


def _landlock_version() -> int:
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, 1)))


def _keep_writes_inside(folders: Sequence[str]) -> None:
    version = _landlock_version()
    if not version:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    rights = sum(right for since, right in _WRITING if version >= since)
    handled = struct.pack("Q", rights)
    rules = libc.syscall(_LANDLOCK_CREATE, handled, len(handled), 0)
    for path in (*folders, *filter(os.path.isdir, _SHARED)):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = rights & _ON_FILES if path == _DEVICES else rights
        rule = struct.pack("=Qi", allowed, place)
        if libc.syscall(_LANDLOCK_ADD, rules, 1, rule, 0) != 0:
            raise OSError(ctypes.get_errno(), f"{path} cannot be made writable")
        os.close(place)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(_LANDLOCK_RESTRICT, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel does not keep its writes inside")
    os.close(rules)


def _end_children() -> None:
    """All of them, and what they leave behind becomes ours and ends as well."""
    while True:
        for child in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _children() -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            if int(fields.rpartition(")")[2].split()[1]) == os.getpid():
                yield int(folder.name)


if __name__ == "__main__":
    _main()
