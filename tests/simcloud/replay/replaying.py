"""Recorded sessions typed again, at a cluster of ours, with genuine kubectl over HTTPS.

Everything runs in one event loop: the server, and whoever types. The world's clock stands still but for what
the replay lets pass: each line is typed at the recorded moment, and while its client waits for news, time runs
ahead as fast as the world can, for at most as long as the recorded line took. So the same code gives the same
answers whatever the machine it runs on is busy with. Lines whose client counts seconds by its own clock
(``sleep``) get the seconds that the client waits.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from starlette.types import ASGIApp, Receive, Scope, Send

from simcloud.kubernetes.cluster import Cluster
from simcloud.machine.process.cpu import ContainerCpu
from simcloud.server.kubernetes.cluster_server import ClusterServer
from simcloud.server.kubernetes.live import Live
from simcloud.world.world import World
from tests.simcloud.replay.beginnings import used, without_kubelets, young
from tests.simcloud.replay.names import Names
from tests.simcloud.replay.recording import GOLDEN, Line, Typed, read
from tests.simcloud.replay.stillness import Listening, still
from tests.simcloud.server.kubernetes.served import CLIENTS, PATIENCE_S, write_diff

AHEAD_S = 120.0
"""kubectl tells ages by the wall clock: all of a replay happens so long before its end at the least."""

RECORDED_URL = "https://127.0.0.1:37443"

COUNTS_SECONDS = re.compile(r"sleep \d|^timeout |port-forward|attach|drain")
RACE = re.compile(r'^E\d{4} .* "Failed to watch" err="context deadline exceeded".*\n', re.MULTILINE)
"""kubectl tells of the watch that its own deadline ended, or ends before it can: a race inside of it."""

_PORT = re.compile(r"\b180\d\d\b")
"""A port that was free on the recorded machine."""
_KILLED = re.compile(r"^Terminated *\n", re.MULTILINE)
"""Some shells tell of what a line itself killed; the recorded one, bash, did not."""
_COMMANDS = f"""KUBECTL={CLIENTS / "kubectl-1.36.4"}; kubectl() {{ "$KUBECTL" "$@"; }}
curl() {{ {sys.executable} -I {Path(__file__).with_name("curl.py")} "$@"; }}"""

PAUSE_S = 0.005
IMPATIENT_S = 120.0
"""So much longer than recorded a client may run on a slow machine before it is taken to hang."""

STARTING_S = 0.045
"""What kubectl needs before its first request."""

REQUEST_CPU_S = 0.03
"""What a request costs the machine: kubectl, the API server and etcd ran on the recorded node itself."""

REQUEST_S = 0.015
"""From one request of kubectl to the next, as recorded where a line makes many."""


@dataclass(frozen=True)
class Session:
    """A recording, and the cluster that it was made at."""

    name: str
    begin: Callable[[World], Cluster]
    """What had happened before."""
    life_s: float
    """How long that took."""

    @property
    def manifests(self) -> Path:
        """The folder that the lines were typed in."""
        kind = "control-plane" if self.name == "control-plane" else "node"
        return GOLDEN / "manifests" / kind

    @property
    def lines(self) -> list[Line]:
        """What was typed."""
        return read(GOLDEN / f"{self.name}.jsonl")

    @property
    def unrecorded(self) -> list[Line]:
        """What was typed beside the recording, at the moments that it shows."""
        path = Path(__file__).parent / "unrecorded" / f"{self.name}.yaml"
        listed = yaml.safe_load(path.read_text()) if path.exists() else []
        nothing = Typed("", "", 0)
        return [Line(0, each["cmd"], "", nothing, each["at_s"], 0.1, 0.0) for each in listed]


SESSIONS = {
    each.name: each
    for each in (
        Session("control-plane", without_kubelets, 19.0),
        Session("node", young, 1.86),
        Session("node-more", used, 765.0),
    )
}


class PacedServer(ClusterServer):
    """A server at which every request takes a little of the world's time, while a line has time left."""

    ends_at = 0.0
    """When the line that is typed now was over, in the recording."""
    busy: ContainerCpu | None = None
    """The processors that the client and the control plane share with the node."""

    starting_s = 0.0
    """How long the client of this line takes to begin."""

    def application(self, live: Live) -> ASGIApp:
        """The API, and before each request to it time passes."""
        serve = super().application(live)

        async def paced(scope: Scope, receive: Receive, send: Send) -> None:
            left_s = self.ends_at - live.now
            if left_s > 0:
                live.jump(min(max(REQUEST_S, self.starting_s), left_s))
                self.starting_s = 0.0
            if self.busy is not None:
                self.busy.charge(live.now, REQUEST_CPU_S)
            await serve(scope, receive, send)

        return paced


