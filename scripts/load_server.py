"""Put load on ``aiopslab serve``, and check that every session ends in a record and that memory stays bounded.

    python scripts/load_server.py --clients 50 --seconds 300

Most clients work on sessions. Others kill the processes of their sessions, leave them idle, or are hostile: wrong tokens, bodies that are
no JSON or too large, sessions of others, connections that send or read too slowly. Every session marks its world with its id. Afterwards
the server is stopped in the middle of its work. The script prints a table, and fails if a session has no record, a session or a record has
the mark of another session, a journal or a process is left, a hostile request succeeded, or the memory was above its limit.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROBLEMS = (
    "misconfig_app_hotel_res-detection-1",
    "misconfig_app_hotel_res-mitigation-1",
    "revoke_auth_mongodb-localization-1",
    "noop_detection_hotel_reservation-1",
)
LINES = (
    "kubectl get pods -A",
    "kubectl get events -n test-hotel-reservation",
    "kubectl logs -n test-hotel-reservation deployment/geo --tail=50",
    "kubectl rollout undo deployment/geo -n test-hotel-reservation",
    "sleep 20",
    "while true; do :; done",
    "yes | head -c 100000000 | wc -c",
)
SUBMISSIONS = {"detection": 'submit("Yes")', "localization": 'submit(["geo"])', "mitigation": "submit()"}
IDLE_S = 30
WAIT_S = 300
END_S = 60
"""Maximum time for the processes of a stopped server to end."""
MARK = re.compile(r"mark-(\w+)")


@dataclass
class Load:
    """A server under load, and what its clients saw."""

    port: int
    token: str
    stop_at: float
    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """Duration of each action, as its client saw it."""
    tokens: list[tuple[str, str]] = field(default_factory=list)
    """Ids and tokens of sessions, for the hostile."""
    marked: set[str] = field(default_factory=set)
    """Sessions whose mark was answered, so that it must be in their records."""
    faults: list[str] = field(default_factory=list)
    """What must not happen."""

    def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """Send a request, and return status and document."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def begin(self, chance: random.Random) -> dict[str, Any] | None:
        """Begin a session and mark its world; None if there are too many, or it has ended."""
        status, session = self.ask("POST", "/api/sessions", {"problem": chance.choice(PROBLEMS)})
        self.counts[f"sessions: {status}"] += 1
        if status != 201:
            time.sleep(1)
            return None
        self.tokens.append((session["id"], session["token"]))
        return dict(session) if self.mark(session["id"]) else None

    def mark(self, id: str) -> bool:
        """Add the session's mark to a file of its world, which must have no other marks; return whether the session goes on."""
        answer = self.act(id, f'exec_shell("echo mark-{id} >> /tmp/marks; cat /tmp/marks")')
        if answer is None:
            return False
        self.marked.add(id)
        found = set(MARK.findall(answer["observation"]))
        if found != {id}:
            self.faults.append(f"session {id} has the marks of {', '.join(sorted(found)) or 'none'}")
        return True

    def act(self, id: str, action: str) -> dict[str, Any] | None:
        """Take a step; return the answer, None if the session is over."""
        began = time.monotonic()
        status, answer = self.ask("POST", f"/api/sessions/{id}/actions", {"action": action})
        self.seconds.append(time.monotonic() - began)
        self.counts[f"actions: {status}"] += 1
        return answer if status == 200 and not answer["ended"] else None

    def work(self, chance: random.Random) -> None:
        """Work on a session as an agent does."""
        session = self.begin(chance)
        if session is None:
            return
        for _ in range(chance.randint(1, 6)):
            if not self.act(session["id"], f"exec_shell({json.dumps(chance.choice(LINES))})"):
                return
            self.ask("GET", f"/api/sessions/{session['id']}/view/summary")
        self.mark(session["id"])
        self.act(session["id"], SUBMISSIONS[session["task"]])

    def kill(self, chance: random.Random) -> None:
        """Kill the process of a session, sometimes in the middle of an action."""
        session = self.begin(chance)
        if session is None:
            return
        timer = threading.Timer(chance.random() * 2, kill_process, (session["pid"],))
        timer.start()
        while self.act(session["id"], 'exec_shell("kubectl get pods -A -o yaml | wc")'):
            pass
        timer.join()

    def idle(self, chance: random.Random) -> None:
        """Leave a session alone until the server ends it."""
        session = self.begin(chance)
        if session is None:
            return
        while time.monotonic() < self.stop_at:
            time.sleep(IDLE_S + 10)
            _, described = self.ask("GET", f"/api/sessions/{session['id']}")
            if described.get("state") == "ended":
                return

    def attack(self, chance: random.Random) -> None:
        """Send what must be refused."""
        attacks: tuple[Callable[[], int], ...] = (
            lambda: self.ask("POST", "/api/sessions", b'{"problem": ')[0],
            lambda: self.ask("POST", "/api/sessions", b"[" * 500_000)[0],
            lambda: self._send_much("/api/sessions"),
            lambda: self.ask("GET", "/api/sessions", token="guess")[0],
            lambda: self.ask("GET", "/api/records/..%2f..%2fetc%2fpasswd")[0],
            lambda: self._ask_as_other(chance),
            lambda: self._send_slowly(b"GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "),
            lambda: self._send_slowly(b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000),
        )
        status = chance.choice(attacks)()
        self.counts[f"attacks: {status}"] += 1
        if 200 <= status < 300:
            self.faults.append(f"an attack was answered with {status}")

    def _ask_as_other(self, chance: random.Random) -> int:
        if len(self.tokens) < 2:
            return 403
        (own, token), (other, _) = chance.sample(self.tokens, 2)
        path = chance.choice((f"{other}/actions", f"{other}", f"{own}/record", f"{own}/events"))
        return self.ask("GET", f"/api/sessions/{path}", token=token)[0]

    def _send_much(self, path: str) -> int:
        try:
            return self.ask("POST", path, b" " * (20 << 20))[0]
        except OSError:  # the server closed the connection before it had read all
            return 413

    def _send_slowly(self, data: bytes) -> int:
        """Send part of a head, and wait until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as connection:
            with suppress(OSError):
                connection.sendall(data)
                return int((connection.recv(65536).split() or [b"", b"408"])[1])
            return 408


def kill_process(pid: int) -> None:
    """Kill a process, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def measure_memory_mb(group: int) -> tuple[float, int]:
    """Return the memory of a process group, pages that several processes share counted once, and its number of processes."""
    total_kb = processes = 0
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):  # not a process, or one that has just ended
            if os.getpgid(int(entry.name)) == group:
                total_kb += int((entry / "smaps_rollup").read_text().partition("Pss:")[2].split()[0])
                processes += 1
    return total_kb / 1024, processes


