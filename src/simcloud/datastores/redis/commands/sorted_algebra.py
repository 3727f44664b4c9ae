"""Unions, intersections and differences of sorted sets (and of sets, whose members count 1)."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Final

from simcloud.datastores.redis.client import Client
from simcloud.datastores.redis.commands.sorted_ranges import store_sorted
from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.numbers import double, double_text, integer
from simcloud.datastores.redis.engine.values import SetValue, SortedValue
from simcloud.datastores.redis.messages import Words
from simcloud.datastores.redis.replies import RedisError, Reply, SyntaxMistake, WrongType

Scores = dict[bytes, float]


def _sum(first: float, second: float) -> float:
    total = first + second
    return 0.0 if isnan(total) else total


JOINS: Final[dict[bytes, Callable[[float, float], float]]] = {b"sum": _sum, b"min": min, b"max": max}


@command("zunionstore", -4, "write denyoom", ONE)
def _run_zunionstore(client: Client, words: Words) -> Reply:
    return _stored(client, words, "union")


@command("zinterstore", -4, "write denyoom", ONE)
def _run_zinterstore(client: Client, words: Words) -> Reply:
    return _stored(client, words, "inter")


@command("zdiffstore", -4, "write denyoom", ONE)
def _run_zdiffstore(client: Client, words: Words) -> Reply:
    return _stored(client, words, "diff")


@command("zunion", -3, "readonly")
def _run_zunion(client: Client, words: Words) -> Reply:
    return _shown(client, words, "union")


@command("zinter", -3, "readonly")
def _run_zinter(client: Client, words: Words) -> Reply:
    return _shown(client, words, "inter")


@command("zdiff", -3, "readonly")
def _run_zdiff(client: Client, words: Words) -> Reply:
    return _shown(client, words, "diff")


def _stored(client: Client, words: Words, operation: str) -> Reply:
    scores, _ = _work(client, words, 2, operation, stores=True)
    return store_sorted(client, words[1], list(scores.items()))


def _shown(client: Client, words: Words, operation: str) -> Reply:
    scores, with_scores = _work(client, words, 1, operation, stores=False)
    ordered = sorted((score, member) for member, score in scores.items())
    if not with_scores:
        return [member for _, member in ordered]
    return [part for score, member in ordered for part in (member, double_text(score))]


def _work(client: Client, words: Words, at: int, operation: str, stores: bool) -> tuple[Scores, bool]:
    count = integer(words[at])
    if count < 1:
        raise RedisError("ERR at least 1 input key is needed for ZUNIONSTORE/ZINTERSTORE")
    if at + 1 + count > len(words):
        raise SyntaxMistake
    sources = [_scores(client, key) for key in words[at + 1 : at + 1 + count]]
    weights, join, with_scores = _options(words[at + 1 + count :], count, operation, stores)
    client.server.work += sum(map(len, sources))
    if operation == "diff":
        first, *others = sources
        kept = {
            member: score for member, score in first.items() if not any(member in other for other in others)
        }
        return kept, with_scores
    weighted = [
        {member: _product(score, weight) for member, score in scores.items()}
        for scores, weight in zip(sources, weights, strict=True)
    ]
    combined = _union(weighted, join) if operation == "union" else _intersection(weighted, join)
    return combined, with_scores


def _product(score: float, weight: float) -> float:
    product = score * weight
    return 0.0 if isnan(product) else product


def _scores(client: Client, key: bytes) -> Scores:
    value = client.db.read(key)
    if value is None:
        return {}
    if isinstance(value, SetValue):
        return dict.fromkeys(value.members, 1.0)
    if isinstance(value, SortedValue):
        return value.scores
    raise WrongType


def _options(
    words: Words, count: int, operation: str, stores: bool
) -> tuple[list[float], Callable[[float, float], float], bool]:
    weights, with_scores = [1.0] * count, False
    join: Callable[[float, float], float] = _sum
    at = 0
    while at < len(words):
        option = words[at].lower()
        if operation != "diff" and option == b"weights" and at + count < len(words):
            weights = [
                double(word, "ERR weight value is not a float") for word in words[at + 1 : at + 1 + count]
            ]
            at += count
        elif operation != "diff" and option == b"aggregate" and words[at + 1 : at + 2]:
            found = JOINS.get(words[at + 1].lower())
            if found is None:
                raise SyntaxMistake
            join = found
            at += 1
        elif not stores and option == b"withscores":
            with_scores = True
        else:
            raise SyntaxMistake
        at += 1
    return weights, join, with_scores


def _union(sources: list[Scores], join: Callable[[float, float], float]) -> Scores:
    combined: Scores = {}
    for scores in sources:
        for member, score in scores.items():
            combined[member] = join(combined[member], score) if member in combined else score
    return combined


def _intersection(sources: list[Scores], join: Callable[[float, float], float]) -> Scores:
    combined: Scores = {}
    for member, score in min(sources, key=len).items():
        if all(member in other for other in sources):
            total = sources[0][member]
            for other in sources[1:]:
                total = join(total, other[member])
            combined[member] = total if len(sources) > 1 else score
    return combined
