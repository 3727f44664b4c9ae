"""Noise: innocent changes by other teams before and after a fault and during the session, so that the fault is not the only thing that happened.

Noise is drawn as plain data, the lines that operators type. What it changes is wanted: a repair must leave it as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle
from random import Random
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal

from aiopslab.generators.site import BARE

if TYPE_CHECKING:
    from aiopslab.apps import Application, Component

Level = Literal["none", "usual", "heavy"]
COUNTS: Final[dict[Level, tuple[int, int, int]]] = {"usual": (3, 2, 2), "heavy": (6, 4, 5)}
"""The number of changes before the fault, after it, and during the session."""
PAUSE_S: Final = (4.0, 16.0)
"""The time between two changes."""
SESSION_PAUSE_S: Final = (30.0, 180.0)
"""The time before each change during the session."""
TEAMS: Final = ("reports", "batch", "analytics")
"""The namespaces of other teams, whose jobs may fail."""
NEIGHBOUR_SHARES: Final[dict[Level, float]] = {"usual": 0.3, "heavy": 1.0}
"""The share of problems with each kind of neighbour: one that takes CPU time, and one whose alert comes and goes."""
AGAIN_SHARE: Final = 0.75
"""The share of faulty components that are rolled out again."""
AGAIN_PAUSE_S: Final = 8.0


@dataclass(frozen=True)
class Change:
    """Lines that another team types, and the time that passes afterwards."""

    lines: tuple[str, ...]
    pause_s: float


@dataclass(frozen=True)
class Noise:
    """Innocent changes, in the order in which they are made."""

    before: tuple[Change, ...] = ()
    after: tuple[Change, ...] = ()
    late: tuple[Change, ...] = ()
    """Those just before the session begins, so that the newest object is an innocent one."""
    during: tuple[Change, ...] = ()
    """Those while the agent works; each comes when its pause has passed since the one before."""
    ticket: str = ""
    """An open ticket of another team."""


def draw_noise(
    app: Application,
    chance: Random,
    level: Level,
    spared: Iterable[str],
    also_at: Iterable[str] = (),
    *,
    keep_pods: bool = False,
) -> Noise:
    """Draw changes at other components than those spared and their neighbours.

    Of those in ``also_at``, which are faulty, most are rolled out once more by a team that has not noticed. With
    ``keep_pods`` no change ends a running pod before a new one is ready, because new ones cannot start.
    """
    if level == "none":
        return Noise()
    near = {other for name in spared for other in (name, *app.component(name).calls, *app.find_callers(name))}
    services = [known for known in app.components if known.role == "service" and known.name not in near]
    chance.shuffle(services)
    before, after, during = COUNTS[level]
    makers = [
        make for make in chance.sample(MAKERS, len(MAKERS)) if not (keep_pods and make is _set_strategy)
    ]
    changes = []
    stopping = set()
    for number in range(before + after):
        make = makers[number % len(makers)]
        component = services[number % len(services)] if services else None
        if component and make is _set_strategy:
            stopping.add(component.name)
        lines = make(app, component, chance)
        changes.append(Change(tuple(lines), round(chance.uniform(*PAUSE_S), 1)))
    again = [app.component(name) for name in also_at if chance.random() < AGAIN_SHARE]
    later = [Change(tuple(chance.choice(ROLLOUTS)(app, faulty, chance)), AGAIN_PAUSE_S) for faulty in again]
    meanwhile = [
        Change(tuple(make(app, component, chance)), round(chance.uniform(*SESSION_PAUSE_S), 1))
        for make, component in zip(chance.choices(EDITS, k=during), cycle(services or [None]), strict=False)
    ]
    neighbours = [
        Change(tuple(make(app, None, chance)), 0.0)
        for make in NEIGHBOURS
        if chance.random() < NEIGHBOUR_SHARES[level]
    ]
    ticket = draw_ticket(chance)
    component = chance.choice(services) if services else None
    make = chance.choice(LATE) if component else _add_settings
    if component and component.name in stopping:
        make = _label_service  # a rollout that ends pods first would look like an incident
    late = make(app, component, chance)
    return Noise(
        before=(*neighbours, *changes[:before]),
        after=(*later, *changes[before:]),
        late=(Change(tuple(late), round(chance.uniform(*PAUSE_S), 1)),),
        during=tuple(meanwhile),
        ticket=ticket,
    )


def draw_ticket(chance: Random) -> str:
    """Draw a ticket that has nothing to do with the application's users."""
    number, team = chance.randrange(2000, 9000), chance.choice(TEAMS)
    return f"OPS-{number} ({team}): {chance.choice(TICKETS)}"


Maker = Callable[["Application", "Component | None", Random], Iterable[str]]


def _patch(app: Application, resource: str, name: str, change: Any) -> str:
    return f"kubectl -n {app.namespace} patch {resource} {name} -p {quote(json.dumps(change))}"


def _restart(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Restart a service."""
    if component is not None:
        yield f"kubectl -n {app.namespace} rollout restart deployment/{component.name}"


def _scale_out(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Give a service one more pod."""
    if component is not None:
        yield f"kubectl -n {app.namespace} scale deployment/{component.name} --replicas={chance.choice((2, 3))}"


def _set_variable(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Set an environment variable that the program does not depend on."""
    if component is not None:
        setting = chance.choice(
            (
                "LOG_FORMAT=text",
                "TZ=Etc/UTC",
                "RELEASE_CHANNEL=stable",
                "BUILD_INFO=on",
                "COST_GROUP=shared",
            )
        )
        yield f"kubectl -n {app.namespace} set env deployment/{component.name} {setting}"


def _set_strategy(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Change how a service rolls out, and roll it out."""
    if component is None:
        return
    in_place = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0}}
    at_once = {"type": "Recreate", "rollingUpdate": None}
    yield _patch(
        app, "deployment", component.name, {"spec": {"strategy": chance.choice((in_place, at_once))}}
    )
    yield f"kubectl -n {app.namespace} rollout restart deployment/{component.name}"


