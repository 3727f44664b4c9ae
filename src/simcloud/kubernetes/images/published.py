"""An image in a registry: its root filesystem, and how its containers start."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.images.references import Reference
from simcloud.machine import Image

LATENCY_S: Final = 0.15
"""What a pull costs beside the transfer: asking for manifests and unpacking."""

BYTES_PER_S: Final = 50 * 1024 * 1024


class Published(Struct, frozen=True):
    """One image under one name. ``command`` and ``args`` are its ENTRYPOINT and CMD; ``user`` its USER."""

    reference: Reference
    image: Image
    size_bytes: int
    digest: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    user: str = ""
    workdir: str = "/"

    @property
    def name(self) -> str:
        """The full name."""
        return self.reference.name

    @property
    def is_imported(self) -> bool:
        """Whether it is on nodes from the start, from a file of the release; its layers are not compressed."""
        return self.reference.repository in RELEASED

    @property
    def tags(self) -> list[str]:
        """The names that a node knows it by: those of a release also have one of the architecture."""
        repository, _, tag = self.name.rpartition(":")
        return [f"{repository}-amd64:{tag}", self.name] if self.is_imported else [self.name]

    @property
    def image_id(self) -> str:
        """How statuses identify what was run."""
        return f"{IMPORTED if self.is_imported else self.reference.repository}@{self.digest}"

    @property
    def config_digest(self) -> str:
        """What container runtimes call the image's id: the digest of its configuration, not of its manifest."""
        rest = sha256(f"config {self.digest}".encode()).hexdigest()
        return f"sha256:{(IDS.get(self.name, '') + rest)[: len(rest)]}"

    @property
    def pull_s(self) -> float:
        """How long a pull takes when nothing is in its way."""
        return LATENCY_S + self.size_bytes / BYTES_PER_S

    @property
    def uid(self) -> int | None:
        """The number of the image's user; 0 if it says none, None for a name that only the image knows."""
        user = self.user.partition(":")[0]
        if user in ("", "root"):
            return 0
        return int(user) if user.isdecimal() else None


def digest_of(name: str) -> str:
    """A digest for an image that nobody gave one."""
    return f"sha256:{sha256(name.encode()).hexdigest()}"


SIZES: Final = {
    "docker.io/kindest/kindnetd": 44_375_501,
    "docker.io/kindest/local-path-provisioner": 22_541_737,
    "docker.io/library/alpine": 3_653_068,
    "docker.io/library/debian": 48_480_132,
    "docker.io/library/ubuntu": 29_754_290,
    "docker.io/nicolaka/netshoot": 201_832_647,
    "registry.k8s.io/coredns/coredns": 23_113_866,
    "registry.k8s.io/etcd": 22_871_747,
    "registry.k8s.io/kube-apiserver": 92_413_440,
    "registry.k8s.io/kube-controller-manager": 82_521_600,
    "registry.k8s.io/kube-proxy": 81_146_368,
    "registry.k8s.io/kube-scheduler": 58_490_880,
    "registry.k8s.io/metrics-server/metrics-server": 22_474_338,
}
"""Bytes of images that everybody knows, as nodes store them: compressed, unless they come from files."""

RELEASED: Final = tuple(
    f"registry.k8s.io/kube-{name}" for name in ("apiserver", "controller-manager", "proxy", "scheduler")
)
"""Images that kind loads from the files of a release when it builds the image of a node."""
IMPORTED: Final = "docker.io/library/import-2025-08-28"
"""The repository that containerd invents for digests of what it loads from a file: it names the day."""

IDS: Final = {
    "docker.io/kindest/kindnetd:v20250512-df8de77b": "409467f978b4a",
    "docker.io/kindest/local-path-helper:v20241212-8ac705d0": "baa0d31514ee5",
    "docker.io/kindest/local-path-provisioner:v20250214-acbabc1a": "bbb6209cc873b",
    "registry.k8s.io/coredns/coredns:v1.14.2": "38667dd9be96c",
    "registry.k8s.io/etcd:3.6.8-0": "ee85eb1f0edd2",
    "registry.k8s.io/metrics-server/metrics-server:v0.8.0": "b9e1e3849e070",
    "registry.k8s.io/pause:3.10": "873ed75102791",
}
"""How the ids of images begin that everybody knows: as much as runtimes list."""

COMMON_BYTES: Final = 12_000_000
ROUND_BYTES: Final = 100_000


def size_of(reference: Reference, size_bytes: int) -> int:
    """The size of an image, to the byte: a known one, or about what was said, or what is common."""
    if size_bytes % ROUND_BYTES:
        return size_bytes
    known = SIZES.get(reference.repository)
    number = int(sha256(reference.name.encode()).hexdigest()[:8], 16)
    return known or (
        size_bytes - number % (size_bytes // 40) if size_bytes else COMMON_BYTES + number % 31_000_000
    )