@dataclass
class Replay:
    """A served cluster that a session is typed at."""

    world: World
    cluster: Cluster
    server: PacedServer
    listening: Listening
    home: Path
    begun_at: float
    names: Names = field(default_factory=Names)

    def pass_time(self, seconds: float) -> None:
        """Let virtual time pass."""
        assert self.server.live is not None
        if self.server.live.failed is not None:
            raise self.server.live.failed
        self.server.live.jump(seconds)

    async def type(self, line: Line) -> Typed:
        """One recorded line, at its moment."""
        begins_at = self.begun_at + line.at_s
        while (left_s := begins_at - self.world.kernel.now) > 0:
            self.pass_time(min(left_s, 1.0))
            await asyncio.sleep(0)
        cmd = self.names.translate(line.cmd)
        if cmd.endswith("# stop the kubelet") or cmd == "systemctl start kubelet":
            return self._kubelet(starts=cmd.startswith("systemctl"))
        if cmd.startswith("curl "):
            ours = self._on_the_node(cmd)
        else:
            ours = await self._at_the_client(cmd, line)
        ours = Typed(ours.stdout.replace(self.server.url, RECORDED_URL), RACE.sub("", ours.stderr), ours.exit)
        self.names.learn(line.told.stdout, ours.stdout)
        return ours

    def _kubelet(self, starts: bool) -> Typed:
        """Start or stop the kubelet of the first node."""
        kubelet = next(iter(self.cluster.kubelets.values()))
        if starts:
            kubelet.start()
        else:
            kubelet.stop()
        self.pass_time(0.0)
        return Typed("", "", 0)

    def _on_the_node(self, cmd: str) -> Typed:
        """A line that was typed in the shell of the node itself."""
        done = self.world.shell(next(iter(self.world.machines)), cmd)
        self.pass_time(0.0)
        return Typed(done.stdout.decode(), done.stderr.decode(), done.status)

    async def _at_the_client(self, cmd: str, line: Line) -> Typed:
        ports = {port: _free_port() for port in _PORT.findall(cmd)}
        cmd = _PORT.sub(lambda found: ports[found[0]], cmd)
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            client = subprocess.Popen(
                ["/bin/sh", "-c", f"{_COMMANDS}\n{cmd}"],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env={
                    "PATH": "/usr/bin:/bin",
                    "TZ": "UTC",
                    "KUBECTL_EXTERNAL_DIFF": str(write_diff(self.home)),
                    "HOME": str(self.home),
                    "KUBECONFIG": str(self.home / "kubeconfig"),
                },
                cwd=self.home / "typed",
                start_new_session=True,
            )
            assert client.stdin is not None
            client.stdin.write(self.names.translate(line.stdin).encode())
            client.stdin.close()
            code = await self._wait_for(client, line)
            stdout.seek(0)
            stderr.seek(0)
            out, err = stdout.read().decode(), _KILLED.sub("", stderr.read().decode())
            for recorded, here in ports.items():
                out, err = out.replace(here, recorded), err.replace(here, recorded)
            return Typed(out, err, code)

    async def _wait_for(self, client: subprocess.Popen[bytes], line: Line) -> int | str:
        """Let time pass while the client waits, until it ends; ``timeout`` if it was stopped as in the recording."""
        begun, began_at = time.monotonic(), self.world.kernel.now
        self.server.ends_at = began_at + line.took_s
        self.server.starting_s = min(STARTING_S, line.took_s / 2)
        spent_at: float | None = None
        was_stopped = line.told.exit == "timeout"
        while client.poll() is None:
            elapsed_s = time.monotonic() - begun
            if elapsed_s > line.took_s + IMPATIENT_S:
                return _stopped(client)
            if not await still(client.pid, self.listening):
                continue
            passed_s = self.world.kernel.now - began_at
            if was_stopped and line.took_s - passed_s < 1e-6:
                return _stopped(client)
            if COUNTS_SECONDS.search(line.cmd) and not was_stopped:
                may_pass_s = elapsed_s - passed_s
            elif line.took_s - passed_s > 1e-6:
                may_pass_s = min(line.took_s - passed_s, _stride(passed_s))
            elif "timed out waiting" in line.told.stderr:
                may_pass_s = 0.0  # the client gives up by its own clock
            else:
                spent_at = spent_at or time.monotonic()
                may_pass_s = time.monotonic() - spent_at - (passed_s - line.took_s)
            if may_pass_s > 0:
                self.pass_time(may_pass_s)
            else:
                await asyncio.sleep(PAUSE_S)
        return client.returncode


