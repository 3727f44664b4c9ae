"""The profiles of ``kubectl debug``.

Each profile is a row: the capabilities it adds, its restrictions, and, for a node, whether the pod uses the node's
own namespaces with the node's files at ``/host``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from simcloud.kubectl.errors import KubectlError
from simcloud.kubernetes.api import Object

HOST_VOLUME: Final = "host-root"
PROBES: Final = {"liveness": "livenessProbe", "readiness": "readinessProbe", "startup": "startupProbe"}


class Style(Enum):
    """What is debugged, and how."""

    EPHEMERAL = "a container in the running pod"
    COPY = "a copy of the pod"
    NODE = "a pod on the node"


class Profile(Struct, frozen=True):
    """How a debugging container is set up."""

    capabilities: tuple[str, ...] = ()
    security: Mapping[str, Any] | None = None
    """All of its security context, instead of what it had."""
    host: bool = False
    mounts: bool = False
    plain: bool = False
    """The processes of a copy see only those of their own containers."""


RESTRICTED: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
PROFILES: Final = {
    "legacy": Profile(host=True, mounts=True, plain=True),
    "general": Profile(capabilities=("SYS_PTRACE",), host=True, mounts=True),
    "baseline": Profile(security={}),
    "netadmin": Profile(capabilities=("NET_ADMIN", "NET_RAW"), host=True),
    "restricted": Profile(security=RESTRICTED),
    "sysadmin": Profile(security={"privileged": True}, host=True, mounts=True),
}


class Keep(Struct, frozen=True):
    """What of a pod its copy keeps."""

    labels: bool = False
    annotations: bool = False
    init_containers: bool = True
    probes: tuple[str, ...] = ()


def profile_named(name: str) -> Profile:
    """The profile of a name."""
    found = PROFILES.get(name)
    if found is None:
        raise KubectlError(f"unknown profile: {name}")
    return found


def secure(profile: Profile, container: Object, style: Style) -> None:
    """Give a container the rights of the profile; what a node's pod gets, it has by the node's namespaces."""
    if profile.security is not None:
        container.pop("securityContext", None)
        if profile.security:
            container["securityContext"] = dict(profile.security)
        return
    if style is Style.NODE and profile.mounts:
        container.pop("securityContext", None)
        return
    if not profile.capabilities:
        return
    context = container.setdefault("securityContext", {})
    capabilities = context.setdefault("capabilities", {})
    capabilities["add"] = [*(capabilities.get("add") or ()), *profile.capabilities]


def lighten(profile: Profile, pod: Object, keep: Keep) -> None:
    """Take from a copy what would make others believe that it is the original."""
    spec, metadata = pod["spec"], pod["metadata"]
    if not profile.plain:
        spec["shareProcessNamespace"] = True
    if not keep.labels:
        metadata.pop("labels", None)
    if not keep.annotations:
        metadata.pop("annotations", None)
    if not keep.init_containers:
        spec.pop("initContainers", None)
    for container in spec["containers"]:
        for name, field in PROBES.items():
            if name not in keep.probes:
                container.pop(field, None)


def open_node(profile: Profile, pod: Object) -> None:
    """Let a pod into its node."""
    spec, container = pod["spec"], pod["spec"]["containers"][0]
    if profile.mounts:
        spec["volumes"] = [{"name": HOST_VOLUME, "hostPath": {"path": "/"}}]
        container["volumeMounts"] = [{"mountPath": "/host", "name": HOST_VOLUME}]
    if profile.host:
        spec.update(hostNetwork=True, hostPID=True, hostIPC=True)
