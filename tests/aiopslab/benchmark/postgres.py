"""A genuine PostgreSQL server of Debian 12, for tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BIN = Path("/usr/lib/postgresql/15/bin")
PASSWORD = "not-for-any-record-4711"
PATIENCE_S = 120


class Server:
    """A server on a Unix socket, with a password. It refuses to run as root, so that root runs it as ``postgres``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._as_user = (
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        )
        if self._as_user:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options = ["--auth=scram-sha-256", "--username=bench", f"--pwfile={secret}", "--no-sync"]
        self._run("initdb", "-D", str(folder / "data"), *options)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(BIN / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, timeout=PATIENCE_S)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, "-o", options, "start")

    def kill(self) -> None:
        """End the server at once, without a word to its clients."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGQUIT)
        while (self.folder / "data" / "postmaster.pid").exists():
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop the server."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def make_url(self, database: str, password: str = PASSWORD) -> str:
        return f"postgresql://bench:{password}@/{database}?host={self.folder}"


@contextmanager
def run_server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="aiopslab-pg-"))
    try:
        server = Server(folder)
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
