"""What is told of each kind of volume: the words for it, and a line for each field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from simcloud.golang.formatting import sprint
from simcloud.kubectl.describe.page import NONE, UNSET
from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.tables.cells import amount, text


def _plain(value: Any) -> str:
    return "" if value is None else sprint(value)


def flag(value: Any) -> str:
    """A boolean, false if it is not set."""
    return sprint(bool(value))


def _number(value: Any) -> str:
    return str(value or 0)


def _or_none(value: Any) -> str:
    return NONE if value is None else str(value)


def _or_unset(value: Any) -> str:
    return UNSET if value is None else str(value)


def _several(value: Any) -> str:
    return sprint(value or [])


def _pairs(value: Any) -> str:
    return sprint(value or {})


def _joined(value: Any) -> str:
    return ", ".join(value or [])


def _local_secret(value: Any) -> str:
    return "nil" if value is None else f"&LocalObjectReference{{Name:{text(value, 'name')},}}"


def _secret(value: Any) -> str:
    if value is None:
        return "nil"
    return f"&SecretReference{{Name:{text(value, 'name')},Namespace:{text(value, 'namespace')},}}"


def _size_limit(value: Any) -> str:
    return amount(value) if value is not None and quantity.parse(value) > 0 else UNSET


class Line(NamedTuple):
    """A line about a volume: its heading, the field it shows, and how."""

    heading: str
    field: str
    shown: Callable[[Any], str] = _plain


Source: TypeAlias = tuple[str, tuple[Line, ...]]
"""The words for a kind of volume, and its lines."""

_READ_ONLY = Line("ReadOnly:", "readOnly", flag)
_FS_TYPE = Line("FSType:", "fsType")


def _iscsi(secret: Callable[[Any], str]) -> Source:
    return (
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        (
            Line("TargetPortal:", "targetPortal"),
            Line("IQN:", "iqn"),
            Line("Lun:", "lun", _number),
            Line("ISCSIInterface", "iscsiInterface"),
            _FS_TYPE,
            _READ_ONLY,
            Line("Portals:", "portals", _several),
            Line("DiscoveryCHAPAuth:", "chapAuthDiscovery", flag),
            Line("SessionCHAPAuth:", "chapAuthSession", flag),
            Line("SecretRef:", "secretRef", secret),
            Line("InitiatorName:", "initiatorName", _or_none),
        ),
    )


def _rbd(secret: Callable[[Any], str]) -> Source:
    return (
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        (
            Line("CephMonitors:", "monitors", _several),
            Line("RBDImage:", "image"),
            _FS_TYPE,
            Line("RBDPool:", "pool"),
            Line("RadosUser:", "user"),
            Line("Keyring:", "keyring"),
            Line("SecretRef:", "secretRef", secret),
            _READ_ONLY,
        ),
    )


def _cinder(secret: Callable[[Any], str]) -> Source:
    return (
        "Cinder (a Persistent Disk resource in OpenStack)",
        (Line("VolumeID:", "volumeID"), _FS_TYPE, _READ_ONLY, Line("SecretRef:", "secretRef", secret)),
    )


def _ceph(secret: Callable[[Any], str]) -> Source:
    return (
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        (
            Line("Monitors:", "monitors", _several),
            Line("Path:", "path"),
            Line("User:", "user"),
            Line("SecretFile:", "secretFile"),
            Line("SecretRef:", "secretRef", secret),
            _READ_ONLY,
        ),
    )


def _flex(secret: Callable[[Any], str]) -> Source:
    return (
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        (
            Line("Driver:", "driver"),
            _FS_TYPE,
            Line("SecretRef:", "secretRef", secret),
            _READ_ONLY,
            Line("Options:", "options", _pairs),
        ),
    )


_GATEWAY = (
    Line("Gateway:", "gateway"),
    Line("System:", "system"),
    Line("Protection Domain:", "protectionDomain"),
    Line("Storage Pool:", "storagePool"),
    Line("Storage Mode:", "storageMode"),
    Line("VolumeName:", "volumeName"),
)
_SCALE_IO = "ScaleIO (a persistent volume backed by a block device in ScaleIO)"
_GLUSTER = "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)"
_AZURE_FILE = "AzureFile (an Azure File Service mount on the host and bind mount to the pod)"
_CSI = "CSI (a Container Storage Interface (CSI) volume source)"

_SHARED: dict[str, Source] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (Line("Path:", "path"), Line("HostPathType:", "type", _or_none)),
    ),
    "gcePersistentDisk": (
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        (Line("PDName:", "pdName"), _FS_TYPE, Line("Partition:", "partition", _number), _READ_ONLY),
    ),
    "awsElasticBlockStore": (
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        (Line("VolumeID:", "volumeID"), _FS_TYPE, Line("Partition:", "partition", _number), _READ_ONLY),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (Line("Server:", "server"), Line("Path:", "path"), _READ_ONLY),
    ),
    "quobyte": (
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        (Line("Registry:", "registry"), Line("Volume:", "volume"), _READ_ONLY),
    ),
    "azureDisk": (
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (
            Line("DiskName:", "diskName"),
            Line("DiskURI:", "diskURI"),
            Line("Kind: ", "kind"),
            _FS_TYPE,
            Line("CachingMode:", "cachingMode"),
            _READ_ONLY,
        ),
    ),
    "vsphereVolume": (
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        (
            Line("VolumePath:", "volumePath"),
            _FS_TYPE,
            Line("StoragePolicyName:", "storagePolicyName"),
        ),
    ),
    "photonPersistentDisk": (
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        (Line("PdID:", "pdID"), _FS_TYPE),
    ),
    "portworxVolume": (
        "PortworxVolume (a Portworx Volume resource)",
        (Line("VolumeID:", "volumeID"),),
    ),
    "storageos": (
        "StorageOS (a StorageOS Persistent Disk resource)",
        (
            Line("VolumeName:", "volumeName"),
            Line("VolumeNamespace:", "volumeNamespace"),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "fc": (
        "FC (a Fibre Channel disk)",
        (Line("TargetWWNs:", "targetWWNs", _joined), Line("LUN:", "lun", _or_none), _FS_TYPE, _READ_ONLY),
    ),
    "flocker": (
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        (Line("DatasetName:", "datasetName"), Line("DatasetUUID:", "datasetUUID")),
    ),
}

OF_PODS: dict[str, Source] = {
    **_SHARED,
    "emptyDir": (
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (Line("Medium:", "medium"), Line("SizeLimit:", "sizeLimit", _size_limit)),
    ),
    "gitRepo": (
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (Line("Repository:", "repository"), Line("Revision:", "revision")),
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
    "iscsi": _iscsi(_local_secret),
    "glusterfs": (_GLUSTER, (Line("EndpointsName:", "endpoints"), Line("Path:", "path"), _READ_ONLY)),
    "rbd": _rbd(_local_secret),
    "cinder": _cinder(_local_secret),
    "cephfs": _ceph(_local_secret),
    "flexVolume": _flex(_local_secret),
    "scaleIO": (_SCALE_IO, (*_GATEWAY, _FS_TYPE, _READ_ONLY)),
    "azureFile": (
        _AZURE_FILE,
        (Line("SecretName:", "secretName"), Line("ShareName:", "shareName"), _READ_ONLY),
    ),
    "csi": (_CSI, (Line("Driver:", "driver"), _FS_TYPE, _READ_ONLY)),
    "image": (
        "Image (a container image or OCI artifact)",
        (Line("Reference:", "reference"), Line("PullPolicy:", "pullPolicy")),
    ),
}

PERSISTENT: dict[str, Source] = {
    **_SHARED,
    "iscsi": _iscsi(_secret),
    "glusterfs": (
        _GLUSTER,
        (
            Line("EndpointsName:", "endpoints"),
            Line("EndpointsNamespace:", "endpointsNamespace", _or_unset),
            Line("Path:", "path"),
            _READ_ONLY,
        ),
    ),
    "rbd": _rbd(_secret),
    "cinder": _cinder(_secret),
    "cephfs": _ceph(_secret),
    "flexVolume": _flex(_secret),
    "local": (
        "LocalVolume (a persistent volume backed by local storage on a node)",
        (Line("Path:", "path"),),
    ),
    "scaleIO": (
        _SCALE_IO,
        (
            *_GATEWAY,
            Line("SecretName:", "secretRef", lambda value: text(value or {}, "name")),
            Line("SecretNamespace:", "secretRef", lambda value: text(value or {}, "namespace")),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "azureFile": (
        _AZURE_FILE,
        (
            Line("SecretName:", "secretName"),
            Line("SecretNamespace:", "secretNamespace"),
            Line("ShareName:", "shareName"),
            _READ_ONLY,
        ),
    ),
    "csi": (_CSI, (Line("Driver:", "driver"), _FS_TYPE, Line("VolumeHandle:", "volumeHandle"), _READ_ONLY)),
}
