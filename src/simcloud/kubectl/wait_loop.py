"""Waits, in virtual time, until objects meet a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.selection import Info
from simcloud.kubernetes.api import NotFound, Object
from simcloud.kubernetes.api.verbs import WatchOptions
from simcloud.sim import TimedOut

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

WEEK_S: Final = 7 * 24 * 3600.0


class NotInTime(KubectlError):
    """What was waited for did not come."""

    def __init__(self, info: Info) -> None:
        super().__init__(f"timed out waiting for the condition on {info.resource.plural}/{info.name}")


async def until_gone(kubectl: Kubectl, info: Info, timeout_s: float, uid: str = "") -> Object | None:
    """Wait until an object is gone, or another of its name has come; what was last seen of it."""
    seen: list[Object] = []

    def is_gone(obj: Object | None) -> bool:
        if obj is not None:
            seen.append(obj)
        return obj is None or (bool(uid) and obj["metadata"]["uid"] != uid)

    await until(kubectl, info, is_gone, timeout_s or WEEK_S)
    return seen[-1] if seen else None


async def until(
    kubectl: Kubectl, info: Info, met: Callable[[Object | None], bool], timeout_s: float
) -> Object | None:
    """Wait until the present form of an object, None if there is none, is as wanted. ``NotInTime`` if it does not come."""
    connection = await kubectl.connect()
    present: Object | None
    try:
        present = await connection.get(info.resource, info.namespace, info.name)
    except NotFound:
        present = None
    if met(present):
        return present
    watch = await connection.watch(
        info.resource,
        info.namespace or None,
        WatchOptions(fields=f"metadata.name={info.name}", resource_version=str(connection.api.log.revision)),
        info.name,
    )
    try:
        with kubectl.ctx.kernel.timeout(timeout_s):
            while (event := await watch.next()) is not None:
                present = None if event.type == "DELETED" else event.object
                if met(present):
                    return present
    except TimedOut:
        raise NotInTime(info) from None
    finally:
        watch.stop()
    raise NotInTime(info)
