"""The image ``mongo:4.4.6``: Ubuntu 18.04 with mongod, the shell and the database tools, and the entry point of the genuine one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from simcloud.datastores.mongodb.entrypoint import MONGODB_UID, docker_entrypoint
from simcloud.datastores.mongodb.mongod import mongod
from simcloud.datastores.mongodb.tools import TOOLS
from simcloud.datastores.mongodb.version import VERSION
from simcloud.machine import Image
from simcloud.machine.process import Context, Program
from simcloud.userland import BIONIC, build_image

SIZE_BYTES: Final = 158_263_297
DATA_FOLDERS: Final = ("/data/db", "/data/configdb")
ACCOUNT: Final = ("mongodb", MONGODB_UID)


async def _mongo(ctx: Context) -> int:
    """Run the shell."""
    from simcloud.datastores.mongodb.shell import mongo  # a JavaScript engine, which most worlds do not need

    return await mongo(ctx)


def mongo_image(more: Mapping[str, Program] | None = None, files: Mapping[str, bytes] | None = None) -> Image:
    """Return the image, with further programs on its PATH and further files."""
    own = {"mongod": mongod, "mongo": _mongo, "docker-entrypoint.sh": docker_entrypoint, **TOOLS}
    folders = dict.fromkeys((f"{folder}/" for folder in (*DATA_FOLDERS, "/docker-entrypoint-initdb.d")), b"")
    return build_image(
        "mongo" if files is None else "mongo with data",
        BIONIC,
        {**own, **(more or {})},
        packages=("jq", "openssl"),
        account=ACCOUNT,
        files={**folders, **(files or {})},
        owned=DATA_FOLDERS,
        env={
            "GOSU_VERSION": "1.12",
            "MONGO_PACKAGE": "mongodb-org",
            "MONGO_MAJOR": "4.4",
            "MONGO_VERSION": VERSION,
        },
        entrypoint=("docker-entrypoint.sh",),
    )


@cache
def images() -> dict[str, Image]:
    """Return the published images by reference; each runs ``mongod`` by default."""
    return {f"mongo:{tag}": mongo_image() for tag in (VERSION,)}
