"""Control loops: each watches some kinds, notes keys to look at, and brings one key at a time in order.

A controller is one class in one module of ``controllers/``, registered by its decorator:

    @controller("replicaset-controller")
    class ReplicaSets(Controller):
        def watch(self) -> None:
            self.follow("replicasets.apps", self.enqueue)

        def sync(self, key: NamespacedName) -> None:
            ...

``sync`` runs at one instant of virtual time. It reads the present state (never what an event said),
writes what is missing, and raises ``ApiError`` when a write is refused: the key then comes again. When a write must
wait for a webhook, ``sync`` is left and entered again once there is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import ClassVar, Final, NamedTuple, TypeVar

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.write_retries import WriteRetry
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.events import Recorder
from simcloud.kubernetes.workqueue import WorkQueue

REACTION_S: Final = 0.004
"""From an event to the work on it: the way through a watch, a cache and a queue."""

MANAGER: Final = "kube-controller-manager"

K = TypeVar("K", bound=Hashable)


class NamespacedName(NamedTuple):
    """The key of most controllers. The namespace of cluster-wide objects is empty."""

    namespace: str
    name: str


class Controller:
    """One control loop. ``start`` it once; it lives as long as its world."""

    name: ClassVar[str] = ""
    """As events and service accounts call it: ``deployment-controller``."""
    workers: ClassVar[int] = 5
    """Number of keys worked on at a time, as in most genuine controllers."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.kernel = api.kernel
        self.client = ComponentClient(api, f"system:serviceaccount:kube-system:{self.name}", MANAGER)
        self.recorder = Recorder(self.client, self.name)
        self.queue: WorkQueue[NamespacedName] = WorkQueue(api.kernel)

    def watch(self) -> None:
        """Follow the kinds that this controller reacts to."""
        raise NotImplementedError

    def sync(self, key: NamespacedName) -> None:
        """Bring one key in order."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin to watch and to work."""
        self.watch()
        for _ in range(self.workers):
            self.kernel.spawn(self._work(), self.name)

    def follow(self, name: str, handler: Callable[[Revision], None]) -> None:
        """Call a handler for every object of a resource and for every change."""
        self.client.follow(name, handler)

    def enqueue(self, write: Revision) -> None:
        """A handler: look at the object itself."""
        self.queue.add(NamespacedName(write.key.namespace, write.key.name))

    def enqueue_owner(self, kind: str) -> Callable[[Revision], None]:
        """A handler: look at the controller of this kind that owns the object, or owned it."""

        def handle(write: Revision) -> None:
            for obj in (write.object, write.before):
                owner = controller_of(obj) if obj is not None else None
                if owner is not None and owner["kind"] == kind:
                    self.queue.add(NamespacedName(write.key.namespace, owner["name"]))

        return handle

    async def _work(self) -> None:
        await work_off(self.api, self.queue, self.sync)


async def work_off(api: Api, queue: WorkQueue[K], sync: Callable[[K], None]) -> None:
    """Bring the keys of a queue in order, one after the other; those that are refused come again."""
    while True:
        key = await queue.next()
        await api.components.wait_for(MANAGER)
        await api.kernel.sleep(REACTION_S)
        try:
            await WriteRetry().finish(api, partial(sync, key))
        except ApiError:
            queue.retry(key)
        else:
            queue.forget(key)
        queue.finish(key)


def controller_of(obj: Object) -> Object | None:
    """The owner reference of the one that manages this object, if somebody does."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: Object = owner
            return found
    return None


def owner_reference(owner: Object, controller: bool = True) -> Object:
    """A reference by which an object belongs to its owner."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": controller,
        "blockOwnerDeletion": True,
    }


REGISTERED: dict[str, type[Controller]] = {}
"""The controllers of ``controllers/`` by name, in the order of their modules."""

C = TypeVar("C", bound=type[Controller])


def controller(name: str) -> Callable[[C], C]:
    """Register a controller under its name."""

    def register(made: C) -> C:
        made.name = name
        REGISTERED[name] = made
        return made

    return register
