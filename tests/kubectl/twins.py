"""The same line typed twice: at the built-in kubectl, and at the genuine one with real bash.

Two worlds of one seed live the same life. In one the line is typed at the operator's host; the other is served
over HTTPS on a clock that stands still, and the genuine client's waiting lets its time pass. Between lines both
clocks are brought to the same moment. What may differ is what ``normalise`` names: ages, and how long things took.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aiopslab.cloud.clusters import add_cluster
from aiopslab.cloud.terminal import SERVER, Terminal
from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster
from aiopslab.server.kubernetes.inside import open_door
from aiopslab.server.kubernetes.serving import ClusterServer
from tests.replay.stillness import Listening, still
from tests.server.kubernetes.served import CLIENTS, PATIENCE_S

LIFE_S = 60.0
"""How long the clusters have lived when the first line is typed."""
STEP_S = 0.02
PATIENT_S = 900.0
"""How long a line may take in virtual time."""
HOME = "/root"
FOLDER = f"{HOME}/work"
_ANSI = re.compile(r"\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}")
_AGE = re.compile(r"(?<![\w.-])(\d+d)?(\d+h)?(\d+m)?(\d+(\.\d+)?s)?(?<=[dhms])( ago)?(?![\w-])")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d{4}( UTC)?)?")
_LOG = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", re.MULTILINE)
_REFLECTOR = re.compile(r"^[IWE]\d{4} .* reflector\.go.*\n", re.MULTILINE)
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

    What the client's library logs of its own watches that end is left out.
    """
    text = _LOG.sub(r"\1 ", _REFLECTOR.sub("", text))
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
        (self._bin / "helm").symlink_to(Path(sys.prefix) / "bin" / "helm")
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

    def type(self, line: str) -> Told:
        """Type a line; time passes while the client waits for it."""
        return self._in_the_loop(lambda: self._type(line))

    def pass_time(self, seconds: float) -> None:
        """Let virtual time pass."""

        async def jump() -> None:
            self._jump(seconds)

        self._in_the_loop(jump)

    def stop(self) -> None:
        """End the server."""
        self._loop.call_soon_threadsafe(self.server.stop)
        self._thread.join(10)

    def _in_the_loop(self, work: Callable[[], Any]) -> Any:
        done: Future[Any] = asyncio.run_coroutine_threadsafe(work(), self._loop)
        return done.result(PATIENCE_S * 3)

    def _jump(self, seconds: float) -> None:
        live = self.server.live
        assert live is not None
        if live.failed is not None:
            raise live.failed
        live.jump(seconds)

    async def _type(self, line: str) -> Told:
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            client = subprocess.Popen(
                ["bash", "-c", line],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={
                    "PATH": f"{self._bin}:/usr/bin:/bin",
                    "HOME": str(self._home),
                    "LC_ALL": "C.UTF-8",
                },
                cwd=self._folder,
            )
            give_up_at = time.monotonic() + PATIENCE_S
            while client.poll() is None:
                if time.monotonic() > give_up_at:
                    subprocess.run(["pkill", "-KILL", "-P", str(client.pid)], check=False)
                    client.kill()
                    client.wait()
                    raise TimeoutError(f"the genuine client does not end: {line}")
                if await still(client.pid, self._listening):
                    self._jump(STEP_S)
            stdout.seek(0)
            stderr.seek(0)
            out, err = (self._as_at_home(stream.read().decode()) for stream in (stdout, stderr))
            return Told(out, err, client.returncode)

    def _as_at_home(self, text: str) -> str:
        """With the names that the folder and the server have on the operator's host."""
        address = self._address.removeprefix("https://")
        text = text.replace(self._address, SERVER).replace(address, SERVER.removeprefix("https://"))
        return text.replace(str(self._home), HOME)


@dataclass
class Twins:
    """Both of them."""

    ours: Ours
    genuine: Genuine

    def put(self, name: str, content: str) -> None:
        """The same file for both."""
        self.ours.put(name, content)
        self.genuine.put(name, content)

    def type(self, line: str) -> tuple[Told, Told]:
        """What ours says, and what the genuine one says."""
        self.meet()
        return self.ours.type(line), self.genuine.type(line)

    def same(self, line: str) -> None:
        """Type a line at both, and compare."""
        ours, genuine = self.type(line)
        assert ours.normal() == genuine.normal(), line

    def meet(self, seconds: float = 0.0) -> None:
        """Bring both clocks to the same moment, and let further time pass."""
        ours, theirs = self.ours.world.kernel, self.genuine.world.kernel
        moment = max(ours.now, theirs.now) + seconds
        ours.run_until(moment)
        if moment > theirs.now:
            self.genuine.pass_time(moment - theirs.now)


@contextmanager
def twins(nodes: int = 4, life_s: float = LIFE_S, seed: int = 7) -> Iterator[Twins]:
    """Two clusters of one seed, one under each kubectl."""
    home = Path(tempfile.mkdtemp(prefix="twins-"))
    # Genuine clients reckon ages by the host's clock: nothing may lie ahead of it.
    epoch_s = float(int(time.time() - life_s - 3600.0))
    genuine = None
    try:
        ours = Ours(*_cluster(nodes, life_s, seed, epoch_s))
        other = _cluster(nodes, life_s, seed, epoch_s)
        Terminal(*other)  # both worlds have the same machines
        genuine = Genuine(*other, home)
        yield Twins(ours, genuine)
    finally:
        if genuine is not None:
            genuine.stop()
        shutil.rmtree(home, ignore_errors=True)


def _cluster(nodes: int, life_s: float, seed: int, epoch_s: float) -> tuple[World, Cluster]:
    world = World(seed, epoch_s=epoch_s)
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
