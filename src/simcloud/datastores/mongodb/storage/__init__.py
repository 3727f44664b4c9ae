"""The storage of mongod: data files, a journal and a lock, in WiredTiger's layout."""

from simcloud.datastores.mongodb.storage.engine import Storage
from simcloud.datastores.mongodb.storage.errors import CannotOpen, StorageFailed

__all__ = ["CannotOpen", "Storage", "StorageFailed"]
