"""PUBLISH, SUBSCRIBE and related commands."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.administration import dispatch
from simcloud.datastores.redis.commands.table import Handler, command
from simcloud.datastores.redis.engine.patterns import Pattern
from simcloud.datastores.redis.resp import Reply, Several, Words
from simcloud.datastores.redis.state import Client


@command("subscribe", -2, "pubsub")
def _run_subscribe(client: Client, words: Words) -> Reply:
    return _listen(client, words[1:], b"subscribe", client.channels, client.server.channels)


@command("psubscribe", -2, "pubsub")
def _run_psubscribe(client: Client, words: Words) -> Reply:
    return _listen(client, words[1:], b"psubscribe", client.patterns, client.server.patterns)


@command("unsubscribe", -1, "pubsub")
def _run_unsubscribe(client: Client, words: Words) -> Reply:
    return _leave(client, words[1:], b"unsubscribe", client.channels, client.server.channels)


@command("punsubscribe", -1, "pubsub")
def _run_punsubscribe(client: Client, words: Words) -> Reply:
    return _leave(client, words[1:], b"punsubscribe", client.patterns, client.server.patterns)


def _listen(
    client: Client,
    names: Words,
    verb: bytes,
    own: dict[bytes, None],
    listeners: dict[bytes, dict[int, Client]],
) -> Reply:
    replies = Several()
    for name in names:
        own[name] = None
        listeners.setdefault(name, {})[client.number] = client
        replies.append([verb, name, client.subscriptions])
    return replies


def _leave(
    client: Client,
    names: Words,
    verb: bytes,
    own: dict[bytes, None],
    listeners: dict[bytes, dict[int, Client]],
) -> Reply:
    replies = Several()
    for name in names or list(own):
        if name in own:
            del own[name]
            del listeners[name][client.number]
            if not listeners[name]:
                del listeners[name]
        replies.append([verb, name, client.subscriptions])
    return replies or Several([[verb, None, client.subscriptions]])


@command("publish", 3, "pubsub fast")
def _run_publish(client: Client, words: Words) -> Reply:
    server, channel, message = client.server, words[1], words[2]
    receivers = 0
    for listener in list(server.channels.get(channel, {}).values()):
        listener.push([b"message", channel, message])
        receivers += 1
    for pattern, listeners in list(server.patterns.items()):
        if Pattern(pattern).matches(channel):
            for listener in list(listeners.values()):
                listener.push([b"pmessage", pattern, channel, message])
                receivers += 1
    return receivers


@command("pubsub", -2, "pubsub")
def _run_pubsub(client: Client, words: Words) -> Reply:
    return dispatch(client, words, PUBSUB)


def _channels(client: Client, words: Words) -> Reply:
    pattern = Pattern(words[2]) if len(words) == 3 else None
    return [name for name in client.server.channels if pattern is None or pattern.matches(name)]


def _listeners(client: Client, words: Words) -> Reply:
    return [part for name in words[2:] for part in (name, len(client.server.channels.get(name, ())))]


PUBSUB: Final[dict[tuple[bytes, int], Handler]] = {
    (b"channels", 2): _channels,
    (b"channels", 3): _channels,
    (b"numsub", 0): _listeners,
    (b"numpat", 2): lambda client, words: len(client.server.patterns),
}
