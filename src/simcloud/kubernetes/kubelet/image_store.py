"""Images on a node, and image pulls.

Pulls are serial, as is the kubelet's default. A failed pull is retried after its back-off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.golang import format_duration, quote
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.images import ImageRegistry, Published, PullFailed
from simcloud.kubernetes.images.references import InvalidReference, Reference, parse
from simcloud.kubernetes.kubelet.cpu_cost import work
from simcloud.kubernetes.kubelet.pods.backoff import Backoff
from simcloud.kubernetes.kubelet.services import CONTAINERD
from simcloud.machine import Machine
from simcloud.machine.files import BLOCK_BYTES
from simcloud.sim import Event, Semaphore, first_of

Tell = Callable[[str, str, str], None]
"""Records an event about the container: kind, reason, message."""

ALWAYS_S: Final = 0.1
"""Range of the time to verify that a present image is still the right one."""

ASK_CPU_S: Final = 0.02
"""What it costs a node to talk to a registry, and to unpack what comes."""


def measure_unpacked(image: Published) -> int:
    """The space that an image takes when its layers are unpacked."""
    share = 1.0 if image.is_imported else 2.05 + int(image.digest[-4:], 16) / 65_536
    return int(image.size_bytes * share) // BLOCK_BYTES * BLOCK_BYTES


def image_inodes(image: Published) -> int:
    """The number of files in an image, about."""
    return 180 + image.size_bytes // 46_000


class ImageError(Exception):
    """An image cannot be used: the reason of the container's waiting, and its message."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NodeImages:
    """The images of one machine."""

    def __init__(self, machine: Machine, registry: ImageRegistry, log: Callable[..., None]) -> None:
        self._log = log
        self._machine = machine
        self._registry = registry
        self._present: dict[str, Published] = {}
        self._listed: list[Published] = []
        """The same in order; made again after a change."""
        self._backoff = Backoff()
        self._last_errors: dict[str, str] = {}
        self._turn = Semaphore(machine.kernel, 1)

    def preload(self, reference: str) -> None:
        """Have an image from the start, as nodes are often delivered."""
        found = self._registry.find(reference)
        if found is None:
            raise ValueError(f"no registry has an image '{reference}'")
        self._store(found)

    def _store(self, image: Published) -> None:
        """Keep an image: its blobs and its unpacked layers take space on the disk."""
        if image.name not in self._present:
            packed = -(-image.size_bytes // BLOCK_BYTES) * BLOCK_BYTES
            self._machine.disk.occupy(packed + measure_unpacked(image), image_inodes(image))
        if self._present.get(image.name) is not image:
            self._present[image.name] = image
            self._listed = sorted(self._present.values(), key=lambda each: (-each.size_bytes, each.name))

    def list_images(self) -> list[Published]:
        """The images that are there, the largest first. The list is not changed: after a change there is another."""
        return self._listed

    def has(self, reference: Reference) -> Published | None:
        """An image, if it is on the machine."""
        return self._present.get(reference.name)

    def forget(self, uid: str) -> None:
        """A pod is gone: its pauses go with it."""
        self._backoff.forget(uid)
        for key in [each for each in self._last_errors if each.startswith(uid)]:
            del self._last_errors[key]

    async def ensure(self, pod: Object, container: Object, tell: Tell, interrupt: Event[None]) -> Published:
        """Have the image of a container, or say by ``ImageError`` why not. An interrupt ends a pull."""
        text = container.get("image") or ""
        try:
            reference = parse(text)
        except InvalidReference as problem:
            failed = (
                f'Failed to apply default image tag "{text}": couldn\'t parse image name "{text}": {problem}'
            )
            tell("Warning", "InspectFailed", failed)
            raise ImageError("InvalidImageName", failed) from None
        policy = container.get("imagePullPolicy") or "IfNotPresent"
        present = self.has(reference)
        if present is not None and policy != "Always":
            tell(
                "Normal",
                "Pulled",
                f'Container image "{text}" already present on machine and can be accessed by the pod',
            )
            return present
        if policy == "Never":
            missing = f'Container image "{text}" is not present with pull policy of Never'
            tell("Warning", "ErrImageNeverPull", missing)
            raise ImageError("ErrImageNeverPull", missing)
        return await self._pull(pod, text, reference, tell, interrupt)

    async def _pull(
        self, pod: Object, text: str, reference: Reference, tell: Tell, interrupt: Event[None]
    ) -> Published:
        key = f"{pod['metadata']['uid']}_{text}"
        kernel = self._machine.kernel
        if self._backoff.holds(key, kernel.now):
            tell("Normal", "BackOff", f'Back-off pulling image "{text}"')
            last = self._last_errors.get(key, "")
            raise ImageError("ImagePullBackOff", f'Back-off pulling image "{text}": ErrImagePull: {last}')
        tell("Normal", "Pulling", f'Pulling image "{text}"')
        asked_at = kernel.now
        async with self._turn:
            begun_at = kernel.now
            self._log(f'PullImage "{text}"')
            try:
                found = await self._fetch(reference, interrupt)
            except PullFailed as failure:
                self._backoff.lengthen(key, kernel.now, kernel.now)
                self._last_errors[key] = str(failure)
                self._log(f'PullImage "{text}" failed', "error", error=quote(str(failure)))
                tell("Warning", "Failed", f'Failed to pull image "{text}": {failure}')
                raise ImageError("ErrImagePull", str(failure)) from None
        took, waited = (
            format_duration(round(kernel.now - begun_at, 3)),
            format_duration(round(kernel.now - asked_at, 3)),
        )
        self._log(
            f'Pulled image "{text}" with image id "{found.config_digest}", repo tag "{found.name}", repo digest "{found.image_id}", '
            f'size "{found.size_bytes}" in {took}'
        )
        self._log(f'PullImage "{text}" returns image reference "{found.config_digest}"')
        tell(
            "Normal",
            "Pulled",
            f'Successfully pulled image "{text}" in {took} ({waited} including waiting). '
            f"Image size: {found.size_bytes} bytes.",
        )
        if found.name not in self._present:
            self._machine.disk.written_bytes += found.size_bytes + measure_unpacked(found)
        self._store(found)
        return found

    async def _fetch(self, reference: Reference, interrupt: Event[None]) -> Published:
        works = (self._transfer(reference), interrupt.wait())
        _, found = await first_of(self._machine.kernel, works, f"pull {reference.name}")
        if found is None:
            raise PullFailed("context canceled")
        return found

    async def _transfer(self, reference: Reference) -> Published | None:
        present = self.has(reference)
        if present is not None and self._registry.find(reference.name) is present:
            await self._machine.kernel.sleep(ALWAYS_S * self._machine.cpu.draw_factor())
            return present
        await work(self._machine, ASK_CPU_S, CONTAINERD)
        return await self._registry.pull(
            reference, self._machine.host.namespace, self._machine.cpu.draw_factor()
        )
