"""Ranges of sorted sets: by rank, by score, by bytes; forwards and backwards; read, counted, stored or removed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.commands.words import slice_of
from simcloud.datastores.redis.engine.numbers import bound, double_text, integer
from simcloud.datastores.redis.engine.values import SortedValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import RedisError, Reply, SyntaxMistake, WrongType

NOT_LEXICAL = "ERR min or max not valid string range item"


@dataclass(slots=True)
class Range:
    """What of a sorted set is meant."""

    by: str
    start: bytes
    stop: bytes
    reverse: bool = False
    offset: int = 0
    count: int = -1
    with_scores: bool = False

    def places(self, value: SortedValue) -> tuple[int, int]:
        """Its ranks in ascending order, the second one not included. Raises what is wrong with the ends."""
        if self.by == "rank":
            first, last = slice_of(integer(self.start), integer(self.stop), len(value))
            return (len(value) - last, len(value) - first) if self.reverse else (first, last)
        low, high = (self.stop, self.start) if self.reverse else (self.start, self.stop)
        first, last = score_places(value, low, high) if self.by == "score" else lex_places(value, low, high)
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
        """The members meant, with their scores, in the order asked for."""
        entries = value.entries(*self.places(value))
        if self.reverse:
            entries.reverse()
        return entries


def score_places(value: SortedValue, low: bytes, high: bytes) -> tuple[int, int]:
    """Where the members between two scores are."""
    least, least_excluded = bound(low)
    most, most_excluded = bound(high)
    first = value.first_at_least(least, least_excluded)
    return first, max(first, value.first_at_least(most, not most_excluded))


def lex_places(value: SortedValue, low: bytes, high: bytes) -> tuple[int, int]:
    """Where the members between two texts are, if all scores are equal."""
    if low[:1] not in (b"[", b"(", b"-", b"+") or high[:1] not in (b"[", b"(", b"-", b"+"):
        raise RedisError(NOT_LEXICAL)
    first = _lex_place(value, low, upper=False)
    return first, max(first, _lex_place(value, high, upper=True))


def _lex_place(value: SortedValue, end: bytes, upper: bool) -> int:
    sign, text = end[:1], end[1:]
    if sign in (b"-", b"+"):
        if text:
            raise RedisError(NOT_LEXICAL)
        return 0 if sign == b"-" else len(value)
    after = (sign == b"[") == upper
    side = bisect_right if after else bisect_left
    return side(value.order, text)


def read_range(words: Words, by: str = "rank", reverse: bool = False, generic: bool = False) -> Range:
    """A range from ``start stop [BYSCORE|BYLEX] [REV] [LIMIT offset count] [WITHSCORES]``."""
    wanted = Range(by, words[0], words[1], reverse)
    at, limited = 2, False
    while at < len(words):
        option = words[at].lower()
        if option == b"withscores" and by != "lex":
            wanted.with_scores = True
        elif option == b"limit" and at + 2 < len(words):
            wanted.offset, wanted.count = integer(words[at + 1]), integer(words[at + 2])
            limited = True
            at += 2
        elif generic and option == b"rev":
            wanted.reverse = True
        elif generic and option in (b"byscore", b"bylex"):
            wanted.by = option[2:].decode()
        else:
            raise SyntaxMistake
        at += 1
    if limited and wanted.by == "rank":
        raise RedisError(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
        )
    if wanted.with_scores and wanted.by == "lex":
        raise RedisError("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
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


@command("zrangebylex", -4, "readonly", ONE)
def _run_zrangebylex(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], "lex"))


@command("zrevrangebylex", -4, "readonly", ONE)
def _run_zrevrangebylex(client: Client, words: Words) -> Reply:
    return _answer(client, words[1], read_range(words[2:], "lex", reverse=True))


@command("zrangestore", -5, "write denyoom", (1, 2, 1))
def _run_zrangestore(client: Client, words: Words) -> Reply:
    wanted = read_range(words[3:], generic=True)
    if wanted.with_scores:
        raise SyntaxMistake
    wanted.places(SortedValue())
    source = client.db.get(words[2], SortedValue)
    entries = [] if source is None else wanted.entries(source)
    return store_sorted(client, words[1], [(member, score) for score, member in entries])


def store_sorted(client: Client, key: bytes, members: list[tuple[bytes, float]]) -> int:
    """Put these under a key instead of what is there; nothing deletes it."""
    if not members:
        client.db.delete(key)
        return 0
    made = SortedValue()
    for member, score in members:
        made.put(member, score, client.server.limits)
    client.db.put(key, made)
    return len(members)


@command("zcount", 4, "readonly fast", ONE)
def _run_zcount(client: Client, words: Words) -> Reply:
    return _count(client, words[1], Range("score", words[2], words[3]))


@command("zlexcount", 4, "readonly fast", ONE)
def _run_zlexcount(client: Client, words: Words) -> Reply:
    return _count(client, words[1], Range("lex", words[2], words[3]))


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


@command("zremrangebylex", 4, "write", ONE)
def _run_zremrangebylex(client: Client, words: Words) -> Reply:
    return _remove(client, words[1], Range("lex", words[2], words[3]))


def _remove(client: Client, key: bytes, wanted: Range) -> int:
    wanted.places(SortedValue())
    value = client.db.get(key, SortedValue)
    if value is None:
        return 0
    removed = value.drop_slice(*wanted.places(value))
    if removed:
        client.db.touched(key, removed)
    return removed
