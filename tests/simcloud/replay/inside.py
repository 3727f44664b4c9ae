"""Recorded sessions typed at the built-in kubectl, on the operator's host of the world itself.

Nothing waits for a real client here: a line begins at its recorded moment, lasts as long as it lasts in virtual
time, and is ended when the recorded one had ended long ago.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simcloud.kubernetes.cluster import Cluster
from simcloud.server.kubernetes.in_cluster import open_door
from simcloud.world.terminal import Terminal
from simcloud.world.world import World
from tests.simcloud.replay.names import Names
from tests.simcloud.replay.recording import Line, Typed
from tests.simcloud.replay.replaying import RECORDED_URL, Session

FOLDER = "/root/typed"
PATIENCE_S = 60.0
EPOCH_S = 1_800_000_000.0
SERVER = "https://172.18.0.2:6443"


class Inside:
    """A world that a session is typed in."""

    def __init__(self, session: Session) -> None:
        # CronJobs are for full minutes: as many seconds before one as in the recording.
        first_at = EPOCH_S + session.lines[0].second % 60
        self.world = World(7, epoch_s=first_at - session.life_s)
        self.cluster: Cluster = session.begin(self.world)
        self.begun_at = self.world.kernel.now
        open_door(self.cluster.api)
        self.terminal = Terminal(self.world, self.cluster)
        self.names = Names()
        self._put(session.manifests, FOLDER)
        self.terminal.machine.host.files.mkdir(f"{FOLDER}/work", parents=True)

    def _put(self, folder: Path, place: str) -> None:
        files = self.terminal.machine.host.files
        files.mkdir(place, 0o755, parents=True)
        for path in sorted(folder.iterdir()):
            if path.is_dir():
                self._put(path, f"{place}/{path.name}")
            else:
                files.put(f"{place}/{path.name}", path.read_bytes())

    def type(self, line: Line) -> Typed:
        """One recorded line, at its moment."""
        self.world.kernel.run_until(max(self.world.kernel.now, self.begun_at + line.at_s))
        cmd = self.names.translate(line.cmd)
        if cmd.endswith("# stop the kubelet") or cmd == "systemctl start kubelet":
            kubelet = next(iter(self.cluster.kubelets.values()))
            (kubelet.start if cmd.startswith("systemctl") else kubelet.stop)()
            return Typed("", "", 0)
        if cmd.startswith("curl "):
            done = self.world.shell(next(iter(self.world.machines)), cmd)
            return Typed(done.stdout.decode(), done.stderr.decode(), done.status)
        ours = self._at_the_host(cmd, line)
        self.names.learn(line.told.stdout, ours.stdout)
        return ours

    def _at_the_host(self, cmd: str, line: Line) -> Typed:
        self.terminal.machine.host.files.put("/tmp/stdin", self.names.translate(line.stdin).encode())
        typed = f"cd {FOLDER}; KUBECTL=kubectl\n{{ {cmd}\n}} < /tmp/stdin"
        endless = line.told.exit == "timeout"
        done = self.terminal.run(typed, line.took_s if endless else line.took_s + PATIENCE_S)
        stdout = done.stdout.decode().replace(SERVER, RECORDED_URL)
        return Typed(stdout, done.stderr.decode(), "timeout" if endless else done.status)


def replay_inside(session: Session, heard: Callable[[Line, Typed], None]) -> None:
    """Type a whole session; ``heard`` gets every line with what we answered."""
    inside = Inside(session)
    for line in sorted((*session.lines, *session.unrecorded), key=lambda line: line.at_s):
        ours = inside.type(line)
        if line.n:
            heard(line, ours)
