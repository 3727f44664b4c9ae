"""Commands about connections: HELLO, AUTH, SELECT, CLIENT and others."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.commands.administration import dispatch
from simcloud.datastores.redis.commands.table import Handler, command
from simcloud.datastores.redis.engine.numbers import integer, whole
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Simple, SyntaxMistake, Words
from simcloud.datastores.redis.state import Client
from simcloud.datastores.redis.version import VERSION

WRONG_PASSWORD: Final = "WRONGPASS invalid username-password pair or user is disabled."
KINDS: Final = (b"normal", b"master", b"replica", b"slave", b"pubsub")
BAD_NAME: Final = "ERR Client names cannot contain spaces, newlines or special characters."


@command("ping", -1, "fast")
def _run_ping(client: Client, words: Words) -> Reply:
    if len(words) > 2:
        raise RedisError("ERR wrong number of arguments for 'ping' command")
    if client.subscriptions:
        return [b"pong", words[1] if len(words) == 2 else b""]
    return words[1] if len(words) == 2 else Simple("PONG")


@command("echo", 2, "fast")
def _run_echo(client: Client, words: Words) -> Reply:
    return words[1]


@command("quit", -1, "fast")
def _run_quit(client: Client, words: Words) -> Reply:
    client.closing = True
    return OK


@command("auth", -2, "fast")
def _run_auth(client: Client, words: Words) -> Reply:
    if len(words) > 3:
        raise SyntaxMistake
    default = client.server.users.default
    if len(words) == 2 and default.nopass:
        raise RedisError(
            "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
            "configuration is correct?"
        )
    log_in(client, words[1] if len(words) == 3 else b"default", words[-1])
    return OK


def log_in(client: Client, name: bytes, password: bytes) -> None:
    """Log a client in. Raise ``RedisError``."""
    user = client.server.users.by_name.get(name)
    if user is None or not user.accepts(password):
        raise RedisError(WRONG_PASSWORD)
    client.user, client.authenticated = user, True


@command("hello", -1, "fast")
def _run_hello(client: Client, words: Words) -> Reply:
    at = 1
    if len(words) > 1:
        version = whole(words[1])
        if version is None:
            raise RedisError("ERR Protocol version is not an integer or out of range")
        if version != 2:
            raise RedisError("NOPROTO unsupported protocol version")
        at = 2
    name: bytes | None = None
    while at < len(words):
        option = words[at].lower()
        if option == b"auth" and at + 2 < len(words):
            log_in(client, words[at + 1], words[at + 2])
            at += 3
        elif option == b"setname" and at + 1 < len(words):
            name = _check_name(words[at + 1])
            at += 2
        else:
            raise RedisError(f"ERR Syntax error in HELLO option '{words[at].decode('utf-8', 'replace')}'")
    if not client.authenticated:
        raise RedisError(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> "
            "option can be used to authenticate the client and select the RESP protocol version at the same time"
        )
    if name is not None:
        client.name = name
    identity: list[Reply] = [
        b"server",
        b"redis",
        b"version",
        VERSION.encode(),
        b"proto",
        2,
        b"id",
        client.number,
    ]
    return [*identity, b"mode", b"standalone", b"role", b"master", b"modules", []]


@command("client", -2, "slow")
def _run_client(client: Client, words: Words) -> Reply:
    return dispatch(client, words, SUBCOMMANDS)


def _set_name(client: Client, words: Words) -> Reply:
    client.name = _check_name(words[2])
    return OK


def _check_name(name: bytes) -> bytes:
    if any(byte < 33 or byte > 126 for byte in name):
        raise RedisError(BAD_NAME)
    return name


def _list(client: Client, words: Words) -> Reply:
    chosen = list(client.server.clients.values())
    if len(words) > 2:
        option = words[2].lower()
        if option == b"type" and len(words) == 4:
            kind = _check_kind(words[3])
            chosen = [each for each in chosen if _kind(each) == kind]
        elif option == b"id" and len(words) > 3:
            wanted = [integer(word, "ERR Invalid client ID") for word in words[3:]]
            chosen = [each for each in chosen if each.number in wanted]
        else:
            raise SyntaxMistake
    return "".join([f"{describe(each)}\n" for each in chosen]).encode()


def _check_kind(word: bytes) -> bytes:
    kind = word.lower()
    if kind not in KINDS:
        raise RedisError(f"ERR Unknown client type '{word.decode('utf-8', 'replace')}'")
    return kind


def _kind(client: Client) -> bytes:
    return b"pubsub" if client.subscriptions else b"normal"


def describe(client: Client) -> str:
    """Format a client as in CLIENT LIST."""
    now = client.server.clock()
    flags = (
        "O"
        if client.monitoring
        else "P"
        if client.subscriptions
        else "x"
        if client.queue is not None
        else "N"
    )
    queued = -1 if client.queue is None else len(client.queue)
    facts: dict[str, object] = {
        "id": client.number,
        "addr": client.address,
        "laddr": client.local_address,
        "fd": client.descriptor,
        "name": client.name.decode("ascii", "replace"),
        "age": int(now - client.created),
        "idle": int(now - client.last_active),
        "flags": flags,
        "db": client.db.number,
        "sub": len(client.channels),
        "psub": len(client.patterns),
        "multi": queued,
        "qbuf": 26 if client.last_command == "client" else 0,
        "qbuf-free": 40928 if client.last_command == "client" else 0,
        "argv-mem": 10 if client.last_command == "client" else 0,
        "obl": 0,
        "oll": 0,
        "omem": 0,
        "tot-mem": 61466 if client.last_command == "client" else 20512,
        "events": "r",
        "cmd": client.last_command,
        "user": client.user.name.decode("utf-8", "replace"),
        "redir": -1,
    }
    return " ".join([f"{name}={fact}" for name, fact in facts.items()])


def _info(client: Client, words: Words) -> Reply:
    return f"{describe(client)}\n".encode()


def _kill(client: Client, words: Words) -> Reply:
    server = client.server
    if len(words) == 3:
        address = words[2].decode("utf-8", "replace")
        for each in server.clients.values():
            if each.address == address:
                server.kill(each)
                return OK
        raise RedisError("ERR No such client")
    if len(words) % 2:
        raise SyntaxMistake
    victims = _victims(client, words[2:])
    for victim in victims:
        server.kill(victim)
    return len(victims)


def _victims(client: Client, options: Words) -> list[Client]:
    chosen = list(client.server.clients.values())
    skip_me = True
    for name, value in zip(options[::2], options[1::2], strict=True):
        option, text = name.lower(), value.decode("utf-8", "replace")
        if option == b"id":
            number = integer(value, "ERR client-id should be greater than 0")
            chosen = [each for each in chosen if each.number == number]
        elif option == b"addr":
            chosen = [each for each in chosen if each.address == text]
        elif option == b"laddr":
            chosen = [each for each in chosen if each.local_address == text]
        elif option == b"user":
            if value not in client.server.users.by_name:
                raise RedisError(f"ERR No such user '{text}'")
            chosen = [each for each in chosen if each.user.name == value]
        elif option == b"type":
            kind = _check_kind(value)
            chosen = [each for each in chosen if _kind(each) == kind]
        elif option == b"skipme" and value.lower() in (b"yes", b"no"):
            skip_me = value.lower() == b"yes"
        else:
            raise SyntaxMistake
    return [each for each in chosen if not (skip_me and each is client)]


SUBCOMMANDS: Final[dict[tuple[bytes, int], Handler]] = {
    (b"setname", 3): _set_name,
    (b"getname", 2): lambda client, words: client.name or None,
    (b"id", 2): lambda client, words: client.number,
    (b"list", 0): _list,
    (b"info", 2): _info,
    (b"kill", 0): _kill,
}
