"""Whatever is called in whatever order: the log keeps its promises, and only API errors are raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import copy
from simcloud.kubernetes.api.options import Caller, DeleteOptions, WriteOptions
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.api.verbs.watches import Watch, WatchOptions
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.api.test_flows import config, deployment, service

Data = dict[str, Any]

NAMES = ("a", "b", "c")
KINDS = (("configmaps", ""), ("deployments", "apps"), ("services", ""))
words = st.text("ab", max_size=3)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 70000) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def made(plural: str, name: str, number: int) -> Data:
    if plural == "configmaps":
        return config(name, key=str(number))
    if plural == "deployments":
        return deployment(name, replicas=number)
    return service(name, selector={"app": str(number)})


class Step:
    """One call, drawn by hypothesis."""

    def __init__(self, verb: str, kind: tuple[str, str], name: str, number: int, extra: Any) -> None:
        self.verb, self.kind, self.name, self.number, self.extra = verb, kind, name, number, extra

    def __repr__(self) -> str:
        return f"{self.verb} {self.kind[0]}/{self.name} {self.number} {self.extra!r}"

    def take(self, api: Api) -> None:
        resource = api.catalogue.find(*self.kind)
        _VERBS[self.verb](self, api, resource)

    def _create(self, api: Api, resource: Resource) -> None:
        api.create(resource, "demo", made(resource.plural, self.name, self.number))

    def _update(self, api: Api, resource: Resource) -> None:
        data = copy(api.get(resource, "demo", self.name))
        data["metadata"]["labels"] = {"n": str(self.number)}
        if self.number % 3 == 0:
            data["metadata"]["resourceVersion"] = "1"
        api.update(resource, "demo", self.name, data)

    def _patch(self, api: Api, resource: Resource) -> None:
        body = {"metadata": {"labels": {"n": str(self.number)}}}
        kind = (PatchType.MERGE, PatchType.STRATEGIC)[self.number % 2]
        api.patch(resource, "demo", self.name, Patch(kind, body))

    def _apply(self, api: Api, resource: Resource) -> None:
        body = made(resource.plural, self.name, self.number)
        manager = Caller(manager=f"manager-{self.number % 3}")
        options = WriteOptions(force=self.number % 2 == 0)
        api.patch(resource, "demo", self.name, Patch(PatchType.APPLY, body), manager, options)

    def _junk(self, api: Api, resource: Resource) -> None:
        kinds = (PatchType.MERGE, PatchType.STRATEGIC, PatchType.JSON, PatchType.APPLY)
        api.patch(resource, "demo", self.name, Patch(kinds[self.number % 4], self.extra))

    def _junk_field(self, api: Api, resource: Resource) -> None:
        data = made(resource.plural, self.name, self.number)
        data["spec" if self.number % 2 else "metadata"] = self.extra
        api.create(resource, "demo", data)

    def _delete(self, api: Api, resource: Resource) -> None:
        policy = ("", "Foreground", "Background", "Orphan")[self.number % 4]
        api.delete(resource, "demo", self.name, DeleteOptions(propagation=policy))

    def _finalize(self, api: Api, resource: Resource) -> None:
        finalizers = ["example.com/f"] if self.number % 2 else None
        body = {"metadata": {"finalizers": finalizers}}
        api.patch(resource, "demo", self.name, Patch(PatchType.MERGE, body))


_VERBS: dict[str, Callable[[Step, Api, Resource], None]] = {
    "create": Step._create,
    "update": Step._update,
    "patch": Step._patch,
    "apply": Step._apply,
    "junk": Step._junk,
    "junk field": Step._junk_field,
    "delete": Step._delete,
    "finalize": Step._finalize,
}
steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(list(_VERBS)),
        st.sampled_from(KINDS),
        st.sampled_from(NAMES),
        st.integers(0, 9),
        junk,
    ),
    max_size=25,
)


def fresh() -> Api:
    RevisionLog.seal = staticmethod(freeze)
    api = Api(Kernel(1))
    api.create(api.catalogue.find("namespaces"), "", {"metadata": {"name": "demo"}})
    return api


def state(api: Api, resource: Resource) -> dict[str, Data]:
    return {one["metadata"]["name"]: one for one in api.list(resource, "demo")["items"]}


def follow(known: dict[str, Data], watch: Watch) -> None:
    while (event := watch.take()) is not None:
        name = event.object["metadata"]["name"]
        if event.type == "DELETED":
            assert name in known, f"{name} was deleted twice, or never added"
            del known[name]
        else:
            assert (event.type == "ADDED") == (name not in known)
            known[name] = event.object


@pytest.mark.slow
@settings(max_examples=200)
@given(steps, st.integers(0, 25))
def test_the_log_keeps_its_promises(calls: list[Step], start: int) -> None:
    api = fresh()
    resources = [api.catalogue.find(*kind) for kind in KINDS]
    watched: list[tuple[Resource, dict[str, Data], Watch]] = []
    for number, call in enumerate(calls):
        if number == start:
            for resource in resources:
                listed = api.list(resource, "demo")
                version = WatchOptions(resource_version=listed["metadata"]["resourceVersion"])
                known = {one["metadata"]["name"]: one for one in listed["items"]}
                watched.append((resource, known, api.watch(resource, "demo", version)))
        before, revision = api.log.hash(), api.log.revision
        try:
            call.take(api)
        except ApiError:
            assert api.log.hash() == before, "a refused call left something behind"
        assert api.log.revision >= revision
    for resource, known, watch in watched:
        follow(known, watch)
        assert known == state(api, resource)
    numbers = [write.number for write in api.log.history()]
    assert numbers == list(range(1, len(numbers) + 1))


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.integers(0, 9), st.integers(0, 9))
def test_apply_is_idempotent(kind: tuple[str, str], first: int, second: int) -> None:
    api = fresh()
    resource = api.catalogue.find(*kind)
    for number in (first, second, second):
        stored = api.patch(
            resource, "demo", "a", Patch(PatchType.APPLY, made(kind[0], "a", number)), Caller(manager="me")
        )
        revision = api.log.revision
    assert api.log.revision == int(stored["metadata"]["resourceVersion"]) == revision
    again = api.patch(
        resource, "demo", "a", Patch(PatchType.APPLY, made(kind[0], "a", second)), Caller(manager="me")
    )
    assert again == stored


@settings(max_examples=200)
@given(
    st.dictionaries(words.filter(bool), words, max_size=4),
    st.dictionaries(words.filter(bool), words, max_size=4),
    st.sampled_from([PatchType.MERGE, PatchType.STRATEGIC]),
)
def test_a_patch_and_its_inverse_cancel(
    before: dict[str, str], after: dict[str, str], kind: PatchType
) -> None:
    api = fresh()
    configs = api.catalogue.find("configmaps")
    stored = api.create(configs, "demo", config("c", **before))

    def turn(have: dict[str, str], want: dict[str, str]) -> Data:
        data: dict[str, str | None] = dict.fromkeys(have)
        data.update(want)
        changed: Data = api.patch(configs, "demo", "c", Patch(kind, {"data": data}))
        return changed

    assert turn(before, after).get("data", {}) == after
    assert turn(after, before).get("data", {}) == stored.get("data", {})


@pytest.mark.slow
def test_one_seed_one_log() -> None:
    """The same calls give the same bytes, whatever the hash seed of the interpreter."""
    import os
    import subprocess
    import sys

    program = (
        "from simcloud.world.world import World\n"
        "from simcloud.kubernetes.cluster import Cluster\n"
        "from tests.simcloud.kubernetes.api.test_properties import KINDS, made\n"
        "world = World(5)\n"
        "api = Cluster(world.kernel, [world.add_machine('node-1')]).api\n"
        "for kind in KINDS:\n"
        "    for name in 'abc':\n"
        "        world.run_for(7.5)\n"
        "        api.create(api.catalogue.find(*kind), 'default', made(kind[0], name, 3))\n"
        "print(api.log.hash())\n"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "777")
    }
    assert len(hashes) == 1
    assert len(hashes.pop().strip()) == 64


@settings(max_examples=400)
@given(st.sampled_from(["pods", "services", "configmaps", "nodes", "persistentvolumeclaims"]), junk)
def test_a_hostile_object_is_refused_or_stored_whole(plural: str, body: Any) -> None:
    api = fresh()
    resource = api.catalogue.find(plural)
    try:
        stored = api.create(resource, "demo" if resource.namespaced else "", body)
    except ApiError as error:
        msgspec.json.encode(error.status())
    else:
        assert api.get(resource, "demo", stored["metadata"]["name"]) == stored
