"""The interface of admission plugins, and helpers that most of them use."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from simcloud.kubernetes.api.errors import Forbidden
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

PODS: Final = ("", "pods")
CLAIMS: Final = ("", "persistentvolumeclaims")
MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a pod that a kubelet runs by itself and only shows to the API."""


class Plugin(Protocol):
    """An admission plugin."""

    def admit(self, write: Write) -> None:
        """Change ``write.new`` in place, or refuse."""

    def check(self, write: Write) -> None:
        """Raise ``ApiError`` to refuse the finished object."""


class Quiet:
    """A base class whose two methods do nothing."""

    resources: tuple[tuple[str, str], ...] = ()
    """The only resources whose writes concern the plugin, by group and plural; empty for all."""

    def admit(self, write: Write) -> None:
        """Change nothing."""

    def check(self, write: Write) -> None:
        """Refuse nothing."""


Phase: TypeAlias = "Callable[[Write], None]"


@lru_cache(maxsize=1024)
def select_phases(plugins: tuple[Plugin, ...], resource: tuple[str, str]) -> tuple[list[Phase], list[Phase]]:
    """The ``admit`` and ``check`` of the plugins that a write of this resource concerns, without empty ones."""
    concerned = [
        plugin
        for plugin in plugins
        if not isinstance(plugin, Quiet) or not plugin.resources or resource in plugin.resources
    ]
    return (
        [plugin.admit for plugin in concerned if type(plugin).admit is not Quiet.admit],
        [plugin.check for plugin in concerned if type(plugin).check is not Quiet.check],
    )


def creates(write: Write, key: tuple[str, str]) -> bool:
    """Whether a write makes an object of this resource, and no part of one."""
    return write.operation == "CREATE" and write.resource.key == key and not write.subresource


def updates(write: Write, key: tuple[str, str], subresource: str = "") -> bool:
    """Whether a write changes an object of this resource, or this part of one."""
    return write.operation == "UPDATE" and write.resource.key == key and write.subresource == subresource


def make_refusal(write: Write, why: str) -> Forbidden:
    """A refusal that speaks of the object being written. Until all changes are made, a generated name has no end yet."""
    name = write.key.name or write.new["metadata"].get("generateName", "")
    return Forbidden(write.resource, name, why)


def aggregate(problems: list[str]) -> str:
    """Format several problems like Go's aggregate error."""
    unique = list(dict.fromkeys(problems))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def namespace_of(write: Write) -> Object | None:
    """The Namespace that the object is in."""
    return write.api.log.get(Key("", "namespaces", "", write.key.namespace))


def containers_of(spec: Object) -> list[Object]:
    """Return all containers of a pod, init containers first."""
    return [
        container
        for part in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(part) or ()
    ]
