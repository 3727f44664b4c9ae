"""The ``memcached`` image."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.datastores.memcached.server import make_memcached
from simcloud.datastores.memcached.settings import VERSION
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.process import Context
from simcloud.userland import BULLSEYE, BUSTER, build_image

OLD: Final = "1.6.7"
SIZES: Final = {"latest": 33_614_219, "1.6": 33_614_219, VERSION: 33_614_219, OLD: 30_285_403}
USER_ID: Final = 11211
ENTRY_POINT: Final = "docker-entrypoint.sh"


@cache
def memcached_image(version: str = VERSION) -> Image:
    """Return the server with a shell beside it. It reads arguments only: no variable of the environment."""
    return build_image(
        "memcached",
        BUSTER if version == OLD else BULLSEYE,
        {"memcached": make_memcached(version), ENTRY_POINT: _entry_point},
        account=("memcache", USER_ID),
        env={"MEMCACHED_VERSION": version},
        entrypoint=(ENTRY_POINT,),
    )


async def _entry_point(ctx: Context) -> int:
    """Options alone are memcached's; anything else is a command."""
    words = ctx.args[1:]
    await ctx.exec(["memcached", *words] if not words or words[0].startswith("-") else words)


def add_memcached(registry: ImageRegistry) -> None:
    """Publish the image under its tags."""
    for tag, size_bytes in SIZES.items():
        image = memcached_image(OLD) if tag == OLD else memcached_image()
        registry.add(f"memcached:{tag}", image, args=("memcached",), user=str(USER_ID), size_bytes=size_bytes)
