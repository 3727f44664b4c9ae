"""Parsing of arguments that several groups of commands share."""

from __future__ import annotations

from simcloud.datastores.redis.engine.numbers import INT_MAX, INT_MIN, integer
from simcloud.datastores.redis.resp import RedisError
from simcloud.datastores.redis.state import Client


def slice_of(start: int, stop: int, length: int) -> tuple[int, int]:
    """Convert a range with inclusive ends, negative ones counted from the end, to the ends of a Python slice."""
    if start < 0:
        start = max(0, start + length)
    if stop < 0:
        stop += length
    return (start, min(stop, length - 1) + 1) if start <= stop and start < length else (0, 0)


def natural(word: bytes) -> int:
    """Parse a number that is not negative."""
    message = "ERR value is out of range, must be positive"
    number = integer(word, message)
    if number < 0:
        raise RedisError(message)
    return number


def expiry_moment(client: Client, word: bytes, unit: bytes, name: str) -> int:
    """Return when an expiry in the unit ``EX``, ``PX``, ``EXAT`` or ``PXAT`` ends, in milliseconds since 1970."""
    amount = integer(word)
    invalid = f"ERR invalid expire time in {name}"
    if amount <= 0:
        raise RedisError(invalid)
    if unit in (b"ex", b"exat"):
        if amount > INT_MAX // 1000:
            raise RedisError(invalid)
        amount *= 1000
    if unit in (b"ex", b"px"):
        amount += client.server.now_ms()
        if amount > INT_MAX:
            raise RedisError(invalid)
    return amount


def add_int64(number: int, change: int) -> int:
    """Add two numbers. Raise ``RedisError`` if the sum does not fit 64 bits."""
    total = number + change
    if not INT_MIN <= total <= INT_MAX:
        raise RedisError("ERR increment or decrement would overflow")
    return total
