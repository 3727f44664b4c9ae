"""Users: their passwords and their permissions.

Rules on commands keep their order, as in the genuine server; rules on single subcommands are not supported.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final

from simcloud.datastores.redis.engine.patterns import Pattern

RULES_MAX: Final = 1000
USERS_MAX: Final = 1000

PATTERN_WORDS: Final = {
    "~": ("allkeys", "resetkeys", "patterns"),
    "&": ("allchannels", "resetchannels", "channels"),
}

Belongs = Callable[[str, str], bool]
"""Whether a command is of a category."""


class BadRule(Exception):
    """An invalid rule; the text says why."""


class User:
    """A user. Initially only ``default`` exists, without a password and with all permissions."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.enabled = False
        self.nopass = False
        self.passwords: list[str] = []
        self.commands: list[str] = ["-@all"]
        self.keys: list[bytes] = []
        self.channels: list[bytes] = [b"*"]
        self.unlimited = False
        self._verdicts: dict[str, bool] = {}

    @property
    def is_open(self) -> bool:
        """Whether one need not log in as this user."""
        return self.nopass and self.enabled

    def accepts(self, password: bytes) -> bool:
        """Return whether one may log in with it."""
        return self.enabled and (self.nopass or _digest(password) in self.passwords)

    def apply(self, rule: bytes, is_known: Callable[[str], bool]) -> None:
        """Change the user by one rule. Raises ``BadRule``."""
        text = rule.decode("utf-8", "surrogateescape")
        lower = text.lower()
        simple = SIMPLE_RULES.get(lower)
        if simple is not None:
            simple(self)
        elif text[:1] in (">", "<", "#", "!"):
            self._password(text)
        elif text[:1] in ("~", "&"):
            kept = self.keys if text[0] == "~" else self.channels
            if kept == [b"*"]:
                all_of, none_of, what = PATTERN_WORDS[text[0]]
                raise BadRule(
                    f"Adding a pattern after the * pattern (or the '{all_of}' flag) is not valid and does not have any "
                    f"effect. Try '{none_of}' to start with an empty list of {what}"
                )
            if rule[1:] not in kept:
                kept.append(rule[1:])
        elif lower[:1] in ("+", "-") and len(lower) > 1:
            if not is_known(lower[1:]):
                raise BadRule("Unknown command or category name in ACL")
            self._command(lower)
        else:
            raise BadRule("Syntax error")
        if len(self.commands) + len(self.keys) + len(self.passwords) + len(self.channels) > RULES_MAX:
            raise BadRule("Syntax error")
        self._settle()

    def _command(self, rule: str) -> None:
        if rule in ("+@all", "-@all"):
            self.commands = [rule]
        else:
            self.commands = [each for each in self.commands if each[1:] != rule[1:]] + [rule]

    def _password(self, text: str) -> None:
        sign, given = text[0], text[1:]
        digest = given if sign in "#!" else _digest(given.encode("utf-8", "surrogateescape"))
        if sign in "#!" and (len(digest) != 64 or any(each not in "0123456789abcdef" for each in digest)):
            raise BadRule(
                "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
            )
        if sign in ">#":
            self.nopass = False
            if digest not in self.passwords:
                self.passwords.append(digest)
        elif digest in self.passwords:
            self.passwords.remove(digest)
        else:
            raise BadRule("The password you are trying to remove from the user does not exist")

    def _settle(self) -> None:
        self._verdicts = {}
        self.unlimited = self.commands == ["+@all"] and self.keys == [b"*"] and self.channels == [b"*"]

    def may_run(self, name: str, belongs: Belongs) -> bool:
        """Return whether it may use a command."""
        verdict = self._verdicts.get(name)
        if verdict is None:
            verdict = False
            for rule in self.commands:
                target = rule[1:]
                if target in ("@all", name) or (target[:1] == "@" and belongs(name, target[1:])):
                    verdict = rule[0] == "+"
            self._verdicts[name] = verdict
        return verdict

    def may_touch(self, keys: list[bytes]) -> bool:
        """Return whether it may use all of these keys."""
        return all(any(Pattern(pattern).matches(key) for pattern in self.keys) for key in keys)

    def may_hear(self, channel: bytes) -> bool:
        """Return whether it may use a channel."""
        return any(Pattern(pattern).matches(channel) for pattern in self.channels)

    def describe(self) -> str:
        """As ACL LIST shows it."""
        parts = ["user", self.name.decode("utf-8", "replace"), "on" if self.enabled else "off"]
        parts += ["nopass"] if self.nopass else [f"#{password}" for password in self.passwords]
        parts += [f"~{pattern.decode('utf-8', 'replace')}" for pattern in self.keys]
        parts += [f"&{pattern.decode('utf-8', 'replace')}" for pattern in self.channels] or ["resetchannels"]
        return " ".join([*parts, *self.commands])

    def flags(self) -> list[str]:
        """As ACL GETUSER shows them."""
        shown = ["on" if self.enabled else "off"]
        shown += ["allkeys"] if self.keys == [b"*"] else []
        shown += ["allchannels"] if self.channels == [b"*"] else []
        shown += ["allcommands"] if self.commands == ["+@all"] else []
        return shown + (["nopass"] if self.nopass else [])

    # -- rules of one word ---------------------------------------------------------------------

    def enable(self) -> None:
        """``on``."""
        self.enabled = True

    def disable(self) -> None:
        """``off``."""
        self.enabled = False

    def open(self) -> None:
        """``nopass``."""
        self.nopass, self.passwords = True, []

    def close(self) -> None:
        """``resetpass``."""
        self.nopass, self.passwords = False, []

    def all_keys(self) -> None:
        """``allkeys``."""
        self.keys = [b"*"]

    def no_keys(self) -> None:
        """``resetkeys``."""
        self.keys = []

    def all_channels(self) -> None:
        """``allchannels``."""
        self.channels = [b"*"]

    def no_channels(self) -> None:
        """``resetchannels``."""
        self.channels = []

    def all_commands(self) -> None:
        """``allcommands``."""
        self.commands = ["+@all"]

    def no_commands(self) -> None:
        """``nocommands``."""
        self.commands = ["-@all"]

    def reset(self) -> None:
        """``reset``."""
        self.__init__(self.name)  # type: ignore[misc]  # no class here is built otherwise


SIMPLE_RULES: Final[dict[str, Callable[[User], None]]] = {
    "on": User.enable,
    "off": User.disable,
    "nopass": User.open,
    "resetpass": User.close,
    "allkeys": User.all_keys,
    "~*": User.all_keys,
    "resetkeys": User.no_keys,
    "allchannels": User.all_channels,
    "&*": User.all_channels,
    "resetchannels": User.no_channels,
    "allcommands": User.all_commands,
    "nocommands": User.no_commands,
    "reset": User.reset,
}


class Users:
    """All users of a server."""

    def __init__(self) -> None:
        self.default = User(b"default")
        self.by_name: dict[bytes, User] = {b"default": self.default}
        for rule in (User.enable, User.open, User.all_keys, User.all_commands):
            rule(self.default)
        self.default._settle()

    def describe_all(self) -> dict[str, str]:
        """Return all users, each with its rules as ACL LIST shows them."""
        return {
            f"the user {name.decode('utf-8', 'replace')}": user.describe()
            for name, user in self.by_name.items()
        }

    def require(self, password: str) -> None:
        """``requirepass``: the one password of the default user; an empty one is none."""
        if password:
            self.default.close()
            self.default.passwords.append(_digest(password.encode("utf-8", "surrogateescape")))
        else:
            self.default.open()


def _digest(password: bytes) -> str:
    return sha256(password).hexdigest()
