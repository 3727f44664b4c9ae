"""``redis-cli``: commands from the command line, from a pipe or interactively."""

from simcloud.datastores.redis.cli.program import redis_cli as redis_cli
