"""The ``redis`` image: the server, its command line client, a shell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from simcloud.datastores.redis.cli import redis_cli
from simcloud.datastores.redis.server import redis_server
from simcloud.datastores.redis.version import VERSION
from simcloud.kubernetes.images import ImageRegistry
from simcloud.machine import Image
from simcloud.machine.files import FileError
from simcloud.machine.process import CommandNotFound, Context, NotExecutable
from simcloud.userland import BUSTER, build_image

TAGS: Final = ("latest", "6", "6.2", VERSION)
ENTRY_POINT: Final = "docker-entrypoint.sh"
REDIS_UID: Final = 999
SIZE_BYTES: Final = 38_667_912
NAME: Final = "/usr/local/bin/docker-entrypoint.sh"


@cache
def redis_image() -> Image:
    """Return the image that runs ``redis-server`` in ``/data``."""
    return image_with({})


def image_with(files: Mapping[str, bytes]) -> Image:
    """Return the image with further files."""
    own = {"redis-server": redis_server, "redis-cli": redis_cli, ENTRY_POINT: _entry_point}
    return build_image(
        "redis",
        BUSTER,
        own,
        account=("redis", REDIS_UID),
        files={"/data/": b"", **files},
        owned=("/data",),
        env={"GOSU_VERSION": "1.12", "REDIS_VERSION": VERSION},
        entrypoint=(ENTRY_POINT,),
    )


async def _entry_point(ctx: Context) -> int:
    """Options and configuration files alone are the server's, which runs as its own user; anything else is a command."""
    words = ctx.args[1:]
    if not words or words[0].startswith("-") or words[0].endswith(".conf"):
        words = ["redis-server", *words]
    if words[0] == "redis-server" and ctx.files.uid == 0:
        _give_away(ctx)
        ctx.files.uid = ctx.files.gid = REDIS_UID
    try:
        await ctx.exec(words)
    except CommandNotFound:
        await ctx.err(f"{NAME}: line 16: exec: {words[0]}: not found\n")
        return 127
    except NotExecutable as error:
        await ctx.err(f"{NAME}: line 16: {words[0]}: {error}\n")
        return 126


def _give_away(ctx: Context) -> None:
    """The folder and what is in it become the server's own, as far as that is possible."""
    for path in (".", *ctx.files.listdir(".")):
        try:
            ctx.files.chown(path, REDIS_UID, REDIS_UID)
        except FileError:
            pass  # a read-only mount: the server will say what it cannot write


def add_redis(registry: ImageRegistry) -> None:
    """Publish the image under its tags."""
    for tag in TAGS:
        registry.add(
            f"redis:{tag}", redis_image(), args=("redis-server",), workdir="/data", size_bytes=SIZE_BYTES
        )
