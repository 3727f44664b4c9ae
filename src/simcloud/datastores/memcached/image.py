"""The ``memcached`` image."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.datastores.memcached.server import memcached
from simcloud.datastores.memcached.settings import VERSION
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import BASE_FILES, Image
from simcloud.machine.process import Context
from simcloud.userland.commands import all_commands

TAGS: Final = ("latest", "1.6", "1.6.7", "1.6.18")
USER: Final = "11211"
ACCOUNT: Final = b"memcache:x:11211:11211::/home/memcache:/bin/sh\n"
ENTRY_POINT: Final = "docker-entrypoint.sh"


@cache
def memcached_image() -> Image:
    """Return the server with a shell beside it. It reads arguments only: no variable of the environment."""
    programs = {**all_commands(), "memcached": memcached, ENTRY_POINT: _entry_point}
    files = {"/etc/passwd": BASE_FILES["/etc/passwd"].encode() + ACCOUNT}
    return Image(
        "memcached", programs, files=files, env={"MEMCACHED_VERSION": VERSION}, entrypoint=[ENTRY_POINT]
    )


async def _entry_point(ctx: Context) -> int:
    """Options alone are memcached's; anything else is a command."""
    words = ctx.args[1:]
    await ctx.exec(["memcached", *words] if not words or words[0].startswith("-") else words)


def add_memcached(registry: ImageRegistry) -> None:
    """Publish the image under its tags."""
    for tag in TAGS:
        registry.add(
            f"memcached:{tag}", memcached_image(), args=("memcached",), user=USER, size_bytes=33_000_000
        )
