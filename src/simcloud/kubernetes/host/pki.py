"""The certificates of a cluster, as kubeadm issues them: three authorities and what they have signed.

Certificates are signed when they are read: most worlds end without anybody looking at one, and the library that
signs them is large. Keys follow from the world's seed, so that the same world always has the same certificates.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import yaml

from simcloud.kubernetes.api.access.users import (
    ADMINISTRATORS_GROUP,
    AUTHENTICATED_GROUP,
    MASTERS_GROUP,
    NODES_GROUP,
    User,
)
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.host.leaves import Leaf, Signed

WIDTH: Final = 1 << 20
"""Lines of a kubeconfig file are not folded."""
CREDENTIAL_ID: Final = "authentication.kubernetes.io/credential-id"
YEAR_S: Final = 365 * 86_400
BACKDATE_S: Final = 300
AUTHORITY_YEARS: Final = 10
CLUSTER: Final = "kubernetes"
"""The cluster's name in kubeconfig files, as in the ConfigMap of kubeadm."""
CURRENT: Final = "/var/lib/kubelet/pki/kubelet-client-current.pem"
SERVICE_NAMES: Final = ("kubernetes", "kubernetes.default", "kubernetes.default.svc",
                        "kubernetes.default.svc.cluster.local", "localhost", "10.96.0.1")  # fmt: skip
AUTHORITIES: Final = {"ca": "kubernetes", "front-proxy-ca": "front-proxy-ca", "etcd/ca": "etcd-ca"}
"""The names of the authorities, by their files in the folder."""


@dataclass
class ClusterPki:
    """What kubeadm has made for the control plane at this node. Times are Unix seconds."""

    api: Api
    node: str
    address: str
    created_s: float
    renewed_s: dict[str, float] = field(default_factory=dict)
    _signed: dict[tuple[str, float], Signed] = field(default_factory=dict)

    def leaves(self) -> dict[str, Leaf]:
        """Every certificate below the folder, by its file without ``.crt``."""
        etcd = ("localhost", self.node, self.address, "127.0.0.1", "::1")
        server = (self.node, *SERVICE_NAMES, self.address, "127.0.0.1")
        return {
            "apiserver": Leaf("ca", "kube-apiserver", serves=True, names=server),
            "apiserver-etcd-client": Leaf("etcd/ca", "kube-apiserver-etcd-client"),
            "apiserver-kubelet-client": Leaf("ca", "kube-apiserver-kubelet-client", ADMINISTRATORS_GROUP),
            "etcd/healthcheck-client": Leaf("etcd/ca", "kube-etcd-healthcheck-client"),
            "etcd/peer": Leaf("etcd/ca", self.node, serves=True, names=etcd),
            "etcd/server": Leaf("etcd/ca", self.node, serves=True, names=etcd),
            "front-proxy-client": Leaf("front-proxy-ca", "front-proxy-client"),
        }

    def accounts(self) -> dict[str, Leaf]:
        """The certificates inside kubeconfig files, by file."""
        return {
            "admin.conf": Leaf("ca", "kubernetes-admin", ADMINISTRATORS_GROUP),
            "controller-manager.conf": Leaf("ca", "system:kube-controller-manager"),
            "scheduler.conf": Leaf("ca", "system:kube-scheduler"),
            "super-admin.conf": Leaf("ca", "kubernetes-super-admin", MASTERS_GROUP),
        }

    def kubelet_client(self, node: str) -> Leaf:
        """With what a kubelet identifies itself."""
        return Leaf("ca", f"system:node:{node}", NODES_GROUP)

    def find_issue_s(self, name: str) -> float:
        """When a certificate was issued, or renewed last."""
        return self.renewed_s.get(name, self.created_s)

    def expires_s(self, name: str) -> float:
        """When a certificate ends."""
        years = AUTHORITY_YEARS if name in AUTHORITIES else 1
        return self.find_issue_s(name) + YEAR_S * years - BACKDATE_S * self._is_requested(name)

    def _is_requested(self, name: str) -> bool:
        """Whether a kubelet has requested it from the cluster, which lets a certificate begin and end earlier."""
        return name.startswith("kubelet/") and name in self.renewed_s

    def sign(self, name: str, leaf: Leaf | None = None) -> Signed:
        """A certificate and its key; without a leaf that of an authority."""
        issued_s = self.find_issue_s(name)
        found = self._signed.get((name, issued_s))
        if found is None:
            from simcloud.kubernetes.host import signing

            seed = self._seed(name if leaf is None else f"{name}/{issued_s}")
            authority = None if leaf is None else self.sign(leaf.authority)
            leaf = leaf or Leaf("", AUTHORITIES[name])
            begins_s = issued_s if self._is_requested(name) else self.created_s
            found = signing.sign(leaf, seed, authority, begins_s, self.expires_s(name))
            self._signed[name, issued_s] = found
        return found

    def issue(self, leaf: Leaf, begins_s: float, ends_s: float) -> Signed:
        """Return a certificate that is no part of the cluster itself, such as one of an application's host."""
        from simcloud.kubernetes.host import signing

        seed = self._seed(f"{leaf.common_name}/{begins_s}/{ends_s}")
        return signing.sign(leaf, seed, self.sign(leaf.authority), begins_s, ends_s)

    def kubeconfig(self, name: str, leaf: Leaf, server: str = "") -> str:
        """A kubeconfig file with that identity, which the API server accepts from now on."""
        signed = self.sign(name, leaf)
        certificate = b64encode(signed.certificate).decode()
        groups = tuple(group for group in (leaf.organization, AUTHENTICATED_GROUP) if group)
        extra = {CREDENTIAL_ID: (f"X509SHA256={signed.fingerprint}",)}
        self.api.tokens.accept(certificate, User(leaf.common_name, groups=groups, extra=extra))
        key = b64encode(signed.key).decode()
        credentials = {"client-certificate-data": certificate, "client-key-data": key}
        server = server or f"https://{self.node}:6443"
        return format_kubeconfig(CLUSTER, server, self.sign("ca").certificate, leaf.common_name, credentials)

    def kubelet_kubeconfig(self, node: str) -> str:
        """The kubeconfig of a kubelet, which names the file of its certificate."""
        cluster, user = (
            (CLUSTER, f"system:node:{node}") if node == self.node else ("default-cluster", "default-auth")
        )
        credentials = {"client-certificate": CURRENT, "client-key": CURRENT}
        authority = self.sign("ca").certificate
        text = format_kubeconfig(cluster, f"https://{self.node}:6443", authority, user, credentials)
        return text.replace("default-auth@default-cluster", "default-context")

    def _seed(self, name: str) -> bytes:
        return sha256(f"pki/{self.api.kernel.seed}/{name}".encode()).digest()


def format_kubeconfig(
    cluster: str,
    server: str,
    authority: bytes,
    user: str,
    credentials: dict[str, str],
    extensions: Sequence[Object] = (),
) -> str:
    """A kubeconfig file with one cluster and one user; ``extensions`` are the cluster's."""
    place: dict[str, object] = {"certificate-authority-data": b64encode(authority).decode(), "server": server}
    place["extensions"] = extensions
    document = {
        "apiVersion": "v1",
        "clusters": [{"cluster": {key: value for key, value in place.items() if value}, "name": cluster}],
        "contexts": [{"context": {"cluster": cluster, "user": user}, "name": f"{user}@{cluster}"}],
        "current-context": f"{user}@{cluster}",
        "kind": "Config",
        "users": [{"name": user, "user": credentials}],
    }
    return str(yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, width=WIDTH))