def _request_resources(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Request what a service uses, and write it into the manifest."""
    if component is not None:
        cpu = chance.choice(("60m", "80m", "120m"))
        yield f"kubectl -n {app.namespace} set resources deployment/{component.name} --requests=cpu={cpu}"
        live = f"kubectl -n {app.namespace} get deployment {component.name} -o json"
        yield f"{live} | jq '{BARE}' | kubectl apply -f -"


def _protect(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Add a disruption budget."""
    if component is not None:
        selector = f'$(kubectl -n {app.namespace} get deployment {component.name} -o json | jq -r \'.spec.selector.matchLabels | to_entries | map(.key + "=" + .value) | join(",")\')'
        yield (
            f"kubectl -n {app.namespace} create poddisruptionbudget {component.name} --selector={selector} --max-unavailable=1"
        )


def _label_service(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Label a Service for the cost report."""
    if component is not None:
        centre = f"cost-center={chance.randrange(4100, 4900)}"
        yield f"kubectl -n {app.namespace} label service {component.name} {centre} --overwrite"


def _add_settings(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Add or update a ConfigMap that a later release will use."""
    name = chance.choice(("feature-switches", "rate-card", "holiday-calendar", "mail-templates"))
    yield (
        f"kubectl -n {app.namespace} create configmap {name} --from-literal=enabled=false --from-literal=revision={chance.randrange(3, 60)}"
        " --dry-run=client -o json | kubectl apply -f -"
    )


def _add_report(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Another team schedules an export, whose image may not exist; one run at a time, or pods of such runs would fill the nodes."""
    namespace = chance.choice(TEAMS)
    image = chance.choice(("busybox:1.36", "busybox:1.36", "busybox:latest-arm"))
    minute = chance.randrange(1, 5)
    yield f"kubectl create namespace {namespace}"
    yield (
        f"kubectl -n {namespace} create cronjob daily-export --image={image} --schedule='*/{minute} * * * *' --dry-run=client -o json"
        f" -- sh -c 'date; sleep {chance.randrange(5, 40)}; echo exported'"
        """ | jq '.spec.concurrencyPolicy = "Forbid"' | kubectl apply -f -"""
    )


def _use_processors(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Another team computes on one node, within its limit."""
    namespace, name = chance.choice(TEAMS), chance.choice(("render", "montecarlo", "reindex", "transcode"))
    limit = chance.choice(("300m", "500m", "800m"))
    yield f"kubectl create namespace {namespace}"
    yield (
        f"kubectl -n {namespace} create deployment {name} --image=busybox:1.36 --dry-run=client -o json -- sh -c 'yes > /dev/null'"
        f" | kubectl set resources --local -f - --limits=cpu={limit} -o json | kubectl apply -f -"
    )


def _fail_now_and_then(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """Another team's job fails at each run and is removed soon after, so that its alert comes and goes."""
    namespace, name = chance.choice(TEAMS), chance.choice(("sync-partners", "mail-digest", "rotate-archive"))
    job = f'{{"backoffLimit":0,"ttlSecondsAfterFinished":{chance.choice((45, 60, 75))}}}'
    yield f"kubectl create namespace {namespace}"
    yield (
        f"kubectl -n {namespace} create cronjob {name} --image=busybox:1.36 --schedule='*/{chance.choice((2, 3))} * * * *' --dry-run=client"
        f" -o json -- sh -c 'echo peer closed the session; exit 1' | jq '.spec.jobTemplate.spec += {job}' | kubectl apply -f -"
    )


def _look_at_nodes(app: Application, component: Component | None, chance: Random) -> Iterable[str]:
    """An operator looks at every node, and labels one."""
    yield "for node in $(kubectl get nodes -o name); do ssh ${node#node/} uptime > /dev/null; done"
    rack = f"rack=r{chance.randrange(1, 9)}"
    yield f"kubectl label $(kubectl get nodes -o name | sort | tail -{chance.randrange(1, 4)} | head -1) {rack} --overwrite"


MAKERS: Final[tuple[Maker, ...]] = (
    _restart, _scale_out, _set_variable, _set_strategy, _request_resources, _protect, _label_service, _add_settings, _add_report,
    _look_at_nodes,
)  # fmt: skip
ROLLOUTS: Final[tuple[Maker, ...]] = (_restart, _set_variable)
"""Those that roll a workload out and repair nothing."""
LATE: Final[tuple[Maker, ...]] = (
    _restart, _scale_out, _set_variable, _request_resources, _label_service, _add_settings,
)  # fmt: skip
"""Those that change a Deployment, a Service or a ConfigMap of the application."""
EDITS: Final[tuple[Maker, ...]] = (_protect, _label_service, _add_settings, _add_report)
"""Those that restart no pod of the application, and leave nodes alone, which an agent may be working at."""
NEIGHBOURS: Final[tuple[Maker, ...]] = (_use_processors, _fail_now_and_then)
"""Those that go on in other teams' namespaces."""
TICKETS: Final = (
    "the nightly export was late again, please have a look when there is time.",
    "the cost report shows one workload of ours twice since last week.",
    "a colleague cannot log in to the dashboards any more; her account was renamed.",
    "we need another 20 GiB for the archive by the end of the month.",
    "please remove the test jobs of the last migration, they fill our list.",
)
"""What other teams ask for."""
