"""Type a recorded session again at a cluster of ours, and print what differs.

    python -m scripts.replay_recording RECORDING.jsonl MANIFESTS_FOLDER NODES [IMAGE ...]

The images named are on the nodes from the start. The lines are typed at genuine kubectl over HTTPS; the gaps between them are jumped in virtual time. Lines that
only the recording's own machine could answer (``curl`` to a node, ``kill``) are left out. Run it from the
project's root: it compares with the normaliser of the tests.
"""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster
from aiopslab.cluster.nodes import node_names
from aiopslab.server.kubernetes.serving import ClusterServer
from tests.server.kubernetes.golden.normalise import lines, same
from tests.server.kubernetes.served import CLIENTS, PATIENCE_S

LEFT_OUT = ("curl ", "kill ")
SETTLE_S = 12.0
Recorded = dict[str, Any]


def recording(path: Path) -> list[Recorded]:
    """The lines of a recorded session."""
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass
class Replay:
    """A cluster that a recorded session is typed at."""

    server: ClusterServer
    loop: asyncio.AbstractEventLoop
    home: Path
    folder: Path
    cluster: Cluster

    def jump(self, seconds: float) -> None:
        """Let virtual time pass, in the server's own thread."""
        done: Future[None] = Future()

        def step() -> None:
            try:
                assert self.server.live is not None
                self.server.live.jump(seconds)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)

        self.loop.call_soon_threadsafe(step)
        done.result(PATIENCE_S)

    def type(self, recorded: Recorded) -> dict[str, Any]:
        """One recorded line."""
        client = CLIENTS / "kubectl-1.36.4"
        line = f'KUBECTL={client}; kubectl() {{ "$KUBECTL" "$@"; }}\n{recorded["cmd"]}'
        begun = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", line],
            input=recorded["stdin"] or "",
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.home),
                "KUBECONFIG": str(self.home / "kubeconfig"),
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S * 2,
            check=False,
        )
        took = time.monotonic() - begun
        return {"stdout": done.stdout, "stderr": done.stderr, "exit": done.returncode, "took_s": took}

    def gap(self, before: Recorded, after: Recorded, took_s: float) -> None:
        """Jump over what passed between two recorded lines and was not spent on the first."""
        passed = (moment(after) - moment(before)) - took_s
        if passed > 0.05:
            self.jump(passed)


def moment(recorded: Recorded) -> float:
    """When a line was typed, in seconds."""
    return datetime.fromisoformat(recorded["t"]).timestamp()


@contextmanager
def replay(home: Path, manifests: Path, nodes: int, images: list[str]) -> Iterator[Replay]:
    """A cluster in a thread of its own, with the names of the recording in its kubeconfig."""
    folder = home / "typed"
    shutil.copytree(manifests, folder)
    folder.chmod(0o755)
    (folder / "work").mkdir()
    world = World(7, epoch_s=float(int(time.time() - SETTLE_S)))
    machines = [world.add_machine(name) for name in node_names(nodes)]
    cluster = Cluster(world.kernel, machines, world.epoch_s)
    cluster.start()
    for kubelet in cluster.kubelets.values():
        for image in images:
            kubelet.node.images.preload(image)
    world.run_for(SETTLE_S)
    server = ClusterServer(cluster.api, kubeconfig=home / "kubeconfig")
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.run(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S)
    in_the_recordings_words(home / "kubeconfig")
    try:
        yield Replay(server, loop, home, folder, cluster)
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(10)


def in_the_recordings_words(kubeconfig: Path) -> None:
    """The kubeconfig of the recording: a certificate file, and kubeadm's names."""
    told = yaml.safe_load(kubeconfig.read_text())
    authority = kubeconfig.parent / "work" / "pki" / "ca.crt"
    authority.parent.mkdir(parents=True)
    authority.write_bytes(base64.b64decode(told["clusters"][0]["cluster"].pop("certificate-authority-data")))
    told["clusters"][0]["name"] = told["contexts"][0]["context"]["cluster"] = "kubernetes"
    told["clusters"][0]["cluster"]["certificate-authority"] = "work/pki/ca.crt"
    told["contexts"][0]["name"] = told["current-context"] = "kubernetes-admin@kubernetes"
    kubeconfig.write_text(yaml.safe_dump(told))


def difference(recorded: Recorded, ours: Recorded) -> str:
    """What the recording prints and we do not, and the other way round."""
    told = [f"--- {recorded['n']}: {recorded['cmd']} (exit {recorded['exit']}, ours {ours['exit']})"]
    for name in ("stdout", "stderr"):
        theirs, mine = lines(recorded[name]), lines(str(ours[name]))
        told.extend(f"-{line}" for line in theirs if line not in mine)
        told.extend(f"+{line}" for line in mine if line not in theirs)
    return "\n".join(told)


def main() -> None:
    """Type everything, print every difference and how many lines are the same."""
    path, manifests, nodes = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    typed = [one for one in recording(path) if not one["cmd"].startswith(LEFT_OUT)]
    agreed, before, took_s = 0, None, 0.0
    with (
        tempfile.TemporaryDirectory() as folder,
        replay(Path(folder), manifests, nodes, sys.argv[4:]) as cluster,
    ):
        for recorded in typed:
            if before is not None:
                cluster.gap(before, recorded, took_s)
            ours = cluster.type(recorded)
            before, took_s = recorded, ours["took_s"]
            if same(recorded, ours):
                agreed += 1
            else:
                print(difference(recorded, ours), flush=True)
    print(f"{agreed} of {len(typed)} lines are the same")


if __name__ == "__main__":
    main()
