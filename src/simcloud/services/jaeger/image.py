"""The ``jaegertracing/all-in-one`` image: a single program and almost nothing else, like the genuine one."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.kubernetes.images import ImageRegistry, alpine_image
from simcloud.machine import Image
from simcloud.services.jaeger.program import jaeger

PROGRAM: Final = "all-in-one-linux"
TAGS: Final = ("1.57", "latest")
USER: Final = "10001"


@cache
def jaeger_image() -> Image:
    """Return the program on Alpine, whose shell is busybox's."""
    return alpine_image().derive("jaeger", {}, {PROGRAM: jaeger}, (PROGRAM,))


def add_jaeger(registry: ImageRegistry) -> None:
    """Publish the image under its tags."""
    for tag in TAGS:
        registry.add(
            f"jaegertracing/all-in-one:{tag}",
            jaeger_image(),
            args=("--sampling.strategies-file=/etc/jaeger/sampling_strategies.json",),
            user=USER,
            size_bytes=34_181_207,
        )
