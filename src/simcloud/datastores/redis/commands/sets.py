"""Commands on sets."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.datastores.redis.commands.arguments import natural
from simcloud.datastores.redis.commands.table import ALL, ONE, command
from simcloud.datastores.redis.engine.numbers import integer
from simcloud.datastores.redis.engine.values import Limits, SetValue
from simcloud.datastores.redis.resp import Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client


@command("sadd", -3, "write denyoom fast", ONE)
def _run_sadd(client: Client, words: Words) -> Reply:
    value = client.db.make(words[1], SetValue)
    limits = client.server.limits
    added = sum([value.add(member, limits) for member in words[2:]])
    if added:
        client.db.record_change(words[1], added)
    return added


@command("srem", -3, "write fast", ONE)
def _run_srem(client: Client, words: Words) -> Reply:
    value = client.db.get(words[1], SetValue)
    if value is None:
        return 0
    removed = sum([value.drop(member) for member in words[2:]])
    if removed:
        client.db.record_change(words[1], removed)
    return removed


@command("sismember", 3, "readonly fast", ONE)
def _run_sismember(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SetValue)
    return int(value is not None and words[2] in value.members)


@command("scard", 2, "readonly fast", ONE)
def _run_scard(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SetValue)
    return 0 if value is None else len(value)


@command("smembers", 2, "readonly", ONE)
def _run_smembers(client: Client, words: Words) -> Reply:
    value = client.db.view(words[1], SetValue)
    return [] if value is None else list(value.list_members())


@command("spop", -2, "write fast", ONE)
def _run_spop(client: Client, words: Words) -> Reply:
    if len(words) > 3:
        raise SyntaxMistake
    count = natural(words[2]) if len(words) == 3 else None
    value = client.db.get(words[1], SetValue)
    if value is None:
        return None if count is None else []
    if count == 0:
        return []
    chosen = client.server.choose(value.list_members(), count)
    for member in chosen:
        value.drop(member)
    client.db.record_change(words[1], len(chosen))
    client.propagate([b"SREM", words[1], *chosen])
    return chosen[0] if count is None else list(chosen)


@command("srandmember", -2, "readonly", ONE)
def _run_srandmember(client: Client, words: Words) -> Reply:
    if len(words) > 3:
        raise SyntaxMistake
    count = integer(words[2]) if len(words) == 3 else None
    value = client.db.view(words[1], SetValue)
    if value is None:
        return None if count is None else []
    chosen = client.server.choose(value.list_members(), count)
    return chosen[0] if count is None else list(chosen)


@command("sinter", -2, "readonly", ALL)
def _run_sinter(client: Client, words: Words) -> Reply:
    return _sort_members(_intersection(_sets(client, words[1:])))


@command("sunion", -2, "readonly", ALL)
def _run_sunion(client: Client, words: Words) -> Reply:
    return _sort_members(_union(_sets(client, words[1:])))


@command("sdiff", -2, "readonly", ALL)
def _run_sdiff(client: Client, words: Words) -> Reply:
    return _sort_members(_difference(_sets(client, words[1:])))


def _sets(client: Client, keys: Words) -> list[dict[bytes, None]]:
    values = [client.db.view(key, SetValue) for key in keys]
    client.server.work += sum([len(value) for value in values if value is not None])
    return [{} if value is None else value.members for value in values]


def _intersection(sets: list[dict[bytes, None]]) -> list[bytes]:
    smallest = min(sets, key=len)
    return [member for member in smallest if all(member in other for other in sets)]


def _union(sets: list[dict[bytes, None]]) -> list[bytes]:
    return list(dict.fromkeys(member for members in sets for member in members))


def _difference(sets: list[dict[bytes, None]]) -> list[bytes]:
    return [member for member in sets[0] if not any(member in other for other in sets[1:])]


def _sort_members(members: Iterable[bytes]) -> Reply:
    value, limits = SetValue(), Limits()
    for member in members:
        value.add(member, limits)
    return value.list_members()
