"""The image ``mongo:4.4.6``: mongod, the shell, bash and the usual tools, with the entry point of the genuine one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from simcloud.datastores.mongodb.entrypoint import docker_entrypoint
from simcloud.datastores.mongodb.mongod import mongod
from simcloud.datastores.mongodb.shell import mongo
from simcloud.datastores.mongodb.version import VERSION
from simcloud.machine import Image
from simcloud.machine.process import Program
from simcloud.userland.commands import all_commands

SIZE_BYTES = 158_000_000
FOLDERS: Final = {
    "/data/db/.keep": b"",
    "/data/configdb/.keep": b"",
    "/docker-entrypoint-initdb.d/.keep": b"",
}


def mongo_image(more: Mapping[str, Program] | None = None, files: Mapping[str, bytes] | None = None) -> Image:
    """Return the image, with further programs on its PATH and further files."""
    own = {"mongod": mongod, "mongo": mongo, "docker-entrypoint.sh": docker_entrypoint}
    programs = {**all_commands(), **own, **(more or {})}
    return Image(
        "mongo",
        programs,
        files={**FOLDERS, **(files or {})},
        env={
            "GOSU_VERSION": "1.12",
            "MONGO_PACKAGE": "mongodb-org",
            "MONGO_MAJOR": "4.4",
            "MONGO_VERSION": VERSION,
        },
        entrypoint=["docker-entrypoint.sh"],
    )


@cache
def images() -> dict[str, Image]:
    """Return the published images by reference; each runs ``mongod`` by default."""
    return {f"mongo:{tag}": mongo_image() for tag in (VERSION,)}
