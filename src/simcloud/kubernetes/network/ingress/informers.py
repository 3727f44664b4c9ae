"""Caches of API objects that are filled by list and watch, with the permissions of a service account.

A watch lasts five to ten minutes and is then opened again. Permissions are checked when it is opened, so a cache becomes stale some
time after they were taken away, as with genuine clients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.addons.activity_logs import Logger
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.client import ApiClient
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.sim import Event

WATCH_S: Final = (300.0, 600.0)
FIRST_RETRY_S: Final = 0.8
LAST_RETRY_S: Final = 30.0
REFLECTOR: Final = "k8s.io/client-go@v0.34.1/tools/cache/reflector.go:290"

Name = tuple[str, str]
"""Namespace and name."""
Handler = Callable[[Object | None, Object | None], None]
"""Called with an object before and after a change; None before it was created and after it was deleted."""


class Informer:
    """The cache of one resource; ``objects`` are in the order in which they were first seen."""

    def __init__(self, access: ApiClient, client: ComponentClient, log: Logger, name: str) -> None:
        self.objects: dict[Name, Object] = {}
        self.on_change: Handler | None = None
        self.filled: Event[None] = Event(log.ctx.kernel)
        self._access = access
        self._client = client
        self._log = log
        self._name = name
        self._stop: Callable[[], None] | None = None
        self._listed: dict[Name, Object] | None = None

    def start(self) -> None:
        """Fill the cache as soon as permissions allow, and keep it up to date."""
        self._log.ctx.spawn(self._run(), f"informer {self._name}")

    def stop(self) -> None:
        """End the watch."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    async def _run(self) -> None:
        ctx, resource, retry_s = self._log.ctx, self._client.resource(self._name), FIRST_RETRY_S
        chance = ctx.random(f"informer {self._name}")
        while True:
            try:
                for verb in ("list", "watch"):
                    self._access.check(verb, resource)
            except ApiError as error:
                kind = f"*v1.{resource.kind}"
                self._log.write(
                    "reflector.go:205", "Failed to watch", "E", err=f"failed to list {kind}: {error}",
                    logger="UnhandledError", reflector=REFLECTOR, type=kind,
                )  # fmt: skip
                await ctx.sleep(retry_s * chance.uniform(1.0, 2.0))
                retry_s = min(2 * retry_s, LAST_RETRY_S)
                continue
            retry_s = FIRST_RETRY_S
            self._open()
            self.filled.set(None)
            await ctx.sleep(chance.uniform(*WATCH_S))
            self.stop()

    def _open(self) -> None:
        """List all objects, handle the differences from the cache, and watch."""
        listed: dict[Name, Object] = {}
        self._listed = listed
        self._stop = self._client.follow(self._name, self._take)
        self._listed = None
        for name in [name for name in self.objects if name not in listed]:
            self._replace(name, None)
        for name, obj in listed.items():
            if self.objects.get(name) is not obj:
                self._replace(name, obj)

    def _take(self, write: Revision) -> None:
        name = (write.key.namespace, write.key.name)
        if self._listed is not None:
            self._listed[name] = write.object
        else:
            self._replace(name, None if write.change == "DELETED" else write.object)

    def _replace(self, name: Name, obj: Object | None) -> None:
        before = self.objects.get(name)
        if obj is None:
            self.objects.pop(name, None)
        else:
            self.objects[name] = obj
        if self.on_change is not None:
            self.on_change(before, obj)
