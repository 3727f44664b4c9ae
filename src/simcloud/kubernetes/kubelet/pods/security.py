"""The security context of a container: user, groups and capabilities, and whether they are allowed."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import Published
from simcloud.kubernetes.kubelet.pods.environment import ConfigError
from simcloud.kubernetes.kubelet.pods.parts import full_name
from simcloud.machine.process import capabilities

NAMED_USERS: Final = {"nonroot": 65532}
"""Users, and groups of the same name, that images built on distroless ones have in their tables."""


class Identity(Struct, frozen=True):
    """The user and groups of a container's processes."""

    uid: int
    gid: int
    groups: tuple[int, ...]


def identity_of(pod: Object, container: Object, image: Published) -> Identity:
    """The user a container runs as. ``ConfigError`` when it must not be root and is, or that is unknown."""
    pod_wide = pod["spec"].get("securityContext") or {}
    own = container.get("securityContext") or {}
    asked = own.get("runAsUser", pod_wide.get("runAsUser"))
    if own.get("runAsNonRoot", pod_wide.get("runAsNonRoot")):
        _check_non_root(pod, container, image, asked)
    known = NAMED_USERS.get(image.user.partition(":")[0], 0) if asked is None else 0
    uid = asked if asked is not None else image.uid or known
    gid = own.get("runAsGroup", pod_wide.get("runAsGroup"))
    if gid is None:
        gid = known
    more = [*(pod_wide.get("supplementalGroups") or ())]
    if pod_wide.get("fsGroup") is not None:
        more.append(pod_wide["fsGroup"])
    return Identity(uid, gid, tuple(sorted({gid, *more})))


def capabilities_of(container: Object) -> tuple[str, ...]:
    """What root may do in a container: what every container has, with what its spec adds and drops."""
    security = container.get("securityContext") or {}
    if security.get("privileged"):
        return capabilities.ALL
    asked = security.get("capabilities") or {}
    dropped, added = (
        [name.upper().removeprefix("CAP_") for name in asked.get(field) or ()] for field in ("drop", "add")
    )
    kept = () if "ALL" in dropped else tuple(name for name in capabilities.DEFAULT if name not in dropped)
    return capabilities.ALL if "ALL" in added else (*kept, *(name for name in added if name not in kept))


def _check_non_root(pod: Object, container: Object, image: Published, asked: int | None) -> None:
    where = f'(pod: "{full_name(pod)}", container: {container["name"]})'
    if asked is not None:
        if asked == 0:
            raise ConfigError(f"container's runAsUser breaks non-root policy {where}")
        return
    if image.uid is None:
        raise ConfigError(
            f"container has runAsNonRoot and image has non-numeric user ({image.user}), "
            f"cannot verify user is non-root {where}"
        )
    if image.uid == 0:
        raise ConfigError(f"container has runAsNonRoot and image will run as root {where}")
