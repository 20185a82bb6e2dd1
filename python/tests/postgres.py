"""A PostgreSQL of a test's own, of the system's programs, in a folder that goes with it.

As a program it runs a command that finds one in its environment: `python postgres.py COMMAND …`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# PostgreSQL does not run as root; Debian's package makes this user.
_ITS_USER = "postgres"


@contextmanager
def postgres() -> Iterator[str]:
    """Runs a server that listens on a socket in its folder; the URL, without a driver."""
    programs = _programs()
    # Not below pytest's folders, which are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="hotseat-pg-"))
    as_user: dict[str, object] = {}
    user = "postgres"
    if os.geteuid() == 0:
        owner = pwd.getpwnam(_ITS_USER)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), *arguments]
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            **as_user,
        )

    data = str(folder / "data")
    try:
        run("initdb", "--no-sync", "-A", "trust", "-U", user, "-E", "UTF8", "-D", data)
        settings = f"-c listen_addresses= -c fsync=off -c unix_socket_directories={folder}"
        log = str(folder / "log")
        run("pg_ctl", "start", "--wait", "-D", data, "-l", log, "-o", settings)
        try:
            yield f"://{user}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "--wait", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder)


def new_database(server: str) -> str:
    """Makes a database in a server that `postgres` runs; its URL, without a driver."""
    name = f"test_{uuid.uuid4().hex}"
    execute(server, f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


def execute(server: str, sql: str) -> None:
    """Runs SQL in the first database of a server that `postgres` runs."""
    folder = server.partition("host=")[2]
    psql = [str(_programs() / "psql"), "-h", folder, "-U", "postgres", "-d", "postgres"]
    subprocess.run([*psql, "-c", sql], check=True, capture_output=True)


def _programs() -> Path:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    assert installed, "there is no PostgreSQL here: install the package `postgresql`"
    return installed[-1].parent


if __name__ == "__main__":
    with postgres() as server:
        environment = {**os.environ, "HOTSEAT_TEST_POSTGRES": server}
        sys.exit(subprocess.run(sys.argv[1:], env=environment, check=False).returncode)
