"""Puts the files of a Kubernetes node on its machine: configuration, certificates, and the folders of its components."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final
from zlib import crc32

import yaml

from simcloud.kubernetes.addons.objects import read_kubelet_config, static_pods
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.host import texts
from simcloud.kubernetes.host.pki import AUTHORITIES, ClusterPki
from simcloud.kubernetes.host.trees import (
    list_mounts,
    show_containerd,
    show_etcd,
    show_pods,
    show_runtime,
    text,
)
from simcloud.kubernetes.images.standard import PAUSE
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.services import SOCKET
from simcloud.kubernetes.network.gateway import ADDRESS as GATEWAY
from simcloud.machine.files import (
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    lazy_directory,
    virtual_directory,
)

ADDED_BY_KUBELET: Final = ("nodeName", "tolerations", "enableServiceLinks")
"""Fields of a mirror pod that are not in the manifest."""


def install_files(node: Node, pki: ClusterPki, control_plane: bool, plugin: bool) -> None:
    """Let the machine's files show that it is a node, computed when somebody looks; with a network plugin, its configuration, too."""
    files = node.machine.host.files
    files.graft("/etc/kubernetes", _show_kubernetes(node, pki, control_plane))
    files.graft("/var/lib/kubelet", _show_kubelet(node, pki))
    if plugin:
        files.graft("/etc/cni/net.d", lazy_directory(lambda: _show_network(node), 0o700))
    sizes = texts.CNI_BINARIES.items()
    binaries = {name: VirtualFile(lambda: b"\x7fELF", mode=0o755, size=size) for name, size in sizes}
    files.graft("/opt/cni/bin", virtual_directory(binaries, 0o755))
    configs = {
        "config.toml": text(texts.CONTAINERD_CONFIG.format(pause=PAUSE)),
        "cri-base.json": text("{}\n"),
    }
    files.graft("/etc/containerd", virtual_directory(configs, 0o755))
    files.graft("/var/lib/containerd", show_containerd(node))
    files.graft("/run/containerd", show_runtime(node))
    if control_plane:
        files.graft("/var/lib/etcd", show_etcd(node.api))
    files.put("/etc/resolv.conf", texts.RESOLV_CONF.format(gateway=GATEWAY).encode())
    files.put("/etc/crictl.yaml", texts.CRICTL_CONFIG.encode())
    files.put("/etc/systemd/journald.conf", texts.JOURNAL_CONFIG.encode())
    files.put("/etc/systemd/journald.conf.d/kernel-messages.conf", texts.JOURNAL_KERNEL_CONFIG.encode())
    files.sync()
    files.table.find_all = lambda own: list_mounts(node, own)


def _show_network(node: Node) -> dict[str, VirtualEntry]:
    """The configuration of the network plugin: written as soon as the node has its range of addresses."""
    found = node.client.get("nodes", "", node.name)
    pod_range = (found or {}).get("spec", {}).get("podCIDR")
    return {"10-kindnet.conflist": text(texts.network_config(pod_range))} if pod_range else {}


def _show_kubernetes(node: Node, pki: ClusterPki, control_plane: bool) -> VirtualDirectory:
    manifests: VirtualDirectory = virtual_directory({}, 0o755)
    created_s = pki.created_s if control_plane else None
    entries: dict[str, VirtualEntry] = {}
    authorities: dict[str, VirtualEntry] = {
        "ca.crt": VirtualFile(lambda: pki.sign("ca").certificate, mode=0o644)
    }
    if control_plane:
        manifests = lazy_directory(lambda: _show_manifests(node, created_s), time_s=created_s)
        for name, leaf in pki.accounts().items():
            content = lambda name=name, leaf=leaf: pki.kubeconfig(name, leaf).encode()  # noqa: E731
            entries[name] = VirtualFile(content, mode=0o600, time_s=pki.find_issue_s(name))
        authorities = _show_pki(pki)
    entries["kubelet.conf"] = VirtualFile(lambda: pki.kubelet_kubeconfig(node.name).encode(), mode=0o600)
    return virtual_directory(
        {**entries, "manifests": manifests, "pki": virtual_directory(authorities, 0o755, created_s)}, 0o755
    )


def _show_manifests(node: Node, time_s: float | None) -> dict[str, VirtualEntry]:
    present = node.client.get("nodes", "", node.name)
    found: dict[str, VirtualEntry] = {}
    for pod in static_pods(present) if present is not None else ():
        name = pod["spec"]["containers"][0]["name"]
        found[f"{name}.yaml"] = text(_format_manifest(pod), 0o600, time_s)
    return found


