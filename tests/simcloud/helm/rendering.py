"""The same chart rendered by the built-in helm and by the genuine one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World
from tests.genuine import HELM, answer
from tests.simcloud.kubectl.twins import FOLDER, Told

CHARTS = Path(__file__).parent / "charts"


def chart_files(name: str) -> dict[str, str]:
    """The files of a chart of these tests."""
    root = CHARTS / name
    return {
        str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()
    }


@dataclass
class Bench:
    """A machine of ours without a living cluster, and a folder for the genuine tool."""

    terminal: Terminal
    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    """What was put into the genuine tool's folder."""

    def put(self, name: str, text: str) -> None:
        """The same file for both."""
        files = self.terminal.machine.host.files
        path = f"{FOLDER}/{name}"
        files.mkdir(path.rpartition("/")[0], parents=True)
        files.put(path, text.encode())
        self.files[name] = text

    def ours(self, line: str) -> Told:
        """What the built-in helm says."""
        done = self.terminal.run(f"cd {FOLDER}\nhelm {line}")
        return Told(done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.status)

    def genuine(self, line: str) -> Told:
        """What the genuine one says."""
        told = answer(f"helm {line}", [line, self.files], lambda: self._ask_genuine(line))
        return Told(told["out"], told["err"], told["exit"])

    def _ask_genuine(self, line: str) -> dict[str, object]:
        for name, text in self.files.items():
            there = self.folder / name
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text(text)
        done = subprocess.run(
            ["bash", "-c", f"{HELM} {line}"],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return {"out": done.stdout, "err": done.stderr, "exit": done.returncode}


def bench(folder: Path) -> Bench:
    """A bench whose machine has this module's charts."""
    world = World(7)
    made = Bench(Terminal(world, add_cluster(world, 1)), folder)
    for chart in sorted(path.name for path in CHARTS.iterdir()):
        for name, text in chart_files(chart).items():
            made.put(f"{chart}/{name}", text)
    return made
