"""Images of operators for diagnosis and load: a toolbox, small systems, stress."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.kubernetes.images.registry import ImageRegistry
from simcloud.machine import Image
from simcloud.userland import operator_image
from simcloud.userland.commands import all_commands

NOT_IN_STRESS: Final = (
    "curl",
    "jq",
    "dig",
    "host",
    "tc",
    "iptables",
    "systemctl",
    "journalctl",
    "crictl",
    "ssh",
)
TOOLBOXES: Final = (
    "nicolaka/netshoot:latest",
    "debian:12",
    "debian:latest",
    "ubuntu:22.04",
    "ubuntu:latest",
    "alpine:latest",
)


@cache
def stress_image() -> Image:
    """A small system with stress and stress-ng on it."""
    programs = {name: program for name, program in all_commands().items() if name not in NOT_IN_STRESS}
    return Image("stress", programs)


def add_tools(registry: ImageRegistry) -> None:
    """Publish them."""
    for reference in TOOLBOXES:
        registry.add(reference, operator_image(), args=("bash",))
    for reference in ("polinux/stress:latest", "polinux/stress:1.0.4", "alexeiled/stress-ng:latest"):
        args = ("stress-ng",) if "ng" in reference else ()
        registry.add(reference, stress_image(), args=args)