def check_records(results: Path, marked: set[str]) -> list[str]:
    """Return what is wrong with the records: a session without one, a record with marks of several sessions, a journal."""
    faults, recorded = [], set()
    for path in results.glob("*.json"):
        found = set(MARK.findall(path.read_text()))
        recorded |= found
        if len(found) > 1:
            faults.append(f"{path.name} has the marks of {', '.join(sorted(found))}")
    if lost := marked - recorded:
        faults.append(f"sessions without a record: {', '.join(sorted(lost))}")
    if left := [path.name for path in results.glob("unfinished-*")]:
        faults.append(f"journals are left: {', '.join(left)}")
    return faults


def wait_for_end(group: int) -> int:
    """Wait until the processes of a group have ended; return how many have not."""
    deadline = time.monotonic() + END_S
    while (left := measure_memory_mb(group)[1]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def run_load(
    clients: int, seconds: float, results: Path, limit_mb: float = math.inf
) -> tuple[dict[str, Any], list[str]]:
    """Start a server, put load on it, stop it; return figures, and what went wrong."""
    token = "load-" + "x" * 20
    command = "from aiopslab.cli import main; main()"
    arguments = [
        "--port",
        "0",
        "--results",
        str(results),
        "--max-sessions",
        str(clients),
        "--idle-timeout",
        str(IDLE_S),
    ]
    server = subprocess.Popen(
        [sys.executable, "-c", command, "serve", *arguments],
        env={**os.environ, "AIOPSLAB_SERVE_TOKEN": token},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stdout is not None
    port = int(server.stdout.readline().partition("/?token")[0].rpartition(":")[2])
    load = Load(port, token, time.monotonic() + seconds)
    roles = [load.work] * 6 + [load.kill, load.idle, load.attack, load.attack]

    def run_client(number: int) -> None:
        chance = random.Random(number)
        while time.monotonic() < load.stop_at:
            try:
                roles[number % len(roles)](chance)
            except Exception as error:
                load.faults.append(f"client {number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=run_client, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    samples = []
    while time.monotonic() < load.stop_at:
        time.sleep(min(5.0, seconds / 4))
        samples.append(measure_memory_mb(server.pid))
    faults = list(load.faults)  # later ones come from the stop
    server.send_signal(signal.SIGTERM)
    code = server.wait(120)
    ordered = sorted(load.seconds) or [0.0]
    figures = {
        "clients": clients,
        "seconds": round(seconds),
        "sessions begun": load.counts["sessions: 201"],
        "records": len(list(results.glob("*.json"))),
        "endings": dict(Counter(json.loads(path.read_text())["ending"] for path in results.glob("*.json"))),
        "answers": dict(sorted(load.counts.items())),
        "actions, median s": round(statistics.median(ordered), 2),
        "actions, 95% within s": round(ordered[int(len(ordered) * 0.95) - 1], 2),
        "memory, peak MB": round(max(size for size, _ in samples)),
        "memory, first half MB": round(
            statistics.fmean(size for size, _ in samples[: len(samples) // 2 + 1])
        ),
        "memory, second half MB": round(statistics.fmean(size for size, _ in samples[len(samples) // 2 :])),
        "processes, peak": max(number for _, number in samples),
    }
    # A session that was ordered when the server stopped may have a record although its client saw no answer.
    if figures["records"] < figures["sessions begun"]:
        faults.append(f"{figures['sessions begun'] - figures['records']} sessions have no record")
    faults += check_records(results, load.marked)
    if left := wait_for_end(server.pid):
        faults.append(f"{left} processes are left")
    if figures["memory, peak MB"] > limit_mb:
        faults.append(f"the memory was above {limit_mb:g} MB")
    if code != 0:
        faults.append(f"the server exited with {code}")
    return figures, faults


def main() -> None:
    """Run the load of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument(
        "--limit-mb", type=float, default=4000.0, help="memory of all processes of the server"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures, faults = run_load(options.clients, options.seconds, Path(folder), options.limit_mb)
    for name, value in figures.items():
        print(f"{name}: {value}")
    sys.exit("\n".join(["Failed:", *faults]) if faults else 0)


if __name__ == "__main__":
    main()
