"""The API server in process, used by controllers and by the HTTP server.

``Api`` knows the resources, holds the revision log and the components that a write passes through. The verbs are
implemented by the modules in ``verbs`` and by ``subresources``. None of them waits: a request is served at one
instant of virtual time; ``write_retries`` describes how a request waits for webhooks.

Returned objects are shared with the log: make a ``copy`` before modifying one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, Final, TypeVar
from uuid import UUID

from simcloud.kubernetes.api import subresources
from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.access.tokens import Tokens
from simcloud.kubernetes.api.admission import ADMISSION
from simcloud.kubernetes.api.admission.match_rules import GROUP as WEBHOOK_GROUP
from simcloud.kubernetes.api.admission.webhooks import CONFIGURATIONS
from simcloud.kubernetes.api.aggregation import Aggregation, Provider
from simcloud.kubernetes.api.allocation import Addresses
from simcloud.kubernetes.api.computed import component_statuses
from simcloud.kubernetes.api.context import WebhookCaller
from simcloud.kubernetes.api.conversion import STORAGE
from simcloud.kubernetes.api.custom_resources import CustomResources
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, DeleteOptions, ListOptions, WriteOptions
from simcloud.kubernetes.api.request_counts import Counted, RequestCounts
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.runtime import Runtime
from simcloud.kubernetes.api.store import Key, RevisionLog
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.api.verbs import deletes, patches, reads, watches, writes
from simcloud.kubernetes.api.verbs.patches import Patch
from simcloud.kubernetes.api.verbs.watches import Watch, WatchOptions
from simcloud.kubernetes.api.write_retries import WriteRetry, continue_in_background
from simcloud.kubernetes.components import Components
from simcloud.machine import EPOCH_S
from simcloud.machine.network import HttpHandler
from simcloud.sim import Kernel

_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"

T = TypeVar("T")


class Api:
    """Everything that is declared in a cluster, and the rules for changing it."""

    def __init__(self, kernel: Kernel, epoch_s: float = EPOCH_S) -> None:
        self.kernel = kernel
        self.components = Components(kernel)
        self.epoch_s = epoch_s
        kernel.on_skip(self._shift_calendar)
        self.catalogue = Catalogue()
        self.log = RevisionLog(lambda: kernel.now)
        self.addresses = Addresses(self.log, self._between)
        self.admission = list(ADMISSION)
        self.requests = RequestCounts()
        self.providers: dict[tuple[str, str], Provider] = {("", "componentstatuses"): component_statuses}
        self.aggregation = Aggregation(self.log, self.catalogue, self.providers)
        """The groups of the API that programs in pods serve."""
        self.authorizer = Authorizer(reads.PolicyOf(self.log))
        self.custom = CustomResources(self.log, self.catalogue, self.timestamp)
        self.core = reads.CoreOf(self.log)
        self.tokens = Tokens(kernel.random("api.tokens").randbytes(32), self.core)
        self.runtime: Runtime | None = None
        """Runs containers; set by the kubelet."""
        self.webhooks: WebhookCaller | None = None
        """Calls admission webhooks; set by the network. Without it every call fails."""
        self.door: HttpHandler | None = None
        """Handles requests of pods to https://kubernetes.default; set by the HTTP server."""
        self.retry: WriteRetry | None = None
        """The webhook responses of the work that runs at this instant."""
        self._uids: Random = kernel.random("api.uids")
        self._suffixes: Random = kernel.random("api.names")

    @property
    def now_s(self) -> float:
        """The time of day of the cluster, in seconds since 1970."""
        return self.epoch_s + self.kernel.now

    def _shift_calendar(self, seconds: float) -> None:
        self.epoch_s += seconds
        self.log.shift_times(seconds)

    def timestamp(self) -> str:
        """The time of day as objects carry it."""
        return rfc3339(self.now_s)

    def new_uid(self) -> str:
        """A uid that no object has yet."""
        return self.draw(lambda: str(UUID(int=self._uids.getrandbits(128), version=4)))

    def new_suffix(self) -> str:
        """Five letters after a generateName."""
        return self.draw(lambda: "".join(self._suffixes.choice(_SUFFIX_LETTERS) for _ in range(5)))

    def draw(self, lot: Callable[[], T]) -> T:
        """Return a random value of a write; the same one when the write is retried."""
        return lot() if self.retry is None else self.retry.draw(lot)

    def _between(self, least: int, end: int) -> int:
        return self.draw(lambda: self.kernel.random("api.addresses").randrange(least, end))

    @property
    def has_webhooks(self) -> bool:
        """Whether any admission webhook is configured."""
        return any(self.log.objects(WEBHOOK_GROUP, plural) for plural in CONFIGURATIONS)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Make writes that the present work does not wait for."""
        before, self.retry = self.retry, None
        try:
            yield
        finally:
            self.retry = before

    def storage_version(self, resource: Resource) -> Resource:
        """The resource in whose version, and under whose name, objects are kept."""
        place = STORAGE.get(resource.key)
        if place is None:
            return self.custom.storage(resource) if resource.custom is not None else resource
        return self.catalogue.at(*place) or resource

    def key(self, resource: Resource, namespace: str, name: str) -> Key:
        """Where the log keeps an object."""
        kept = self.storage_version(resource)
        return Key(kept.group, kept.plural, namespace if kept.namespaced else "", name)

    # The verbs. Each raises only ApiError, with the genuine server's message.

    def get(self, resource: Resource, namespace: str, name: str) -> Object:
        """One object."""
        return reads.get(self, resource, namespace, name)

    def list(self, resource: Resource, namespace: str | None, options: ListOptions | None = None) -> Object:
        """A List of a namespace's objects, of all namespaces if it is None."""
        return reads.list_objects(self, resource, namespace, options or ListOptions())

    def watch(self, resource: Resource, namespace: str | None, options: WatchOptions | None = None) -> Watch:
        """What happens to these objects from now on, or from a revision on."""
        return watches.watch(self, resource, namespace, options or WatchOptions())

    @continue_in_background
    def create(
        self,
        resource: Resource,
        namespace: str,
        data: Any,
        caller: Caller | None = None,
        options: WriteOptions | None = None,
    ) -> Object:
        """Make an object; the answer is what is stored."""
        with Counted(self.requests, "POST", resource):
            return writes.create(
                self, resource, namespace, data, caller or Caller(), options or WriteOptions()
            )

    @continue_in_background
    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        data: Any,
        caller: Caller | None = None,
        options: WriteOptions | None = None,
        subresource: str = "",
    ) -> Object:
        """Replace an object, or its status."""
        with Counted(self.requests, "PUT", resource, subresource):
            return writes.update(
                self,
                resource,
                namespace,
                name,
                data,
                caller or Caller(),
                options or WriteOptions(),
                subresource,
            )

    @continue_in_background
    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Patch,
        caller: Caller | None = None,
        options: WriteOptions | None = None,
        subresource: str = "",
    ) -> Object:
        """Change an object by a patch of any of the four types."""
        with Counted(self.requests, "PATCH", resource, subresource):
            return patches.patch(
                self,
                resource,
                namespace,
                name,
                patch,
                caller or Caller(),
                options or WriteOptions(),
                subresource,
            )

    @continue_in_background
    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        options: DeleteOptions | None = None,
        caller: Caller | None = None,
    ) -> deletes.Outcome:
        """Delete an object, or mark it for those who must act before it goes."""
        with Counted(self.requests, "DELETE", resource):
            return deletes.delete(
                self, resource, namespace, name, options or DeleteOptions(), caller or Caller()
            )

    @continue_in_background
    def delete_collection(
        self,
        resource: Resource,
        namespace: str | None,
        selection: ListOptions | None = None,
        options: DeleteOptions | None = None,
        caller: Caller | None = None,
    ) -> Object:
        """Delete all that a selection names; the answer is the List of them."""
        with Counted(self.requests, "DELETECOLLECTION", resource):
            return deletes.delete_collection(
                self,
                resource,
                namespace,
                selection or ListOptions(),
                options or DeleteOptions(),
                caller or Caller(),
            )

    @continue_in_background
    def subresource(
        self,
        verb: str,
        resource: Resource,
        namespace: str,
        name: str,
        subresource: str,
        data: Any = None,
        caller: Caller | None = None,
        options: WriteOptions | None = None,
    ) -> Object:
        """Get, create or update an object's part or action that has a path of its own."""
        return subresources.serve(
            self,
            verb,
            resource,
            namespace,
            name,
            subresource,
            data,
            caller or Caller(),
            options or WriteOptions(),
        )
