"""The ACL command and its subcommands."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from simcloud.datastores.redis.acl import USERS_MAX, BadRule, User
from simcloud.datastores.redis.commands.administration import dispatch
from simcloud.datastores.redis.commands.table import COMMANDS, Handler, command
from simcloud.datastores.redis.resp import OK, RedisError, Reply, Words
from simcloud.datastores.redis.state import Client

CATEGORIES: Final = (
    "keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
    "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
)  # fmt: skip


@command("acl", -2, "admin")
def _run_acl(client: Client, words: Words) -> Reply:
    return dispatch(client, words, ACL)


def is_known(name: str) -> bool:
    """Return whether a rule may name this command or category."""
    if name.startswith("@"):
        return name == "@all" or name[1:] in CATEGORIES
    return name.encode() in COMMANDS


def _set_user(client: Client, words: Words) -> Reply:
    users = client.server.users
    name = words[2]
    if any(byte in b" \0" for byte in name):
        raise RedisError("ERR Usernames can't contain spaces or null characters")
    found = users.by_name.get(name)
    if found is None and len(users.by_name) >= USERS_MAX:
        raise RedisError("ERR too many users")
    # All rules or none: the user is changed only when each of them makes sense.
    changed = User(name) if found is None else deepcopy(found)
    for rule in words[3:]:
        try:
            changed.apply(rule, is_known)
        except BadRule as bad:
            shown = rule.decode("utf-8", "replace")
            raise RedisError(f"ERR Error in ACL SETUSER modifier '{shown}': {bad}") from None
    if found is None:
        users.by_name[name] = changed
    else:
        found.__dict__.update(changed.__dict__)
    return OK


def _delete_users(client: Client, words: Words) -> Reply:
    users = client.server.users
    if b"default" in words[2:]:
        raise RedisError("ERR The 'default' user cannot be removed")
    gone = [user for user in (users.by_name.pop(name, None) for name in words[2:]) if user is not None]
    for other in list(client.server.clients.values()):
        if other.user in gone:
            client.server.kill(other)
    return len(gone)


def _get_user(client: Client, words: Words) -> Reply:
    user = client.server.users.by_name.get(words[2])
    if user is None:
        return None
    return [
        b"flags",
        [flag.encode() for flag in user.flags()],
        b"passwords",
        [password.encode() for password in user.passwords],
        b"commands",
        " ".join(user.commands).encode(),
        b"keys",
        list(user.keys),
        b"channels",
        list(user.channels),
    ]


ACL: Final[dict[tuple[bytes, int], Handler]] = {
    (b"whoami", 2): lambda client, words: client.user.name,
    (b"list", 2): lambda client, words: [
        each.describe().encode() for each in client.server.users.by_name.values()
    ],
    (b"users", 2): lambda client, words: list(client.server.users.by_name),
    (b"setuser", 0): _set_user,
    (b"deluser", 0): _delete_users,
    (b"getuser", 3): _get_user,
}
