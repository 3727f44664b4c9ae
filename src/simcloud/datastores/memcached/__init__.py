"""Memcached 1.6: the server program, its image, and clients."""

from simcloud.datastores.memcached.gomemcache import (
    CacheMiss,
    MalformedKey,
    MemcachedClient,
    MemcacheError,
    NotStored,
)
from simcloud.datastores.memcached.image import add_memcached, memcached_image
from simcloud.datastores.memcached.server import memcached

__all__ = [
    "CacheMiss",
    "MalformedKey",
    "MemcacheError",
    "MemcachedClient",
    "NotStored",
    "add_memcached",
    "memcached",
    "memcached_image",
]
