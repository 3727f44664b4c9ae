"""The same line typed twice: at the built-in kubectl, and at the genuine one with real bash, or in a recording of that.

Two worlds of one seed live the same life. In one the line is typed at the operator's host; the other is served
over HTTPS on a clock that stands still, and the genuine client's waiting lets its time pass. Every line begins at a
moment that only our world decides, and that both have come to: how long the genuine client took, which differs from
machine to machine, is without consequence. What may differ is what ``normalise`` names: ages, and how long things took.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from simcloud.kubectl.program import START_CPU_S
from simcloud.kubernetes.cluster import Cluster
from simcloud.server.kubernetes.cluster_server import ClusterServer
from simcloud.server.kubernetes.in_cluster import open_door
from simcloud.world.clusters import add_cluster
from simcloud.world.copies import Copy
from simcloud.world.terminal import SERVER, Terminal
from simcloud.world.world import World
from tests import genuine as recordings
from tests.simcloud.kubectl.waiting import COUNTS_SECONDS, TRIES_AGAIN, Waiting
from tests.simcloud.replay.stillness import Listening, still
from tests.simcloud.server.kubernetes.served import CLIENTS, PATIENCE_S

EPOCH_S = 1_736_154_000.0
"""When lives begin: 2025-01-06 at a full hour. Genuine clients reckon ages by the host's clock: nothing may lie ahead of it."""
LIFE_S = 60.0
"""How long the clusters have lived when the first line is typed."""
GRID_S = 0.5
"""Lines begin at whole multiples of this."""
REACTION_S = 0.1
"""So long at least after the end of the line before."""
SLACK_S = 3.0
"""So much longer a client that counts seconds may take by its own clock before the world's goes on with it."""
PATIENT_S = 900.0
"""How long a line may take in virtual time."""
HOME = "/root"
FOLDER = f"{HOME}/work"
_ANSI = re.compile(r"\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}")
_AGE = re.compile(r"(?<![\w.-])(\d+y)?(\d+d)?(\d+h)?(\d+m)?(\d+(\.\d+)?s)?(?<=[ydhms])( ago)?(?![\w-])")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d{4}( UTC)?)?")
_LOG = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", re.MULTILINE)
_REFLECTOR = re.compile(r"^[IWE]\d{4} .* (?:reflector|envvar)\.go.*\n", re.MULTILINE)
_TOOK = re.compile(r"(?<= milliseconds=)\d+")
_RESTARTS = "rollout restart"
SECOND_S = 1.1
"""The genuine client notes a restart in seconds of the host's clock, and refuses a second one within the same."""
_PORT = re.compile(r"\b28\d{3}\b")
"""A port of the operator's own host, which is free there; on ours it may not be."""
_DATE = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")


@dataclass(frozen=True)
class Told:
    """What a line printed and how it ended."""

    stdout: str
    stderr: str
    exit: int

    def normal(self) -> Told:
        """The same without what may differ."""
        return Told(normalise(self.stdout), normalise(self.stderr), self.exit)


def normalise(text: str) -> str:
    """Ages and times as words, runs of blanks (columns are as wide as their ages) as one.

    What the client's library logs of its own watches that end, and of its features in no order, is left out.
    """
    text = _TOOK.sub("N", _LOG.sub(r"\1 ", _REFLECTOR.sub("", text)))
    text = _ANSI.sub("TIME", _DATE.sub("TIME", _TIME.sub("TIME", text)))
    text = _AGE.sub(lambda found: "AGE" if found[0].strip() else found[0], text)
    text = re.sub(r"\b(LIVE|MERGED)-\d+", r"\1", text)
    text = re.sub(r'(resourceVersion"?: "?)\d+', r"\1N", text)
    return re.sub(r"[ \t]+", " ", text)


class Ours:
    """The operator's host of a world."""

    def __init__(self, world: World, cluster: Cluster) -> None:
        self.world = world
        open_door(cluster.api)
        self.terminal = Terminal(world, cluster, shown_bytes=16 << 20)
        self.terminal.machine.host.files.mkdir(FOLDER, parents=True)

    def put(self, name: str, content: str) -> None:
        """A file in the folder where lines are typed."""
        path = f"{FOLDER}/{name}"
        self.terminal.machine.host.files.mkdir(path.rpartition("/")[0], parents=True)
        self.terminal.machine.host.files.put(path, content.encode())

    def type(self, line: str) -> Told:
        """Type a line."""
        done = self.terminal.run(f"cd {FOLDER}\n{line}", PATIENT_S)
        return Told(done.stdout.decode(), done.stderr.decode(), done.status)

    def read_clock(self) -> float:
        """The world's time."""
        return self.world.kernel.now

    def wait_until(self, moment: float) -> None:
        """Let time pass."""
        self.world.kernel.run_until(moment)


