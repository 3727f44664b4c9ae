"""Control loops by example: ``cases/<controller>/<name>.in.yaml`` and what must come of it in ``.out.yaml``.

A case happens in namespace ``demo`` of a cluster with two nodes and a stand-in for their kubelets.
Objects are named ``resource/name``, where the name may hold ``*`` and then means all that fit.

``.in.yaml``:
  controllers: the ones that run, by name
  stand-in:    false, if pods shall stay as they are made
  steps:       in order, each one of
    - create: an object, or a list of them
    - wait: 5s
    - patch: {deployments.apps/web: a merge patch, …}
    - status: {pods/web-*: a merge patch of the status, …}
    - ready / unready / fail / succeed: pods/web-*    (what a kubelet would tell)
    - usage: {cpu: 90m, memory: 64Mi}   (of every running container, as a metrics server tells it from now on)
    - own: {pods/web-*: configmaps/other}   (one more owner)
    - hold: pods/web-*        (the stand-in leaves them alone from now on)
    - delete: pods/web-0, or {name: …, propagation: Orphan, grace: 0}

``.out.yaml``:
  objects: by resource, the parts of each object that must be there; all objects of the resource in
           the namespace are listed, in the order in which they were made. Texts may hold ``*``; null means
           that there is no such field.
  events:  all that the running controllers recorded, in order:
           ``Normal SuccessfulCreate ReplicaSet/web: Created pod: web-*``; `` (x2)`` tells a count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
import yaml

from simcloud.kubernetes import controllers
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import REGISTERED, Controller, owner_reference
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.conftest import demo_cluster, frozen_objects
from tests.simcloud.kubernetes.controllers.stand_in import StandIn, add_nodes
from tests.simcloud.kubernetes.measuring import serve_metrics

CASES = Path(__file__).parent / "cases"
NAMESPACE = "demo"

__all__ = ["frozen_objects"]

for found in walk_packages(controllers.__path__, f"{controllers.__name__}."):
    import_module(found.name)


class World:
    """A cluster in which a case happens."""

    def __init__(self, running: list[str], stand_in: bool = True) -> None:
        self.kernel = Kernel(1)
        self.api = demo_cluster(self.kernel).api
        self.client = ComponentClient(self.api, "admin", "kubectl")
        self.running = running
        self.stand_in = StandIn(self.api)
        self.usage: Object = {}
        add_nodes(self.api)
        if stand_in:
            self.stand_in.start()
        for name in running:
            REGISTERED[name](self.api).start()

    def named(self, name: str) -> list[Object]:
        """The objects of a ``resource/name`` that may hold stars."""
        resource, _, pattern = name.partition("/")
        namespace = NAMESPACE if self.client.resource(resource).namespaced else None
        return [
            one
            for one in self.client.list(resource, namespace)
            if fnmatchcase(one["metadata"]["name"], pattern)
        ]

    def oldest_first(self, objects: Iterable[Object]) -> list[Object]:
        """Objects in the order in which they were made."""
        made = {
            write.object["metadata"]["uid"]: write.number
            for write in self.api.log.history()
            if write.change == "ADDED"
        }
        return sorted(objects, key=lambda one: made[one["metadata"]["uid"]])

    def step(self, verb: str, what: Any) -> None:
        """Do one step."""
        if verb == "wait":
            self.kernel.run_for(seconds(what))
            return
        steps: dict[str, Callable[[Any], None]] = {
            "create": self.create,
            "patch": lambda bodies: self.patch(bodies, ""),
            "status": lambda bodies: self.patch(
                {name: {"status": body} for name, body in bodies.items()}, "status"
            ),
            "ready": lambda name: self.tell(name, "Running", True),
            "unready": lambda name: self.tell(name, "Running", False),
            "fail": lambda name: self.tell(name, "Failed", False),
            "succeed": lambda name: self.tell(name, "Succeeded", False),
            "hold": lambda name: self.stand_in.held.update(
                {one["metadata"]["uid"]: None for one in self.some(name)}
            ),
            "delete": self.delete,
            "own": self.own,
            "usage": self.use,
        }
        steps[verb](what)

    def own(self, owners: dict[str, str]) -> None:
        """Give objects one more owner."""
        for name, owner in owners.items():
            reference = owner_reference(self.some(owner)[0], controller=False)
            for obj in self.some(name):
                held = [*obj["metadata"].get("ownerReferences", ()), reference]
                self.client.patch(obj, {"metadata": {"ownerReferences": held}}, "", PatchType.MERGE)

    def use(self, usage: Object) -> None:
        """Have every container of a running pod use so much."""
        if not self.usage:
            serve_metrics(self.api, lambda _: [], self._pod_metrics)
        self.usage = usage

    def _pod_metrics(self, namespace: str | None) -> list[Object]:
        return [
            {
                "metadata": {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]},
                "timestamp": self.api.timestamp(),
                "window": "15s",
                "containers": [
                    {"name": container["name"], "usage": self.usage}
                    for container in pod["spec"]["containers"]
                ],
            }
            for pod in self.client.list("pods", namespace)
            if at(pod, "status", "phase") == "Running"
        ]

    def some(self, name: str) -> list[Object]:
        found = self.named(name)
        assert found, f"no {name} at {self.kernel.now:.1f} s"
        return found

    def create(self, objects: Any) -> None:
        for obj in objects if isinstance(objects, list) else [objects]:
            made = copy(obj)
            if self.client.of(made).namespaced:
                made["metadata"].setdefault("namespace", NAMESPACE)
            stored = self.client.create(made)
            if "status" in made and stored.get("status") != made["status"]:
                self.client.patch(stored, {"status": made["status"]}, "status", PatchType.MERGE)

    def patch(self, bodies: dict[str, Any], subresource: str) -> None:
        for name, body in bodies.items():
            for obj in self.some(name):
                self.client.patch(obj, body, subresource, PatchType.MERGE)

    def tell(self, name: str, phase: str, ready: bool) -> None:
        for pod in self.some(name):
            self.stand_in.tell(pod, phase, ready)

    def delete(self, what: Any) -> None:
        options = {"name": what} if isinstance(what, str) else what
        for obj in self.some(options["name"]):
            self.client.delete(obj, options.get("grace"), options.get("propagation", ""))

    def events(self) -> list[str]:
        """What the running controllers recorded, the first first."""
        events = self.oldest_first(
            event for event in self.client.list("events") if event["source"].get("component") in self.running
        )
        return [event_line(event) for event in events]


def seconds(text: str) -> float:
    """The seconds of ``1m30s``."""
    parts = re.findall(r"([0-9.]+)([hms])", text)
    assert "".join(number + unit for number, unit in parts) == text, f"{text!r} is no duration"
    return sum(float(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in parts)


def event_line(event: Object) -> str:
    about = event["involvedObject"]
    counted = f" (x{event['count']})" if event.get("count", 1) > 1 else ""
    return f"{event['type']} {event['reason']} {about['kind']}/{about['name']}: {event['message']}{counted}"


def differences(wanted: Any, seen: Any, place: str) -> list[str]:
    """Where what is seen lacks a wanted part."""
    if isinstance(wanted, dict) and isinstance(seen, dict):
        return [
            told
            for key, value in wanted.items()
            for told in differences(value, seen.get(key), f"{place}.{key}")
        ]
    if isinstance(wanted, list) and isinstance(seen, list) and len(wanted) == len(seen):
        return [
            told
            for index, (one, other) in enumerate(zip(wanted, seen, strict=True))
            for told in differences(one, other, f"{place}[{index}]")
        ]
    if isinstance(wanted, str) and isinstance(seen, str) and fnmatchcase(seen, wanted.replace("[", "[[]")):
        return []
    return [] if wanted == seen else [f"{place}: wanted {wanted!r}, seen {seen!r}"]


def case_names() -> list[str]:
    return [str(path.relative_to(CASES))[: -len(".in.yaml")] for path in sorted(CASES.glob("**/*.in.yaml"))]


@pytest.mark.parametrize("name", case_names())
def test_case(name: str) -> None:
    case = yaml.safe_load((CASES / f"{name}.in.yaml").read_text())
    wanted = yaml.safe_load((CASES / f"{name}.out.yaml").read_text())
    world = World(case["controllers"], case.get("stand-in", True))
    for step in case["steps"]:
        ((verb, what),) = step.items()
        world.step(verb, what)
    told = []
    for resource, parts in wanted.get("objects", {}).items():
        told += differences(parts, world.oldest_first(world.named(f"{resource}/*")), resource)
    if "events" in wanted:
        told += differences(wanted["events"], world.events(), "events")
    assert not told, "\n".join(told)


def case_folder(registered: type[Controller]) -> str:
    """The folder of a controller's cases: named as its module, or as the package it is in."""
    return registered.__module__.removeprefix(f"{controllers.__name__}.").partition(".")[0]


@pytest.mark.parametrize("name", REGISTERED)
def test_every_controller_has_a_case(name: str) -> None:
    folder = CASES / case_folder(REGISTERED[name])
    cases = [yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.in.yaml"))]
    assert any(name in case["controllers"] for case in cases), f"{folder} has no case with {name}"


@pytest.mark.parametrize("path", sorted(CASES.glob("**/*.yaml")), ids=lambda path: path.name)
def test_every_case_is_whole(path: Path) -> None:
    name = path.name
    other = name.replace(".in.yaml", ".out.yaml") if ".in." in name else name.replace(".out.yaml", ".in.yaml")
    assert (path.parent / other).exists()


def test_a_missing_part_is_told() -> None:
    seen = {"a": [{"b": "web-1", "c": 2}], "d": 1}
    assert not differences({"a": [{"b": "web-*"}], "e": None}, seen, "x")
    assert differences({"a": [{"b": "db-*"}]}, seen, "x") == ["x.a[0].b: wanted 'db-*', seen 'web-1'"]
    assert differences({"a": []}, seen, "x")
    assert differences({"d": None}, seen, "x")
