"""The demonstration: a cluster comes up, a release breaks and is rolled back, a machine dies and is survived.

Everything is typed at the operator's host of a running cluster, and what is printed is what that prints. Standard
output depends on the seed alone; how long it took here is said on standard error.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from rich.console import Console

from aiopslab.cloud.clusters import add_cluster
from aiopslab.cloud.terminal import Terminal
from aiopslab.cloud.world import World

NODES: Final = 4
MACHINE_GIVEN_UP_S: Final = 420
"""Until a silent machine's pods have been replaced: 50 s to doubt it, 300 s to give its pods up, and some."""

MOST_ANSWERED: Final = 55
"""Of the requests of a healthy minute more than this are answered."""

SUCCESS: Final = 'deployment "web" successfully rolled out\n'
SHOP: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: nginx
        image: nginx:1.19
        readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  nodeName: kind-control-plane
  containers:
  - name: main
    image: busybox:1.36
    command: [sh, -c, "while sleep 1; do wget -q -T 2 -O /dev/null http://web && echo answered || echo failed; done"]
"""


def run_demo(seed: int) -> int:
    """Tell the story on the terminal; 0 when it ended well."""
    begun = time.perf_counter()
    world = World(seed)
    cluster = add_cluster(world, NODES)
    cluster.start()
    world.run_for(30)
    story = _Story(world, Terminal(world, cluster))
    well = story.rolls_out() & story.breaks() & story.heals() & story.survives()
    story.say(
        f"The same seed tells the same story, byte for byte: this one was seed {seed}, "
        f"fingerprint {cluster.api.log.hash()[:16]}.\n"
        f"Type yourself: [bold]{_command()} shell[/bold], or with your own kubectl: "
        f"[bold]{_command()} cluster up[/bold]. More: [bold]{_command()} --help[/bold], README.md."
    )
    spent_s = time.perf_counter() - begun
    print(f"({world.kernel.now:.0f} s of the cluster's life took {spent_s:.1f} s here.)", file=sys.stderr)
    return 0 if well else 1


class _Story:
    """Each chapter says whether it ended as it should."""

    def __init__(self, world: World, terminal: Terminal) -> None:
        self._world = world
        self._terminal = terminal
        self._console = Console(highlight=False, width=110)
        self._console.rule("[bold]AIOpsLab in a box: a cloud in one Python process")

    def rolls_out(self) -> bool:
        """Three pods behind a Service, and a client of it."""
        self._chapter("A Kubernetes cluster on four simulated machines")
        self._type("kubectl get nodes")
        self.say("Three nginx pods behind a Service, and a client that asks for the page every second.")
        self._terminal.machine.host.files.put("/root/shop.yaml", SHOP.encode())
        self._type("kubectl create -f shop.yaml")
        self._world.run_for(90)
        return self._served()

    def breaks(self) -> bool:
        """A release that does not exist."""
        self._chapter("A release goes wrong")
        self.say("Somebody means nginx:1.19 and types 1.91. One minute later:")
        self._type("kubectl set image deployment/web nginx=nginx:1.91")
        self._world.run_for(60)
        stuck = self._status() != SUCCESS
        self._type("kubectl get deployments,replicasets,pods")
        self._type("kubectl events --for $(kubectl get pods -o name | tail -1)")
        self.say("The new pod cannot start, so no old one is taken away. The client has noticed nothing:")
        return stuck and self._answered() > MOST_ANSWERED

    def heals(self) -> bool:
        """The way back."""
        self._chapter("The operator rolls back")
        self._type("kubectl rollout undo deployment/web")
        self._world.run_for(30)
        self._type("kubectl get pods")
        return self._served()

    def survives(self) -> bool:
        """Below Kubernetes there are machines; one loses its power."""
        self._chapter("Deeper down: a machine loses its power")
        where = "kubectl get pods -l app=web -o jsonpath='{.items[0].spec.nodeName}'"
        lost = self._terminal.run(where).stdout.decode()
        self.say(f"Nobody tells the cluster. {lost} is just silent. One minute later:")
        self._world.machines[lost].lose()
        self._world.run_for(60)
        self._type("kubectl get nodes")
        self.say(
            "Until the node was found out, the client waited in vain for everything that was sent there:"
        )
        noticed = self._answered() < MOST_ANSWERED
        self.say("Seven minutes later its pods have been given up, and others serve elsewhere:")
        self._world.run_for(MACHINE_GIVEN_UP_S)
        self._type("kubectl get deployments")
        return self._served() and noticed

    def say(self, text: str) -> None:
        """A sentence of the teller's."""
        self._console.print(f"\n{text}")

    def _chapter(self, title: str) -> None:
        self._console.print(f"\n[bold cyan]{title}[/bold cyan]")

    def _type(self, line: str) -> str:
        """Type a line at the operator's host and show what it says."""
        self._console.print("\n[bold green]$[/bold green] ", end="")
        self._console.print(line, style="bold", markup=False, soft_wrap=True)
        done = self._terminal.run(line)
        told = (done.stdout + done.stderr).decode()
        self._console.print(told, end="", markup=False, soft_wrap=True)
        return told

    def _status(self) -> str:
        return self._type("kubectl rollout status deployment/web --watch=false")

    def _answered(self) -> int:
        """Show how the client fared during the last minute; how many of its requests were answered."""
        counts = self._type("kubectl logs client --since=60s | sort | uniq -c")
        return sum(int(line.split()[0]) for line in counts.splitlines() if line.endswith("answered"))

    def _served(self) -> bool:
        """Show that all is well; whether it is."""
        rolled_out = self._status() == SUCCESS
        return self._answered() > MOST_ANSWERED and rolled_out


def _command() -> str:
    """How the reader can call us: as this demo was called, when that was by a path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "aiopslab" and called.parent != Path() else "aiopslab"