class Genuine:
    """A world that is served, and real bash with the genuine client."""

    def __init__(self, world: World, cluster: Cluster, home: Path) -> None:
        self.world = world
        self._home = home
        self._folder = home / "work"
        self._folder.mkdir()
        self._bin = home / "bin"
        self._bin.mkdir()
        (self._bin / "kubectl").symlink_to(CLIENTS / "kubectl-1.36.4")
        (self._bin / "helm").symlink_to(recordings.HELM)
        self._waiting = Waiting(home / "waits", self._bin)
        self._restarted_at = 0.0
        self._listening = Listening()
        self._loop = asyncio.SelectorEventLoop(self._listening)
        kubeconfig = home / ".kube" / "config"
        kubeconfig.parent.mkdir()
        self.server = ClusterServer(cluster.api, kubeconfig=kubeconfig, clock=lambda: 0.0)
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self.server.run(ready.set)), daemon=True
        )
        self._thread.start()
        assert ready.wait(PATIENCE_S)
        self._address = _rename(kubeconfig)

    def put(self, name: str, content: str) -> None:
        """A file in the folder where lines are typed."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def type(self, line: str, ours_took_s: float = 0.0) -> Told:
        """Type a line; time passes while the client waits for it."""
        return self._in_the_loop(lambda: self._type(line, ours_took_s))

    def pass_time(self, seconds: float) -> None:
        """Let virtual time pass."""

        async def jump() -> None:
            self._jump(seconds)

        self._in_the_loop(jump)

    def stop(self) -> None:
        """End the server."""
        self._waiting.release()
        self._loop.call_soon_threadsafe(self.server.stop)
        self._thread.join(PATIENCE_S)

    def _in_the_loop(self, work: Callable[[], Any]) -> Any:
        done: Future[Any] = asyncio.run_coroutine_threadsafe(work(), self._loop)
        return done.result(PATIENCE_S * 3)

    def _jump(self, seconds: float) -> None:
        live = self.server.live
        assert live is not None
        if live.failed is not None:
            raise live.failed
        live.jump(seconds)

    async def _type(self, line: str, ours_took_s: float) -> Told:
        if _RESTARTS in line:
            await asyncio.sleep(self._restarted_at + SECOND_S - time.monotonic())
        ports = {port: _free_port() for port in _PORT.findall(line)}
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            client = subprocess.Popen(
                ["bash", "-c", _PORT.sub(lambda found: ports[found[0]], line)],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={
                    "PATH": f"{self._bin}:/usr/bin:/bin",
                    "HOME": str(self._home),
                    "LC_ALL": "C.UTF-8",
                    "TZ": "UTC",
                },
                cwd=self._folder,
                start_new_session=True,
            )
            await self._let_time_pass(client, line, ours_took_s)
            if _RESTARTS in line:
                self._restarted_at = time.monotonic()
            stdout.seek(0)
            stderr.seek(0)
            out, err = (self._as_at_home(stream.read().decode(), ports) for stream in (stdout, stderr))
            return Told(out, err, client.returncode)

    async def _let_time_pass(self, client: subprocess.Popen[bytes], line: str, ours_took_s: float) -> None:
        """Until a client has ended: the world's time passes while it waits, and nobody has anything to do.

        As much as ours took passes at once; what more there may be is no faster than the host's, by which a client
        counts.
        """
        kernel, began_s, begun = self.world.kernel, self.world.kernel.now, time.monotonic()
        spent_at: float | None = None
        while client.poll() is None:
            now, passed_s = time.monotonic(), kernel.now - began_s
            if now > begun + PATIENCE_S:
                os.killpg(client.pid, signal.SIGKILL)
                client.wait()
                raise TimeoutError(f"the genuine client does not end: {line}")
            if not await still(client.pid, self._listening):
                continue
            may_pass_s = ours_took_s - passed_s
            if TRIES_AGAIN.search(line):
                may_pass_s = now - begun - passed_s
            elif may_pass_s < 1e-6:
                spent_at = spent_at or now
                counted_s = (
                    now - begun - SLACK_S if COUNTS_SECONDS.search(line) else now - spent_at + ours_took_s
                )
                may_pass_s = counted_s - passed_s
            may_pass_s = min(may_pass_s, _stride(passed_s), self._waiting.left_s(kernel.now))
            if may_pass_s > 0:
                self._jump(may_pass_s)

    def _as_at_home(self, text: str, ports: dict[str, str]) -> str:
        """With the names that the folder, the server and the ports have on the operator's host."""
        address = self._address.removeprefix("https://")
        text = text.replace(self._address, SERVER).replace(address, SERVER.removeprefix("https://"))
        for theirs, here in ports.items():
            text = re.sub(rf"\b{here}\b", theirs, text)
        return text.replace(str(self._home), HOME)


