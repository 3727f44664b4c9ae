"""The storage of mongod: data files, a journal and a lock, in WiredTiger's layout."""

from simcloud.datastores.mongodb.storage.engine import Storage as Storage
from simcloud.datastores.mongodb.storage.errors import (
    CannotOpen as CannotOpen,
    StorageFailed as StorageFailed,
)
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.mongodb.storage.seed import build_users as build_users, data_files as data_files
