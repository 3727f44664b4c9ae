"""Redis 6.2: the server program, its image, and a client like redis-plus-plus."""

from simcloud.datastores.redis.image import add_redis, redis_image
from simcloud.datastores.redis.redis_plus_plus import Pipeline, RedisFailure, RedisPool, ServerReplied
from simcloud.datastores.redis.server import redis_server

__all__ = [
    "Pipeline",
    "RedisFailure",
    "RedisPool",
    "ServerReplied",
    "add_redis",
    "redis_image",
    "redis_server",
]
