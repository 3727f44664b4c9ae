"""What mongod keeps on its disk: data files, a journal, a lock; laid out as WiredTiger lays them out."""

from simcloud.datastores.mongodb.storage.engine import Storage
from simcloud.datastores.mongodb.storage.errors import CannotOpen, StorageFailed

__all__ = ["CannotOpen", "Storage", "StorageFailed"]
