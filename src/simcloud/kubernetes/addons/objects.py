"""The objects of the system, from manifests that a real cluster accepts, in the order of kubeadm and kind.

The control plane's pods are mirrors of manifests on its node's disk: they are bound to that node, owned by it, and
have the annotations of mirror pods.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5
from importlib import resources
from string import Template
from typing import Any, Final

import yaml

from simcloud.kubernetes.addons.metrics import IMAGE as METRICS_IMAGE
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.network.coredns import IMAGE
from simcloud.kubernetes.nodes import KUBELET_VERSION

CONTROL_PLANE_ROLE: Final = "node-role.kubernetes.io/control-plane"
MANIFESTS: Final = ("kubeadm.yaml", "coredns.yaml", "kube-proxy.yaml", "kindnet.yaml", "local-path.yaml")
METRICS_MANIFEST: Final = "metrics-server.yaml"
NODE_CRITICAL: Final = 2_000_001_000


def system_objects(nodes: Sequence[Object]) -> list[Object]:
    """Everything of the system for these nodes; the control plane runs on the node with that role, or on the first."""
    node = control_plane_of(nodes)
    made = static_pods(node)
    for name in MANIFESTS:
        made += _manifest(name, node)
    return made


def metrics_objects(nodes: Sequence[Object]) -> list[Object]:
    """A metrics server, as its project's own manifest installs it; kind installs none."""
    return _manifest(METRICS_MANIFEST, control_plane_of(nodes))


def static_pods(node: Object) -> list[Object]:
    """The pods of the control plane, as the kubelet of that node mirrors them."""
    return [mirror(pod, node) for pod in _manifest("control-plane.yaml", node)]


def control_plane_of(nodes: Sequence[Object]) -> Object:
    """The node that the control plane runs on."""
    return next(
        (node for node in nodes if CONTROL_PLANE_ROLE in (node["metadata"].get("labels") or {})), nodes[0]
    )


def read_kubelet_config() -> str:
    """The configuration that kubeadm gives to every kubelet."""
    found = yaml.load_all(_read(MANIFESTS[0]).template, yaml.CSafeLoader)
    return next(
        str(each["data"]["kubelet"]) for each in found if each["metadata"]["name"] == "kubelet-config"
    )


def _read(name: str) -> Template:
    return Template((resources.files("simcloud.kubernetes.addons") / "manifests" / name).read_text())


def _manifest(name: str, node: Object) -> list[Object]:
    metadata = node["metadata"]
    filled = _read(name).substitute(
        node=metadata["name"],
        address=_address(node),
        control_plane=metadata["name"],
        version=KUBELET_VERSION,
        coredns_image=IMAGE,
        metrics_image=METRICS_IMAGE,
    )
    return list(yaml.load_all(filled, yaml.CSafeLoader))


def _address(node: Object) -> str:
    for each in (node.get("status") or {}).get("addresses") or ():
        if each["type"] == "InternalIP":
            return str(each["address"])
    return "127.0.0.1"


def mirror(pod: Any, node: Object) -> Object:
    """Return the mirror of a static pod on a node."""
    metadata, owner = pod["metadata"], node["metadata"]
    text = yaml.dump(pod, Dumper=yaml.CSafeDumper, sort_keys=True)
    digest = md5(text.encode(), usedforsecurity=False).hexdigest()
    metadata["annotations"] = {
        **metadata.get("annotations", {}),
        "kubernetes.io/config.hash": digest,
        "kubernetes.io/config.mirror": digest,
        "kubernetes.io/config.seen": f"{owner['creationTimestamp'].removesuffix('Z')}.000000000Z",
        "kubernetes.io/config.source": "file",
    }
    metadata["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Node", "name": owner["name"], "uid": owner["uid"], "controller": True}
    ]
    pod["spec"] |= {
        "nodeName": owner["name"],
        "hostNetwork": True,
        "enableServiceLinks": False,
        "priority": NODE_CRITICAL,
        "priorityClassName": "system-node-critical",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
    }
    made: Object = pod
    return made
