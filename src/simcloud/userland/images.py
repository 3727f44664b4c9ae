"""Images that come with the engine."""

from __future__ import annotations

from functools import cache

from simcloud.machine import Image
from simcloud.userland.commands import all_commands


@cache
def operator_image() -> Image:
    """A Debian-like system with every command we have: what an operator's machine carries."""
    return Image("debian:12", all_commands())
