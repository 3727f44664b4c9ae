"""What every admission plugin is, and the few words that most of them need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from simcloud.kubernetes.api.errors import Forbidden
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.verbs.write import Write

PODS: Final = ("", "pods")
CLAIMS: Final = ("", "persistentvolumeclaims")
MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a pod that a kubelet runs by itself and only shows to the API."""


class Plugin(Protocol):
    """One concern of admission."""

    def admit(self, write: Write) -> None:
        """Change ``write.new`` in place, or refuse."""

    def check(self, write: Write) -> None:
        """Refuse, or let it pass."""


class Quiet:
    """A plugin that does nothing at a moment it does not name."""

    def admit(self, write: Write) -> None:
        """Nothing to change."""

    def check(self, write: Write) -> None:
        """Nothing against it."""


def creates(write: Write, key: tuple[str, str]) -> bool:
    """Whether a write makes an object of this resource, and no part of one."""
    return write.operation == "CREATE" and write.resource.key == key and not write.subresource


def updates(write: Write, key: tuple[str, str], subresource: str = "") -> bool:
    """Whether a write changes an object of this resource, or this part of one."""
    return write.operation == "UPDATE" and write.resource.key == key and write.subresource == subresource


def refused(write: Write, why: str) -> Forbidden:
    """A refusal that speaks of the object being written. Until all changes are made, a generated name has no end yet."""
    name = write.key.name or write.new["metadata"].get("generateName", "")
    return Forbidden(write.resource, name, why)


def aggregate(problems: list[str]) -> str:
    """Several problems as Go's aggregate error tells them."""
    told = list(dict.fromkeys(problems))
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def namespace_of(write: Write) -> Object | None:
    """The Namespace that the object is in."""
    return write.api.log.get(Key("", "namespaces", "", write.key.namespace))


def containers_of(spec: Object) -> list[Object]:
    """All containers of a pod, those of its start first."""
    return [
        one
        for part in ("initContainers", "containers", "ephemeralContainers")
        for one in spec.get(part) or ()
    ]
