"""SCAN and related commands: incremental iteration over keys or members."""

from __future__ import annotations

from collections.abc import Mapping

from simcloud.datastores.redis.commands.table import ONE, command
from simcloud.datastores.redis.engine.database import scan_order, scan_step
from simcloud.datastores.redis.engine.numbers import double_text, integer
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.engine.values import HashValue, SetValue, SortedValue, Value
from simcloud.datastores.redis.resp import RedisError, Reply, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client

CURSOR_MAX = 1 << 64


class Options:
    """The options MATCH and COUNT, and TYPE for keys."""

    def __init__(self, words: Words, with_type: bool) -> None:
        self.pattern: Pattern | None = None
        self.count = 10
        self.kind: bytes | None = None
        if len(words) % 2:
            raise SyntaxMistake
        for option, word in zip(words[::2], words[1::2], strict=True):
            name = option.lower()
            if name == b"match":
                self.pattern = None if word == b"*" else Pattern(word)
            elif name == b"count":
                self.count = integer(word)
                if self.count < 1:
                    raise SyntaxMistake
            elif name == b"type" and with_type:
                self.kind = word.lower()
            else:
                raise SyntaxMistake

    def fits(self, text: bytes) -> bool:
        """Return whether a key or member matches."""
        return self.pattern is None or self.pattern.matches(text)


def _cursor(word: bytes) -> int:
    if not word.isdigit() or len(word) > 20 or int(word) >= CURSOR_MAX:
        raise RedisError("ERR invalid cursor")
    return int(word)


@command("scan", -2, "readonly")
def _run_scan(client: Client, words: Words) -> Reply:
    cursor, options = _cursor(words[1]), Options(words[2:], with_type=True)
    db = client.db
    after, found = db.scan(cursor, options.count)
    client.server.work += len(found)
    chosen: list[bytes] = []
    for key in found:
        if options.fits(key):
            value = db.find(key)
            if value is not None and options.kind in (None, value.kind.encode()):
                chosen.append(key)
    return [b"%d" % after, chosen]


def _members(client: Client, cursor: int, count: int, value: Value) -> tuple[int, list[bytes]]:
    """Return one step through a collection; compact ones are returned whole."""
    members: Mapping[bytes, object]
    if isinstance(value, SetValue):
        members = value.members
        whole = value.integers
        listed = value.list_members() if whole else []
    elif isinstance(value, HashValue):
        members, whole, listed = value.fields, value.packed, list(value.fields)
    else:
        assert isinstance(value, SortedValue)
        members, whole = value.scores, value.packed
        listed = list(value.order) if whole else []
    if whole:
        return 0, listed
    if cursor == 0 or value.scan is None:
        value.scan = scan_order(members)
    after, found = scan_step(value.scan, cursor, count)
    client.server.work += len(found)
    return after, [member for member in found if member in members]


@command("sscan", -3, "readonly", ONE)
def _run_sscan(client: Client, words: Words) -> Reply:
    cursor, options = _cursor(words[2]), Options(words[3:], with_type=False)
    value = client.db.view(words[1], SetValue)
    if value is None:
        return [b"0", []]
    after, found = _members(client, cursor, options.count, value)
    return [b"%d" % after, [member for member in found if options.fits(member)]]


@command("hscan", -3, "readonly", ONE)
def _run_hscan(client: Client, words: Words) -> Reply:
    cursor, options = _cursor(words[2]), Options(words[3:], with_type=False)
    value = client.db.view(words[1], HashValue)
    if value is None:
        return [b"0", []]
    after, found = _members(client, cursor, options.count, value)
    pairs = [(field, value.fields[field]) for field in found if options.fits(field)]
    return [b"%d" % after, [part for pair in pairs for part in pair]]


@command("zscan", -3, "readonly", ONE)
def _run_zscan(client: Client, words: Words) -> Reply:
    cursor, options = _cursor(words[2]), Options(words[3:], with_type=False)
    value = client.db.view(words[1], SortedValue)
    if value is None:
        return [b"0", []]
    after, found = _members(client, cursor, options.count, value)
    pairs = [(member, double_text(value.scores[member])) for member in found if options.fits(member)]
    return [b"%d" % after, [part for pair in pairs for part in pair]]