def _free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def _stride(passed_s: float) -> float:
    """Time runs in small steps at first: most answers come soon."""
    return 0.002 if passed_s < 0.05 else 0.01 if passed_s < 1.0 else 0.05


def _stopped(client: subprocess.Popen[bytes]) -> str:
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    return "timeout"


@asynccontextmanager
async def replayed(session: Session, home: Path, listening: Listening) -> AsyncIterator[Replay]:
    """The cluster of a recording, served on a clock that stands still."""
    shutil.copytree(session.manifests, home / "typed")
    (home / "typed").chmod(0o755)
    (home / "typed" / "work").mkdir()
    last = session.lines[-1]
    before = time.time() - last.at_s - last.took_s - AHEAD_S
    # CronJobs are for full minutes: as many seconds before one as in the recording.
    first_at = before - (before - session.lines[0].second) % 60
    world = World(7, epoch_s=first_at - session.life_s)
    cluster = session.begin(world)
    server = PacedServer(cluster.api, kubeconfig=home / "kubeconfig", clock=lambda: 0.0)
    server.busy = next((each.host.cpu for each in world.machines.values()), None)
    ready = asyncio.Event()
    serving = asyncio.create_task(server.run(ready.set))
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    _in_the_recordings_words(home / "kubeconfig")
    try:
        yield Replay(world, cluster, server, listening, home, world.kernel.now)
    finally:
        server.stop()
        await serving


def _in_the_recordings_words(kubeconfig: Path) -> None:
    """The kubeconfig of the recording: a certificate file, and kubeadm's names."""
    told = yaml.safe_load(kubeconfig.read_text())
    authority = kubeconfig.parent / "work" / "pki" / "ca.crt"
    authority.parent.mkdir(parents=True)
    authority.write_bytes(base64.b64decode(told["clusters"][0]["cluster"].pop("certificate-authority-data")))
    told["clusters"][0]["name"] = told["contexts"][0]["context"]["cluster"] = "kubernetes"
    told["clusters"][0]["cluster"]["certificate-authority"] = "work/pki/ca.crt"
    told["contexts"][0]["name"] = told["current-context"] = "kubernetes-admin@kubernetes"
    kubeconfig.write_text(yaml.safe_dump(told))


def replay(session: Session, home: Path, heard: Callable[[Line, Typed], None]) -> None:
    """Type a whole session; ``heard`` gets every line with what we answered."""
    listening = Listening()

    async def everything() -> None:
        async with replayed(session, home, listening) as cluster:
            for line in sorted((*session.lines, *session.unrecorded), key=lambda line: line.at_s):
                ours = await cluster.type(line)
                if line.n:
                    heard(line, ours)

    _run(everything, listening)


def _run(work: Callable[[], Awaitable[None]], listening: Listening) -> None:
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(listening)) as runner:
        runner.run(work())  # type: ignore[arg-type]
