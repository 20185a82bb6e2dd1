"""Three servers over one PostgreSQL, beside pgbench with the same rows in the same batches.

pgbench has the machine for itself and the database. What is left of its rate when the rows come
from clients, through three servers that number a session's events and do no more, is measured, too.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programs import Programs
from rounds import Figures, Measured, alternate
from server import Server, free_port, running

REPLICAS, CLIENTS, SECONDS = 3, 256, 4
TOKEN = "token-of-the-bench"

# Transactions that a server has under way at a time.
LANES = 2

# PostgreSQL does not run as root; Debian's package makes this user.
ACCOUNT = "postgres"

# What pgbench inserts: rows as ours, made in the database, which costs less than sending them.
INSERT = """
INSERT INTO limit_events (session_id, seq, place, event_id, event_key, timestamp, time, kind,
    agent_name, invocation_id, author, size, packed, payload)
SELECT md5(:client_id || '-' || n % 21)::uuid, nextval('limit_places'), n, gen_random_uuid()::text,
    gen_random_uuid(), 1767607200000, 1.5, 'event', 'agent', 'e-1', 'agent', 600, false,
    decode(repeat('78', 600), 'hex')
FROM generate_series(1, {rows}) AS n;
"""


@dataclass(frozen=True)
class Database:
    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgres://{ACCOUNT}@127.0.0.1:{self.port}/postgres"

    def query(self, sql: str) -> str:
        words = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", self.url, "-c", sql]
        told = subprocess.run([self.programs / "psql", *words], check=True, stdout=subprocess.PIPE)
        return told.stdout.decode().strip()

    def rows_in_a_commit(self, after: int) -> float:
        """How many events were written together; every row knows its transaction."""
        counts = "count(*)::float / greatest(count(DISTINCT xmin::text), 1)"
        return float(self.query(f"SELECT {counts} FROM events WHERE place > {after}"))

    def rows_per_second(self, rows: int) -> float:
        """pgbench with as many clients as our servers have transactions, so many rows in each."""
        script = self.folder / "insert.sql"
        script.write_text(INSERT.format(rows=rows))
        words = ["--no-vacuum", "--protocol=prepared", f"--client={REPLICAS * LANES}", "--jobs=2"]
        words += [f"--time={SECONDS}", f"--file={script}", self.url]
        told = subprocess.run(
            [self.programs / "pgbench", *words], check=True, capture_output=True, text=True
        )
        line = next(line for line in told.stdout.splitlines() if line.startswith("tps = "))
        return float(line.split()[2]) * rows


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgres())
        options = ("--store", database.url, "--token", TOKEN)
        servers = [
            stack.enter_context(running(programs.hotseat, *options)) for _ in range(REPLICAS)
        ]
        database.query("CREATE TABLE limit_events (LIKE events INCLUDING ALL)")
        database.query("CREATE SEQUENCE limit_places CACHE 1000")
        # Room for a row to be changed in its place, which is what our sessions have.
        numbered = "session_id uuid PRIMARY KEY, last_seq bigint NOT NULL"
        database.query(f"CREATE TABLE limit_sessions ({numbered}) WITH (fillfactor = 50)")
        least = [
            stack.enter_context(programs.least_of_several(database.url)) for _ in range(REPLICAS)
        ]
        batch = 1

        def ours() -> Measured:
            nonlocal batch
            last = int(database.query("SELECT coalesce(max(place), 0) FROM events"))
            told = loaded(servers)
            batch = max(round(database.rows_in_a_commit(last)), 1)
            return {
                "postgres.hotseat": told["per_second"],
                "postgres.p99_ms": told["p99_ms"],
                "postgres.rows_in_a_commit": batch,
            }

        def pgbench() -> Measured:
            return {"postgres.pgbench": database.rows_per_second(batch)}

        def limit() -> Measured:
            return {"postgres.least": loaded(least)["per_second"]}

        def loaded(at: list[Server]) -> dict[str, Any]:
            urls = ",".join(server.url for server in at)
            return programs.run("load", urls, TOKEN, CLIENTS, SECONDS)

        await alternate(figures, rounds, {"hotseat": ours, "pgbench": pgbench, "least": limit})


@contextlib.contextmanager
def postgres() -> Iterator[Database]:
    """A server of its own on loopback, with PostgreSQL's own settings: it syncs every commit."""
    programs = folder_of_programs()
    folder = Path(tempfile.mkdtemp(prefix="hotseat-bench-"))
    identity: dict = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam(ACCOUNT)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}

    def run(program: str, *words: str) -> None:
        command = [programs / program, *words]
        # Its server would hold a pipe open.
        with (folder / "log").open("ab") as log:
            subprocess.run(command, check=True, cwd=folder, stdout=log, stderr=log, **identity)

    data, port = str(folder / "data"), free_port()
    try:
        run("initdb", "--no-sync", "-A", "trust", "-U", ACCOUNT, "-E", "UTF8", "-D", data)
        settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c max_connections=200"
        settings += f" -c unix_socket_directories={folder}"
        run("pg_ctl", "start", "--wait", "-D", data, "-o", settings)
        try:
            yield Database(programs, folder, port)
        finally:
            run("pg_ctl", "stop", "--wait", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder)


def folder_of_programs() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (installed and installed[-1])
    if not found:
        raise SystemExit("there is no PostgreSQL here: install the package `postgresql`")
    return Path(found).resolve().parent