def _format_manifest(pod: Object) -> str:
    metadata = pod["metadata"]
    notes = {key: value for key, value in (metadata.get("annotations") or {}).items() if "kubeadm" in key}
    spec = {key: value for key, value in pod["spec"].items() if key not in ADDED_BY_KUBELET}
    own = {**({"annotations": notes} if notes else {}), "labels": metadata["labels"]}
    own |= {"name": metadata["labels"]["component"], "namespace": metadata["namespace"]}
    shown = {"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": spec, "status": {}}
    return str(yaml.dump(shown, Dumper=yaml.CSafeDumper, sort_keys=True))


def _show_pki(pki: ClusterPki) -> dict[str, VirtualEntry]:
    folder: dict[str, VirtualEntry] = {}
    etcd: dict[str, VirtualEntry] = {}
    for name, leaf in {**dict.fromkeys(AUTHORITIES), **pki.leaves()}.items():
        target, file = (etcd, name.removeprefix("etcd/")) if name.startswith("etcd/") else (folder, name)
        issued = pki.find_issue_s(name)
        certificate = lambda name=name, leaf=leaf: pki.sign(name, leaf).certificate  # noqa: E731
        key = lambda name=name, leaf=leaf: pki.sign(name, leaf).key  # noqa: E731
        target[f"{file}.crt"] = VirtualFile(certificate, mode=0o644, time_s=issued)
        target[f"{file}.key"] = VirtualFile(key, mode=0o600, time_s=issued)
    created_s = pki.created_s
    folder["etcd"] = virtual_directory(etcd, 0o755, created_s)
    folder["sa.key"] = VirtualFile(lambda: pki.sign("ca").key, mode=0o600, time_s=created_s)
    folder["sa.pub"] = VirtualFile(lambda: pki.sign("ca").public_key, mode=0o600, time_s=created_s)
    return folder


def _show_resources(node: Node) -> VirtualFile:
    """What containers may use; the kubelet writes it whenever it starts one."""

    def content() -> bytes:
        entries = {}
        for uid, record in node.runtime.pods.items():
            pod = node.client.get("pods", record.namespace, record.name)
            containers = pod["spec"]["containers"] if pod is not None else ()
            resources = {part["name"]: part.get("resources") or {} for part in containers}
            entries[uid] = {"ContainerResources": resources}
        data = json.dumps({"entries": entries}, separators=(",", ":"))
        return json.dumps({"data": data, "checksum": crc32(data.encode())}, separators=(",", ":")).encode()

    started = [record.created_s for pod in node.runtime.pods.values() for record in pod.containers]
    return VirtualFile(content, mode=0o600, time_s=max(started, default=None))


def _show_kubelet(node: Node, pki: ClusterPki) -> VirtualDirectory:
    leaf, name = pki.kubelet_client(node.name), f"kubelet/{node.name}"
    if node.name != pki.node:  # there kubeadm has issued it
        pki.renewed_s.setdefault(name, node.machine.clock())
    stamp = datetime.fromtimestamp(pki.find_issue_s(name), UTC).strftime("%Y-%m-%d-%H-%M-%S")
    own = f"kubelet-client-{stamp}.pem"

    def client() -> bytes:
        signed = pki.sign(name, leaf)
        return signed.certificate + signed.key

    def config() -> bytes:
        return read_kubelet_config().replace('Endpoint: ""', f"Endpoint: unix://{SOCKET}").encode()

    certificates: dict[str, VirtualEntry] = {
        own: VirtualFile(client, mode=0o600),
        "kubelet-client-current.pem": VirtualLink(lambda: f"/var/lib/kubelet/pki/{own}"),
        "kubelet.crt": VirtualFile(lambda: pki.sign(f"{name}/server", leaf).certificate, mode=0o644),
        "kubelet.key": VirtualFile(lambda: pki.sign(f"{name}/server", leaf).key, mode=0o600),
    }
    socket = virtual_directory({"kubelet.sock": VirtualFile(bytes, mode=0o755, socket=True)}, 0o750)
    entries: dict[str, VirtualEntry] = {
        "checkpoints": virtual_directory({}, 0o700),
        "config.yaml": VirtualFile(config, mode=0o644),
        "cpu_manager_state": text(texts.MANAGER_STATE, 0o600),
        "device-plugins": socket,
        "dra_manager_state": text(texts.CLAIM_STATE, 0o600),
        "instance-config.yaml": text(texts.INSTANCE_CONFIG),
        "kubeadm-flags.env": text(texts.kubelet_flags(node.name, node.address)),
        "memory_manager_state": text(texts.MEMORY_STATE, 0o600),
        "pki": virtual_directory(certificates, 0o755),
        "plugins": virtual_directory({}, 0o750),
        "plugins_registry": virtual_directory({}, 0o750),
        "pod-resources": socket,
        "pods": show_pods(node),
    }

    def list_entries() -> dict[str, VirtualEntry]:
        state = _show_resources(node)
        return {"actuated_pods_state": state, "allocated_pods_state": state, **entries}

    return lazy_directory(list_entries, 0o755)
