"""Ranges of sorted sets: by rank or by score, forwards and backwards; read, counted or removed."""

from __future__ import annotations

from msgspec import Struct

from simcloud.datastores.redis.commands.arguments import slice_of
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import double_text, integer, parse_bound
from simcloud.datastores.redis.engine.values import SortedValue
from simcloud.datastores.redis.resp import RedisError, Reply, SyntaxMistake, Words, WrongType
from simcloud.datastores.redis.state import Client


class Range(Struct):
    """A range of a sorted set."""

    by: str
    start: bytes
    stop: bytes
    reverse: bool = False
    offset: int = 0
    count: int = -1
    with_scores: bool = False

    def places(self, value: SortedValue) -> tuple[int, int]:
        """Return its ranks in ascending order, the second one not included. Raise an error of the ends."""
        if self.by == "rank":
            first, last = slice_of(integer(self.start), integer(self.stop), len(value))
            return (len(value) - last, len(value) - first) if self.reverse else (first, last)
        low, high = (self.stop, self.start) if self.reverse else (self.start, self.stop)
        first, last = score_places(value, low, high)
        if self.offset < 0:
            return 0, 0
        if self.reverse:
            last -= self.offset
            first = max(first, last - self.count) if self.count >= 0 else first
        else:
            first += self.offset
            last = min(last, first + self.count) if self.count >= 0 else last
        return first, max(first, last)

    def entries(self, value: SortedValue) -> list[tuple[float, bytes]]:
        """Return the members and their scores, in the requested order."""
        entries = value.entries(*self.places(value))
        if self.reverse:
            entries.reverse()
        return entries


def score_places(value: SortedValue, low: bytes, high: bytes) -> tuple[int, int]:
    """Return the ranks of the members between two scores."""
    least, least_excluded = parse_bound(low)
    most, most_excluded = parse_bound(high)
    first = value.first_at_least(least, least_excluded)
    return first, max(first, value.first_at_least(most, not most_excluded))


def read_range(words: Words, by: str = "rank", reverse: bool = False, generic: bool = False) -> Range:
    """Parse ``start stop [BYSCORE] [REV] [LIMIT offset count] [WITHSCORES]``."""
    wanted = Range(by, words[0], words[1], reverse)
    at, limited = 2, False
    while at < len(words):
        option = words[at].lower()
        if option == b"withscores":
            wanted.with_scores = True
        elif option == b"limit" and at + 2 < len(words):
            wanted.offset, wanted.count = integer(words[at + 1]), integer(words[at + 2])
            limited = True
            at += 2
        elif generic and option == b"rev":
            wanted.reverse = True
        elif generic and option == b"byscore":
            wanted.by = "score"
        else:
            raise SyntaxMistake
        at += 1
    if limited and wanted.by == "rank":
        raise RedisError(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
        )
    return wanted


def _answer(client: Client, key: bytes, wanted: Range) -> Reply:
    value = client.db.read(key)
    if value.__class__ is not SortedValue:
        wanted.places(SortedValue())  # what is wrong with the range is said before what is wrong with the key
        if value is not None:
            raise WrongType
        return []
    entries = wanted.entries(value)
    if not wanted.with_scores:
        return [member for _, member in entries]
    return [part for score, member in entries for part in (member, double_text(score))]


@command("zrange", -4, "readonly", ONE)
def _run_zrange(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], generic=True))


@command("zrevrange", -4, "readonly", ONE)
def _run_zrevrange(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], reverse=True))


@command("zrangebyscore", -4, "readonly", ONE)
def _run_zrangebyscore(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], "score"))


@command("zrevrangebyscore", -4, "readonly", ONE)
def _run_zrevrangebyscore(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], "score", reverse=True))


@command("zcount", 4, "readonly fast", ONE)
def _run_zcount(client: Client, words: Words) -> Reply:
    return _count(client, words[1], Range("score", words[2], words[3]))


def _count(client: Client, key: bytes, wanted: Range) -> int:
    wanted.places(SortedValue())
    value = client.db.view(key, SortedValue)
    if value is None:
        return 0
    first, last = wanted.places(value)
    return last - first


@command("zremrangebyrank", 4, "write", ONE)
def _run_zremrangebyrank(client: Client, words: Words) -> Reply:
    return _remove(client, words[1], Range("rank", words[2], words[3]))


@command("zremrangebyscore", 4, "write", ONE)
def _run_zremrangebyscore(client: Client, words: Words) -> Reply:
    return _remove(client, words[1], Range("score", words[2], words[3]))


def _remove(client: Client, key: bytes, wanted: Range) -> int:
    wanted.places(SortedValue())
    value = client.db.get(key, SortedValue)
    if value is None:
        return 0
    removed = value.drop_slice(*wanted.places(value))
    if removed:
        client.db.record_change(key, removed)
    return removed
