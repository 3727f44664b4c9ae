"""The demonstration: a hotel reservation system with users on it is broken in its database, seen through, and repaired.

Everything is typed at the operator's host of a running cluster, and what is printed is what that prints. Standard
output depends on the seed alone; how long it took here is said on standard error.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table

from aiopslab.cli.cluster_view import call_map
from aiopslab.cloud.environment import Environment
from aiopslab.service.apps.hotelres import HotelReservation

SPREAD_S: Final = 120.0
"""Until a service that cannot start has been restarted often enough to be given a pause, and alerts have noticed."""
HEAL_S: Final = 60.0
WINDOW_S: Final = 60.0
NS: Final = "test-hotel-reservation"
MONGO: Final = "kubectl exec deploy/mongodb-rate -- mongo --quiet -u root -p root admin --eval"
ROLE: Final = '[{role: "readWrite", db: "rate-db"}]'
KNOWN: Final = ("__name__", "alertname", "alertstate", "namespace", "severity")
FIRING: Final = 'ALERTS{alertstate="firing",namespace="test-hotel-reservation"}'


def run_demo(seed: int) -> int:
    """Tell the story on the terminal; 0 when it ended well."""
    begun = time.perf_counter()
    environment = Environment(HotelReservation(), seed)
    environment.settle()
    story = _Story(environment)
    well = story.lives() & story.breaks() & story.heals()
    world = environment.world
    story.say(
        f"The same seed tells the same story, byte for byte: this one was seed {seed}, "
        f"fingerprint {world.fingerprint()[:16]}.\n"
        f"Type yourself: [bold]{_command()} shell --app hotel-reservation[/bold], or with your own kubectl, browser and "
        f"Grafana: [bold]{_command()} cluster up --app hotel-reservation[/bold]. "
        f"More: [bold]{_command()} --help[/bold], README.md."
    )
    spent_s = time.perf_counter() - begun
    requests = len(environment.users.results)
    print(
        f"({world.kernel.now:.0f} s of the cloud's life and {requests} requests of users took {spent_s:.1f} s here.)",
        file=sys.stderr,
    )
    return 0 if well else 1


class _Story:
    """Each chapter says whether it ended as it should."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._terminal = environment.terminal()
        self._terminal.run(f"kubectl config set-context --current --namespace={NS}")
        self._console = Console(highlight=False, width=110)
        self._console.rule("[bold]AIOpsLab in a box: a cloud in one Python process")

    def lives(self) -> bool:
        """All is well."""
        self._chapter("A hotel reservation system, and people who use it")
        self.say("Four simulated machines, a Kubernetes on them, nineteen workloads on that:")
        self._type("kubectl get nodes")
        self._type("kubectl get deployments")
        self.say("Users outside the cluster search, ask for advice, log in and book, ten times a second:")
        well = self._users()
        self.say("They call the front end, which calls the others. This is drawn from their traces:")
        self._map()
        return well

    def breaks(self) -> bool:
        """A role goes, and with the next restart a service."""
        self._chapter("Somebody cleans up in a database")
        self.say(
            "The rates' database has a user with too many rights, they think. The pod happens to be replaced:"
        )
        self._type(f"{MONGO} 'db.revokeRolesFromUser(\"admin\", {ROLE})'")
        self._type("kubectl delete pod -l io.kompose.service=rate")
        self._environment.run_for(SPREAD_S)
        self.say("Two minutes later. Kubernetes:")
        self._type("kubectl get pods -l io.kompose.service=rate")
        self._type("kubectl get deployment mongodb-rate")
        self.say("The users:")
        hurt = not self._users()
        self.say("The alerts:")
        self._alerts()
        self.say("The map:")
        self._map()
        self.say("And the reason, in the words of the service and of its database:")
        reason = self._type("kubectl logs deploy/rate --tail 2")
        self._type(
            "kubectl logs deploy/mongodb-rate --tail 200 | grep -m1 'not authorized' | jq -r .attr.error.errmsg"
        )
        return hurt and "not authorized on rate-db" in reason

    def heals(self) -> bool:
        """The way back."""
        self._chapter("The operator gives the role back")
        self._type(f"{MONGO} 'db.grantRolesToUser(\"admin\", {ROLE})'")
        self._type("kubectl delete pod -l io.kompose.service=rate")
        self._environment.run_for(HEAL_S + WINDOW_S)
        self._type("kubectl get pods -l io.kompose.service=rate")
        return self._users()

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

    def _users(self) -> bool:
        """Show how users fared during the last minute; whether nothing failed."""
        environment, well = self._environment, True
        table = Table("journey", "requests", "failed", "p50", "p99", "most failed by", box=box.SIMPLE_HEAD)
        end = environment.now - environment.timeout_s
        for journey in environment.app.journeys:
            seen = environment.users.results.between(end - WINDOW_S, end, journey.name)
            worst = max(seen.kinds, key=lambda kind: seen.kinds[kind], default="")
            colour = "red" if seen.errors else "green"
            table.add_row(
                journey.name,
                str(seen.requests),
                f"[{colour}]{seen.error_rate:.0%}[/]",
                f"{seen.p50_s * 1000:.1f} ms",
                f"{seen.p99_s * 1000:.1f} ms",
                worst,
            )
            well = well and seen.errors == 0
        self._console.print(table)
        return well

    def _map(self) -> None:
        self._console.print(call_map(self._environment.monitoring.topology.document(WINDOW_S)))

    def _alerts(self) -> None:
        monitoring = self._environment.monitoring
        for sample in monitoring.engine.instant(FIRING, monitoring.now_ms()).vector:
            labels = dict(sample.labels)
            told = {name: value for name, value in labels.items() if name not in KNOWN}
            where = ", ".join(f"{name} {value}" for name, value in told.items())
            self._console.print(f"  {labels['severity']:<9} {labels['alertname']:<20} {where}", markup=False)


def _command() -> str:
    """How the reader can call us: as this demo was called, when that was by a path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "aiopslab" and called.parent != Path() else "aiopslab"
