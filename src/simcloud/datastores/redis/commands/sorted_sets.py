"""Commands that change sorted sets or read single members."""

from __future__ import annotations

from math import isnan

from simcloud.datastores.redis.commands.arguments import natural
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import double, double_text
from simcloud.datastores.redis.engine.values import SortedValue
from simcloud.datastores.redis.resp import RedisError, Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client

ZADD_OPTIONS = (b"nx", b"xx", b"gt", b"lt", b"ch", b"incr")


@command("zadd", -4, "write denyoom fast", ONE)
def _run_zadd(client: Client, words: Words) -> Reply:
    at = 2
    options: list[bytes] = []
    while at < len(words) and words[at].lower() in ZADD_OPTIONS:
        options.append(words[at].lower())
        at += 1
    return _zadd(client, words[1], words[at:], options)


@command("zincrby", 4, "write denyoom fast", ONE)
def _run_zincrby(client: Client, words: Words) -> Reply:
    return _zadd(client, words[1], words[2:], [b"incr"])


def _zadd(client: Client, key: bytes, pairs: Words, options: list[bytes]) -> Reply:
    increments = b"incr" in options
    if not pairs or len(pairs) % 2:
        raise SyntaxMistake
    if len(options) > 1:
        _check_together(options)
    if increments and len(pairs) > 2:
        raise RedisError("ERR INCR option supports a single increment-element pair")
    scores = [double(word) for word in pairs[0::2]]
    db = client.db
    found = db.get(key, SortedValue)
    if found is None and b"xx" in options:
        return None if increments else 0
    value = found or db.make(key, SortedValue)
    added = changed = 0
    score: float | None = None
    try:
        for given, member in zip(scores, pairs[1::2], strict=True):
            old = value.scores.get(member)
            score = _new_score(old, given, options)
            if score is not None and score != old:
                value.put(member, score, client.server.limits)
                added += old is None
                changed += old is not None
    finally:
        if added or changed or found is None:
            db.record_change(key, added + changed)
    if increments:
        return None if score is None else double_text(score)
    return added + changed if b"ch" in options else added


def _check_together(options: list[bytes]) -> None:
    if b"nx" in options and b"xx" in options:
        raise RedisError("ERR XX and NX options at the same time are not compatible")
    if sum(option in options for option in (b"gt", b"lt", b"nx")) > 1:
        raise RedisError("ERR GT, LT, and/or NX options at the same time are not compatible")


def _new_score(old: float | None, given: float, options: list[bytes]) -> float | None:
    """Return the new score of a member, or None if the options keep the old one."""
    if not options:
        return given
    if old is None:
        return None if b"xx" in options else given
    if b"nx" in options:
        return None
    score = old + given if b"incr" in options else given
    if isnan(score):
        raise RedisError("ERR resulting score is not a number (NaN)")
    if (b"gt" in options and score <= old) or (b"lt" in options and score >= old):
        return None
    return score


@command("zrem", -3, "write fast", ONE)
def _run_zrem(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], SortedValue)
    if value is None:
        return 0
    removed = sum([value.drop(member) for member in words[2:]])
    if removed:
        client.db.record_change(words[1], removed)
    return removed


@command("zcard", 2, "readonly fast", ONE)
def _run_zcard(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SortedValue)
    return 0 if value is None else len(value)


@command("zscore", 3, "readonly fast", ONE)
def _run_zscore(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SortedValue)
    score = None if value is None else value.scores.get(words[2])
    return None if score is None else double_text(score)


@command("zrank", 3, "readonly fast", ONE)
def _run_zrank(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SortedValue)
    return None if value is None else value.rank(words[2])


@command("zrevrank", 3, "readonly fast", ONE)
def _run_zrevrank(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SortedValue)
    rank = None if value is None else value.rank(words[2])
    return None if value is None or rank is None else len(value) - 1 - rank


@command("zpopmin", -2, "write fast", ONE)
def _run_zpopmin(client: Client, words: Words) -> Reply:
    return _pop(client, words, largest=False)


@command("zpopmax", -2, "write fast", ONE)
def _run_zpopmax(client: Client, words: Words) -> Reply:
    return _pop(client, words, largest=True)


def _pop(client: Client, words: Words, largest: bool) -> Reply:
    if len(words) > 3:
        raise SyntaxMistake
    count = natural(words[2]) if len(words) == 3 else 1
    value = client.db.get(words[1], SortedValue)
    if value is None or count == 0:
        return []
    count = min(count, len(value))
    popped = value.entries(len(value) - count, len(value))[::-1] if largest else value.entries(0, count)
    for _, member in popped:
        value.drop(member)
    client.db.record_change(words[1], count)
    return [part for score, member in popped for part in (member, double_text(score))]
