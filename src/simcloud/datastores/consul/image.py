"""The ``hashicorp/consul`` image."""

from __future__ import annotations

from functools import cache
from typing import Final

from simcloud.datastores.consul.command import consul
from simcloud.datastores.consul.identity import VERSION
from simcloud.kubernetes.images import ImageRegistry, alpine_image
from simcloud.machine import Image
from simcloud.machine.process import Context
from simcloud.userland.commands import all_commands

TAGS: Final = ("latest", "1.20", VERSION)
ENTRY_POINT: Final = "docker-entrypoint.sh"
COMMANDS: Final = frozenset({"agent", "catalog", "info", "members", "monitor", "services", "version"})


@cache
def consul_image() -> Image:
    """The program on Alpine, whose shell is busybox's; by default a dev agent that answers on every address."""
    more = {name: all_commands()[name] for name in ("curl", "jq")}
    image = alpine_image().derive(
        "consul", {}, {**more, "consul": consul, ENTRY_POINT: _entry_point}, (ENTRY_POINT,)
    )
    image.env = {"BIN_NAME": "consul", "PRODUCT_VERSION": VERSION}
    return image


async def _entry_point(ctx: Context) -> int:
    """Run a subcommand of consul; an agent gets the folders of the image."""
    words = ctx.args[1:]
    if words and words[0].startswith("-"):
        words = ["consul", *words]
    elif words[:1] == ["agent"]:
        words = ["consul", "agent", "-data-dir=/consul/data", "-config-dir=/consul/config", *words[1:]]
    elif words and words[0] in COMMANDS:
        words = ["consul", *words]
    await ctx.exec(words or ["consul", "version"])


def add_consul(registry: ImageRegistry) -> None:
    """Publish the image under its tags."""
    for tag in TAGS:
        registry.add(
            f"hashicorp/consul:{tag}",
            consul_image(),
            args=("agent", "-dev", "-client", "0.0.0.0"),
            size_bytes=62_417_836,
        )
