"""The pods of a recorded node: every way of being broken, compared with the genuine kubelet's status and events.

States follow each other at drawn moments, so each pod must have exactly the recorded status at some second of
the last minute. Which pod was the first to pull an image, and on a loaded node how long that took, is not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simcloud.kubernetes.images import Host, HostState, standard_registry
from tests.simcloud.kubernetes.kubelet.world import World
from tests.simcloud.server.kubernetes.golden.normalise import norm

GOLDEN = Path(__file__).parent / "golden"
RECORDED: dict[str, Any] = json.loads((GOLDEN / "node-pods.json").read_text())
RUN = {
    "noimg": ("nosuchimage:v1", ()),
    "badtag": ("nginx:nosuchtag", ()),
    "noreg": ("registry.invalid.example:5555/app:1", ()),
    "crash": (
        "busybox:1.36",
        ("sh", "-c", "echo starting; echo fatal: cannot connect to db >&2; sleep 1; exit 1"),
    ),
    "done": ("busybox:1.36", ("true",)),
}
ONCE = {"once": ("echo", "hello"), "fail1": ("false",), "exit137": ("sh", "-c", "exit 1")}
FROM_FILES = sorted(path.stem for path in (GOLDEN / "broken").glob("*.yaml"))
CGROUP_V1 = {"limits": {"memory": "9007199254740988Ki"}}
"""That node had cgroups of version 1, which tell "no limit" as this number; a newer one tells nothing."""


@cache
def history() -> dict[str, list[str]]:
    """Every status that each pod had in the last minute, normalised; and its events at the end."""
    world = World(registry=_registry())
    world.apply((GOLDEN / "app-config.yaml").read_text())
    for name, (image, args) in RUN.items():
        world.run(name, *args, image=image)
    for name, args in ONCE.items():
        world.run(name, *args, restartPolicy="Never")
    for name in FROM_FILES:
        world.apply((GOLDEN / "broken" / f"{name}.yaml").read_text())
        world.kernel.run_for(0.03)
    world.kernel.run_for(45)
    names = (*RUN, *ONCE, *FROM_FILES)
    seen: dict[str, list[str]] = {name: [] for name in names}
    for _ in range(75):
        world.kernel.run_for(1)
        for name in names:
            text = _comparable(world.pod(name)["status"])
            if seen[name][-1:] != [text]:
                seen[name].append(text)
    for name in names:
        seen[name].append("\n".join(sorted(_told(world, name))))
    return seen


def _registry() -> Any:
    registry = standard_registry()
    registry.hosts["registry.invalid.example:5555"] = Host(HostState.DENIES)
    registry.hosts["myregistry.example.com"] = Host(HostState.DENIES)
    return registry


def _comparable(status: Any) -> str:
    status = json.loads(json.dumps(status))
    for field in ("containerStatuses", "initContainerStatuses"):
        for each in status.get(field) or ():
            each.pop("volumeMounts", None)  # the token's volume, which admission adds
    if status.get("resources") == CGROUP_V1:
        status["resources"] = {}
    return norm(json.dumps(status, indent=1, sort_keys=True))


def _told(world: World, name: str) -> Iterator[str]:
    for each in world.client.list("events", "lab"):
        if each["involvedObject"]["name"] == name:
            yield from _event(each, each["involvedObject"].get("fieldPath", ""))


def _event(each: Any, path: str) -> Iterator[str]:
    message = each["message"].replace("can't open '/tmp/healthy'", "/tmp/healthy")  # busybox's cat, and ours
    if "1.36" not in message and "1.19" not in message:
        yield norm(f"{each['type']} {each['reason']} {path}: {message}")


@pytest.mark.parametrize("name", [*RUN, *ONCE, *FROM_FILES])
def test_a_pod_comes_to_the_recorded_status(name: str) -> None:
    wanted = _comparable(RECORDED[name]["status"])
    assert wanted in history()[name][:-1], history()[name][-2]


@pytest.mark.parametrize("name", [*RUN, *ONCE, *FROM_FILES])
def test_a_pod_is_told_of_in_the_recorded_words(name: str) -> None:
    wanted = sorted({line for each in RECORDED[name]["events"] for line in _event(each, each["fieldPath"])})
    assert history()[name][-1].split("\n") == (wanted or [""])
