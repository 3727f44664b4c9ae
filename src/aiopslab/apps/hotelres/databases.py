"""The data folders of the databases as an earlier release of the application left them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.apps.hotelres.data import SEEDS
from aiopslab.apps.names import Names
from simcloud.datastores.mongodb import Document
from simcloud.datastores.mongodb.storage import build_users, data_files

VOLUMES: Final = "/data/volumes"
WITH_USERS: Final = ("geo", "rate")
USERS: Final = {"admin": "admin", "root": "root"}


def build_folders(written_s: float, names: Names) -> Mapping[str, bytes]:
    """Build the files of all data folders by path."""
    files: dict[str, bytes] = {}
    for service, seeds in SEEDS.items():
        name = names.rename(service)
        collections: dict[str, tuple[list[Document], list[Document]]] = {
            f"{name}-db.{seed.collection}": (
                seed.build(),
                [{"v": 2, "key": {seed.field: 1}, "name": f"{seed.field}_1"}],
            )
            for seed in seeds
        }
        if service in WITH_USERS:
            roles = [
                {"role": "userAdminAnyDatabase", "db": "admin"},
                {"role": "readWrite", "db": f"{name}-db"},
            ]
            collections["admin.system.users"] = build_users(USERS, roles)
        files |= data_files(f"{VOLUMES}/{name}-pv", collections, written_s)
    return files
