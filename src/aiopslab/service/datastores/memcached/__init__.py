"""Memcached 1.6: the server program, its image, and a client in gomemcache's manner."""

from aiopslab.service.datastores.memcached.gomemcache import (
    CacheMiss,
    MalformedKey,
    MemcachedClient,
    MemcacheError,
    NotStored,
)
from aiopslab.service.datastores.memcached.image import add_memcached, memcached_image
from aiopslab.service.datastores.memcached.server import memcached

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
