"""Real database servers for tests: started in a folder of their own, on a local socket, and stopped at the end.

Debian's packages are used (`make databases`). Where there is none, tests that need one are skipped with a message,
unless HUBBUB_DATABASES_REQUIRED is set, as in CI.
"""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

WAIT = 60.0


def missing(what: str) -> None:
    """Skip, or fail where a server must be there."""
    message = f"{what} is not installed: run `make databases`"
    if os.environ.get("HUBBUB_DATABASES_REQUIRED"):
        pytest.fail(message)
    pytest.skip(message)


def unprivileged(user: str) -> tuple[list[str], int, int]:
    """How to run a command as the server's own user: root must not, anybody else may."""
    if os.getuid() != 0:
        return [], os.getuid(), os.getgid()
    found = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={user}", f"--regid={found.pw_gid}", "--clear-groups"], found.pw_uid, found.pw_gid


@contextlib.contextmanager
def folder(user: str) -> Iterator[Path]:
    """A short path (sockets have short names) that the server's user owns."""
    path = Path(tempfile.mkdtemp(prefix="hubbub-server-"))
    try:
        _, uid, gid = unprivileged(user)
        os.chown(path, uid, gid)
        path.chmod(0o755)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def waited(ready: Callable[[], bool]) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + WAIT
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError("the server did not come up")
        time.sleep(0.1)


@contextlib.contextmanager
def running(command: list[str], ready: Callable[[], bool]) -> Iterator[subprocess.Popen[bytes]]:
    """A server from when it answers until it is stopped."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        waited(ready)
        yield server
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server with a user `ann` whose password is `lilac`."""
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not places:
        missing("PostgreSQL")
    programs = Path(places[-1])
    with folder("postgres") as here:
        alone, *_ = unprivileged("postgres")
        data = here / "data"
        made = [*alone, str(programs / "initdb"), "-D", str(data), "-U", "owner", "--auth=trust", "-E", "UTF8", "-N"]
        subprocess.run(made, check=True, capture_output=True)
        rules = "local all owner trust\nlocal all all scram-sha-256\n"
        (data / "pg_hba.conf").write_text(rules)
        settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={here}", "-c", "fsync=off"]
        address = f"postgresql:///postgres?host={here}&user=owner"
        psql = [str(programs / "psql"), address, "-qAt"]

        def ready() -> bool:
            return subprocess.run([*psql, "-c", "SELECT 1"], capture_output=True, check=False).returncode == 0

        with running([*alone, str(programs / "postgres"), "-D", str(data), *settings], ready):
            subprocess.run([*psql, "-c", "CREATE ROLE ann LOGIN PASSWORD 'lilac'"], check=True)
            yield address


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """The address of a MariaDB server with a user `ann` whose password is `lilac`."""
    server, install = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if server is None or install is None:
        missing("MariaDB")
    with folder("mysql") as here:
        alone, *_ = unprivileged("mysql")
        data, socket = here / "data", here / "socket"
        plain = ["--no-defaults", f"--datadir={data}"]
        subprocess.run(
            [*alone, str(install), *plain, "--auth-root-authentication-method=normal"], check=True, capture_output=True
        )
        client = [str(shutil.which("mariadb")), "--no-defaults", f"--socket={socket}", "-uroot", "-e"]

        def ready() -> bool:
            return subprocess.run([*client, "SELECT 1"], capture_output=True, check=False).returncode == 0

        own = [
            *plain,
            f"--socket={socket}",
            "--skip-networking",
            "--innodb-flush-log-at-trx-commit=0",
            f"--pid-file={here}/pid",
        ]
        with running([*alone, str(server), *own], ready):
            user = "DROP USER IF EXISTS ''@localhost; CREATE USER ann@localhost IDENTIFIED BY 'lilac'"
            grant = f"CREATE DATABASE shop; {user}; GRANT ALL ON shop.* TO ann@localhost"
            subprocess.run([*client, grant], check=True)
            yield f"mariadb://ann@localhost/shop?socket={socket}"
