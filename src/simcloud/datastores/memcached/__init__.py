"""Memcached 1.6: the server program, its image, and clients."""

from simcloud.datastores.memcached.gomemcache import (
    CacheMiss as CacheMiss,
    MalformedKey as MalformedKey,
    MemcachedClient as MemcachedClient,
    MemcacheError as MemcacheError,
    NotStored as NotStored,
)
from simcloud.datastores.memcached.image import (
    add_memcached as add_memcached,
    memcached_image as memcached_image,
)
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.memcached.libmemcached import (
        SERVER_ERROR as SERVER_ERROR,
        MemcachedFailure as MemcachedFailure,
        MemcachedPool as MemcachedPool,
    )
