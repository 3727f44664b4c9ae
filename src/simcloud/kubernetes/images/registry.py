"""Image registries outside the cluster, as seen by the container runtime of a node.

One ``ImageRegistry`` represents all of them. It finds images by reference and hosts by name; an unknown host does not
resolve, and an address is connected to over the machine's own network. Failed pulls have containerd's messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.images.published import Published, digest_of, size_of
from simcloud.kubernetes.images.references import Reference, parse
from simcloud.machine import Image
from simcloud.machine.network import ConnectionRefused, Namespace, NetworkError, is_address

ANSWER_S: Final = 0.15
"""How long a registry takes to say no."""

DIAL_TIMEOUT_S: Final = 30.0
HTTPS_PORT: Final = 443
SEGMENT_BYTES: Final = 1_448
HEADER_BYTES: Final = 66
"""Of Ethernet, IP and TCP; every second segment is acknowledged by a packet of nothing else."""

DENIED: Final = (
    "pull access denied, repository does not exist or may require authorization: "
    "server message: insufficient_scope: authorization failed"
)


class HostState(Enum):
    """How a registry behaves to those who ask it."""

    UP = "up"
    DENIES = "denies"
    REFUSES = "refuses"
    SILENT = "silent"


class Host(Struct, frozen=True):
    """A registry's host. Errors name the address when it cannot be reached."""

    state: HostState = HostState.UP
    address: str = "203.0.113.10"


class PullFailed(Exception):
    """Why an image could not be pulled, in containerd's words."""


WELL_KNOWN: Final = ("docker.io", "registry.k8s.io", "quay.io", "ghcr.io", "gcr.io", "mcr.microsoft.com")


class ImageRegistry:
    """Images by reference. ``nameserver`` is the one that nodes ask, for the words of failures."""

    def __init__(self, nameserver: str = "172.18.0.1:53") -> None:
        self.hosts: dict[str, Host] = {name: Host() for name in WELL_KNOWN}
        self._nameserver = nameserver
        self._images: dict[str, Published] = {}
        self._repositories: dict[str, None] = {}

    def add(
        self,
        reference: str,
        image: Image,
        *,
        args: Iterable[str] = (),
        user: str = "",
        workdir: str = "/",
        size_bytes: int = 0,
        digest: str = "",
    ) -> Published:
        """Publish an image under a reference; its entry point is the image's own. The host comes up with it.

        An image without a size gets one that follows from its name.
        """
        name = parse(reference)
        published = Published(
            reference=name,
            image=image,
            size_bytes=size_of(name, size_bytes),
            digest=digest or digest_of(name.name),
            command=tuple(image.entrypoint),
            args=tuple(args),
            user=user,
            workdir=workdir,
        )
        self._images[name.name] = published
        self._images.setdefault(f"{name.repository}@{published.digest}", published)
        self._repositories[name.repository] = None
        self.hosts.setdefault(name.host, Host())
        return published

    def remove(self, reference: str) -> None:
        """Take an image back; nodes that have it keep it."""
        name = parse(reference)
        published = self._images.pop(name.name)
        self._images.pop(published.image_id, None)

    def find(self, reference: str) -> Published | None:
        """The image of a reference, if there is one."""
        return self._images.get(parse(reference).name)

    async def pull(self, reference: Reference, namespace: Namespace, slowness: float = 1.0) -> Published:
        """Fetch an image from the machine whose namespace this is; ``slowness`` multiplies the time of the transfer.

        ``PullFailed`` says why not.
        """
        kernel = namespace.kernel
        host = self.hosts.get(reference.host)
        if host is None:
            await self._dial(reference, namespace)
        elif host.state is not HostState.UP:
            await self._meet(reference, host, namespace)
        found = self._images.get(reference.name)
        if found is None:
            await kernel.sleep(ANSWER_S)
            if reference.repository in self._repositories:
                missing = f"failed to resolve image: {reference.name}: not found"
                raise PullFailed(f"rpc error: code = NotFound desc = {_could_not(reference)}{missing}")
            raise PullFailed(f"{_could_not(reference)}failed to resolve image: {DENIED}")
        await kernel.sleep(found.pull_s * slowness)
        segments = -(-found.size_bytes // SEGMENT_BYTES)
        card = namespace.network.machines[namespace.machine]
        card.received.add_traffic(segments, found.size_bytes + segments * HEADER_BYTES)
        card.sent.add_traffic(segments // 2, segments // 2 * HEADER_BYTES)
        return found

    async def _meet(self, reference: Reference, host: Host, namespace: Namespace) -> None:
        """Ask a host that is known and not well."""
        if host.state is HostState.SILENT:
            await namespace.kernel.sleep(DIAL_TIMEOUT_S)
            self._time_out(reference, f"{host.address}:{HTTPS_PORT}")
        await namespace.kernel.sleep(ANSWER_S)
        if host.state is HostState.DENIES:
            raise PullFailed(f"{_could_not(reference)}failed to resolve image: {DENIED}")
        self._refuse(reference, f"{host.address}:{HTTPS_PORT}")

    async def _dial(self, reference: Reference, namespace: Namespace) -> None:
        """Ask an unknown host: an address of this network, or a name without one."""
        name, _, port = reference.host.partition(":")
        if not is_address(name):
            await namespace.kernel.sleep(ANSWER_S)
            lookup = f"dial tcp: lookup {name} on {self._nameserver}: no such host"
            raise PullFailed(f"{_could_not(reference)}{_asking(reference)}{lookup}")
        target = f"{name}:{port or HTTPS_PORT}"
        give_up_at = namespace.kernel.now + DIAL_TIMEOUT_S
        try:
            await namespace.dial(name, int(port or HTTPS_PORT), "https", DIAL_TIMEOUT_S)
        except ConnectionRefused:
            self._refuse(reference, target)
        except NetworkError:
            # Nobody here has the address: it would be somewhere behind the router, where nobody answers.
            await namespace.kernel.sleep(give_up_at - namespace.kernel.now)
            self._time_out(reference, target)
        said = "http: server gave HTTP response to HTTPS client"
        raise PullFailed(f"{_could_not(reference)}{_asking(reference)}{said}")

    def _refuse(self, reference: Reference, target: str) -> None:
        said = f"dial tcp {target}: connect: connection refused"
        raise PullFailed(f"{_could_not(reference)}{_asking(reference)}{said}")

    def _time_out(self, reference: Reference, target: str) -> None:
        said = f"{_could_not(reference)}{_asking(reference)}dial tcp {target}: i/o timeout"
        raise PullFailed(f"rpc error: code = DeadlineExceeded desc = {said}")


def _could_not(reference: Reference) -> str:
    return f'failed to pull and unpack image "{reference.name}": '


def _asking(reference: Reference) -> str:
    url = f"https://{reference.host}{reference.manifest}"
    return f'failed to resolve image: failed to do request: Head "{url}": '
