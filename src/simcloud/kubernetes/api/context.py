"""The parts of the API server that admission plugins and the reading verbs use, and the write that admission checks.

They take one of these protocols instead of ``Api``, so that their modules stay below the one that assembles the
server. ``verbs.write_context`` adds what the writing verbs need.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct, field

from simcloud.kubernetes.api.access.rbac import Authorizer
from simcloud.kubernetes.api.aggregation import Provider
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.resources import Catalogue, Resource
from simcloud.kubernetes.api.runtime import Runtime
from simcloud.kubernetes.api.store import Key, RevisionLog
from simcloud.kubernetes.api.write_retries import WriteRetry
from simcloud.sim import Kernel


class WebhookCaller(Protocol):
    """Posts an AdmissionReview to a Service's pod or to a URL."""

    def call(self, url: str, client_config: Object, review: Object, timeout_s: int) -> Any:
        """Return the decoded response body, or a ``Pending`` one. Raises ``CallFailed`` with the message of Go's client."""


class ReadContext(Protocol):
    """What get, list, watch and pod logs read from."""

    kernel: Kernel
    catalogue: Catalogue
    log: RevisionLog
    providers: dict[tuple[str, str], Provider]
    runtime: Runtime | None

    def storage_version(self, resource: Resource) -> Resource:
        """Return the resource in the version in which objects are stored."""

    def key(self, resource: Resource, namespace: str, name: str) -> Key:
        """Return the key of an object in the log."""


class AdmissionContext(Protocol):
    """What admission plugins read, and the one write that they make: the status of a ResourceQuota."""

    catalogue: Catalogue
    log: RevisionLog
    authorizer: Authorizer
    webhooks: WebhookCaller | None
    retry: WriteRetry | None

    @property
    def now_s(self) -> float:
        """The cluster's time of day, in seconds since 1970."""

    def timestamp(self) -> str:
        """Return the time of day in RFC 3339 format."""

    def new_uid(self) -> str:
        """Return an unused uid."""

    def new_suffix(self) -> str:
        """Return five letters to append to a generateName."""

    def storage_version(self, resource: Resource) -> Resource:
        """Return the resource in the version in which objects are stored."""

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


class Write(Struct):
    """What admission and the kinds' strategies see of a write. ``new`` may be changed in place."""

    api: AdmissionContext
    operation: Literal["CREATE", "UPDATE", "DELETE"]
    resource: Resource
    key: Key
    new: Object
    old: Object | None
    caller: Caller
    options: WriteOptions
    subresource: str = ""
    round: int = 0
    """1 while plugins run a second time because a webhook changed the object."""
    reinvoke: bool = False
    """Set by a plugin whose change the others must see."""
    invoked: set[tuple[str, str]] = field(default_factory=set)
    """The webhooks called so far, by configuration and name."""

    @property
    def before(self) -> Object:
        """The object that an update replaces."""
        if self.old is None:
            raise ValueError(f"a {self.operation} has nothing before it")
        return self.old