class Twins:
    """Both of them; the genuine one is there only while it is asked, and not told of by a recording."""

    def __init__(self, ours: Copy[Ours], genuine: Genuine | None) -> None:
        self.ours = ours
        self.genuine = genuine
        self._past = ""

    def put(self, name: str, content: str) -> None:
        """The same file for both."""
        self._note("put", name, content)
        self.ours.call(Ours.put, name, content)
        if self.genuine is not None:
            self.genuine.put(name, content)

    def type(self, line: str) -> tuple[Told, Told]:
        """What ours says, and what the genuine one says without what may differ."""
        self._note("type", line)
        ours: list[Told] = []

        def ask() -> dict[str, Any]:
            said, told, at_s = self._type_at_both(line)
            ours.append(said)
            return {"at_s": at_s, "out": told.stdout, "err": told.stderr, "exit": told.exit}

        told = recordings.answer(line, self._past, ask)
        if not ours:
            self.ours.call(Ours.wait_until, max(_next(self.ours.call(Ours.read_clock)), told["at_s"]))
            ours.append(self.ours.call(Ours.type, line))
        return ours[0], Told(told["out"], told["err"], told["exit"])

    def _type_at_both(self, line: str) -> tuple[Told, Told, float]:
        assert self.genuine is not None
        self._meet()
        began_s = self.ours.call(Ours.read_clock)
        ours = self.ours.call(Ours.type, line)
        took_s = self.ours.call(Ours.read_clock) - began_s
        starting_s = min(START_CPU_S, took_s)  # before it looks at anything
        self.genuine.pass_time(starting_s)
        return ours, self.genuine.type(line, took_s - starting_s).normal(), began_s

    def same(self, line: str) -> None:
        """Type a line at both, and compare."""
        ours, genuine = self.type(line)
        assert ours.normal() == genuine.normal(), line

    def meet(self, seconds: float = 0.0) -> None:
        """Bring both clocks to the same moment, and let further time pass."""
        self._note("meet", str(seconds))
        self._meet(seconds)

    def _meet(self, seconds: float = 0.0) -> None:
        moment = _next(self.ours.call(Ours.read_clock) + seconds)
        if self.genuine is None:
            self.ours.call(Ours.wait_until, moment)
            return
        theirs = self.genuine.world.kernel
        if moment < theirs.now:
            moment = _next(theirs.now)
        self.ours.call(Ours.wait_until, moment)
        self.genuine.pass_time(moment - theirs.now)

    def _note(self, *event: str) -> None:
        """What the genuine one says depends on all that was done before."""
        self._past = hashlib.sha256(json.dumps([self._past, *event]).encode()).hexdigest()


@contextmanager
def twins(nodes: int = 4, life_s: float = LIFE_S, seed: int = 7) -> Iterator[Twins]:
    """Two clusters of one seed, one under each kubectl."""
    home = Path(tempfile.mkdtemp(prefix="twins-"))
    genuine = None
    try:
        if recordings.is_live():
            other = _cluster(nodes, life_s, seed)
            Terminal(*other)  # both worlds have the same machines
            genuine = Genuine(*other, home)
        with _get_ours(nodes, life_s, seed).branch() as ours:
            pair = Twins(ours, genuine)
            pair._note("begin", str(nodes), str(life_s), str(seed))
            yield pair
    finally:
        if genuine is not None:
            genuine.stop()
        shutil.rmtree(home, ignore_errors=True)


def _next(moment: float) -> float:
    """When the next line may begin."""
    return math.ceil((moment + REACTION_S) / GRID_S) * GRID_S


def _stride(passed_s: float) -> float:
    """Time runs in small steps at first: most answers come soon, and long waits shall not take long."""
    return 0.02 if passed_s < 5.0 else 0.1 if passed_s < 20.0 else 0.5


def _free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@cache
def _get_ours(nodes: int, life_s: float, seed: int) -> Copy[Ours]:
    """The process of a world that has lived, of which every pair takes a copy."""
    return Copy.of(_make_ours, nodes, life_s, seed)


def _make_ours(nodes: int, life_s: float, seed: int) -> Ours:
    return Ours(*_cluster(nodes, life_s, seed))


def _cluster(nodes: int, life_s: float, seed: int) -> tuple[World, Cluster]:
    world = World(seed, epoch_s=EPOCH_S)
    cluster = add_cluster(world, nodes)
    cluster.start()
    world.run_for(life_s)
    return world, cluster


def _rename(kubeconfig: Path) -> str:
    """Give cluster and context the names that they have on the operator's host; tells the server's address."""
    told = yaml.safe_load(kubeconfig.read_text())
    told["clusters"][0]["name"] = told["contexts"][0]["context"]["cluster"] = "kubernetes"
    told["contexts"][0]["name"] = told["current-context"] = "kubernetes-admin@kubernetes"
    kubeconfig.write_text(yaml.safe_dump(told))
    return str(told["clusters"][0]["cluster"]["server"])
