"""Descriptions of the common kinds of volume: a heading, and a line for each field.

Other kinds are described as unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from simcloud.golang import sprint
from simcloud.kubectl.describe.page import NONE, UNSET
from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.tables import cells


def _plain(value: Any) -> str:
    return "" if value is None else sprint(value)


def flag(value: Any) -> str:
    """A boolean, false if it is not set."""
    return sprint(bool(value))


def _or_none(value: Any) -> str:
    return NONE if value is None else str(value)


def _size_limit(value: Any) -> str:
    return cells.amount(value) if value is not None and quantity.parse(value) > 0 else UNSET


class Line(NamedTuple):
    """A line about a volume: its heading, the field it shows, and how."""

    heading: str
    field: str
    shown: Callable[[Any], str] = _plain


Source: TypeAlias = tuple[str, tuple[Line, ...]]
"""The words for a kind of volume, and its lines."""

_READ_ONLY = Line("ReadOnly:", "readOnly", flag)
_FS_TYPE = Line("FSType:", "fsType")


_CSI = "CSI (a Container Storage Interface (CSI) volume source)"

_SHARED: dict[str, Source] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (Line("Path:", "path"), Line("HostPathType:", "type", _or_none)),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (Line("Server:", "server"), Line("Path:", "path"), _READ_ONLY),
    ),
}

OF_PODS: dict[str, Source] = {
    **_SHARED,
    "emptyDir": (
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (Line("Medium:", "medium"), Line("SizeLimit:", "sizeLimit", _size_limit)),
    ),
    "secret": (
        "Secret (a volume populated by a Secret)",
        (Line("SecretName:", "secretName"), Line("Optional:", "optional", flag)),
    ),
    "configMap": (
        "ConfigMap (a volume populated by a ConfigMap)",
        (Line("Name:", "name"), Line("Optional:", "optional", flag)),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (Line("ClaimName:", "claimName"), _READ_ONLY),
    ),
    "csi": (_CSI, (Line("Driver:", "driver"), _FS_TYPE, _READ_ONLY)),
    "image": (
        "Image (a container image or OCI artifact)",
        (Line("Reference:", "reference"), Line("PullPolicy:", "pullPolicy")),
    ),
}

PERSISTENT: dict[str, Source] = {
    **_SHARED,
    "local": (
        "LocalVolume (a persistent volume backed by local storage on a node)",
        (Line("Path:", "path"),),
    ),
    "csi": (_CSI, (Line("Driver:", "driver"), _FS_TYPE, Line("VolumeHandle:", "volumeHandle"), _READ_ONLY)),
}
