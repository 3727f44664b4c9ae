"""Redis 6.2: the server program, its image, and a client like redis-plus-plus."""

from simcloud.datastores.redis.image import (
    add_redis as add_redis,
    image_with as image_with,
    redis_image as redis_image,
)
from simcloud.datastores.redis.redis_plus_plus import (
    Pipeline as Pipeline,
    RedisFailure as RedisFailure,
    RedisPool as RedisPool,
    ServerReplied as ServerReplied,
)
from simcloud.datastores.redis.server import redis_server as redis_server
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.datastores.redis.rdb import build_snapshot as build_snapshot
