"""Images that tests and examples of every cluster use: busybox, nginx, pause."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.kubernetes.images.busybox import busybox_image
from simcloud.kubernetes.images.nginx import nginx_image
from simcloud.kubernetes.images.registry import ImageRegistry
from simcloud.kubernetes.images.tools import add_tools
from simcloud.machine import Image
from simcloud.machine.process import Context

PAUSE: Final = "registry.k8s.io/pause:3.10"
LOCAL_PATH_HELPER: Final = "docker.io/kindest/local-path-helper:v20241212-8ac705d0"


@cache
def pause_image() -> Image:
    """One process that waits: what holds a pod's namespaces."""
    return Image("pause", {"pause": pause}, entrypoint=["/usr/bin/pause"])


async def pause(ctx: Context) -> int:
    """Wait for ever."""
    while True:
        await ctx.sleep(1e9)


def standard_registry() -> ImageRegistry:
    """A registry with the images that the recordings' node had, and those that operators bring along."""
    registry = ImageRegistry()
    for tag in ("1.36", "latest"):
        registry.add(
            f"busybox:{tag}",
            busybox_image(),
            args=("sh",),
            size_bytes=1_092_216,
            digest="sha256:be92218b336111dd0afab0a1996feb580872dfca6a0e17baaea5ada414d13111",
        )
    for tag in ("1.19", "1.20", "latest"):
        registry.add(
            f"nginx:{tag}",
            nginx_image(),
            args=("nginx", "-g", "daemon off;"),
            size_bytes=1_093_074,
            digest="sha256:a65bf2c5723b9a16b5741e99f6a39f9f1bce9d29a700de6a9a7b9bb881a93f03",
        )
    registry.add(PAUSE, pause_image(), user="65535:65535", size_bytes=320_368)
    registry.add(LOCAL_PATH_HELPER, busybox_image(), args=("sh",), size_bytes=3_084_671)
    add_tools(registry)
    return registry
