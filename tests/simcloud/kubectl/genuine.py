"""A standing world served over HTTPS to the genuine kubectl, so that both kubectls see the same instant."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.access.users import SYSTEM_MASTERS, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import ListOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.server.kubernetes.cluster_server import ClusterServer
from tests.simcloud.server.kubernetes.served import PATIENCE_S, Served

T = TypeVar("T")

STILL = 1e-9
"""So slow that nothing happens while a test looks."""


@contextmanager
def standing(api: Api, folder: Path) -> Iterator[Served]:
    """Serve a world whose clock stands; ``kubectl(...)`` of what this gives is the genuine client."""
    kubeconfig = folder / "kubeconfig"
    server = ClusterServer(api, speed=STILL, kubeconfig=kubeconfig)
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(server.run(ready.set)), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE_S), "the server did not come up"
        yield Served(kubeconfig, folder, env={"TZ": "UTC"})
    finally:
        server.stop()
        thread.join(PATIENCE_S)


class Everything:
    """A reader of an API, an administrator's unless it is told whose; it may be told another time of day."""

    def __init__(self, api: Api, now_s: float | None = None, user: User = SYSTEM_MASTERS) -> None:
        self._api = api
        self._now_s = now_s
        self._user = user

    @property
    def now_s(self) -> float:
        return self._api.now_s if self._now_s is None else self._now_s

    def resource(self, name: str) -> Resource:
        plural, _, group = name.partition(".")
        return self._api.catalogue.find(plural, group)

    def _check(self, verb: str, resource: Resource, namespace: str, name: str = "") -> None:
        told = (resource.group, resource.version, resource.plural)
        self._api.authorizer.check(Attributes(self._user, verb, *told, namespace=namespace, name=name))

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        self._check("get", resource, namespace, name)
        return self._api.get(resource, namespace, name)

    async def list(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        self._check("list", resource, namespace or "")
        found: list[Object] = self._api.list(resource, namespace, ListOptions(labels, fields))["items"]
        return found


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives that never has to wait."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("it waits for something")
