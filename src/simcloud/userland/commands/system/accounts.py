"""Users and groups by name and number, from the machine's own tables."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.files import FileError, Files


class User(NamedTuple):
    """One line of the user table."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str


class Accounts:
    """The current content of /etc/passwd and /etc/group. Unreadable tables are empty."""

    def __init__(self, files: Files) -> None:
        self.users = [
            User(row[0], int(row[2]), int(row[3]), row[5], row[6])
            for row in _rows(files, "/etc/passwd", 7)
            if row[2].isdecimal() and row[3].isdecimal()
        ]
        self._groups = [(row[0], int(row[2]), row[3].split(",")) for row in _rows(files, "/etc/group", 4)
                        if row[2].isdecimal()]  # fmt: skip
        self._user_names = {user.uid: user.name for user in reversed(self.users)}
        self._group_names = {gid: name for name, gid, _ in reversed(self._groups)}

    def user_name(self, uid: int) -> str | None:
        """The name of a user, None if the number has none."""
        return self._user_names.get(uid)

    def group_name(self, gid: int) -> str | None:
        """The name of a group, None if the number has none."""
        return self._group_names.get(gid)

    def user(self, uid: int) -> str:
        """The name of a user, or the number where there is no name."""
        return self._user_names.get(uid, str(uid))

    def group(self, gid: int) -> str:
        """The name of a group, or the number where there is no name."""
        return self._group_names.get(gid, str(gid))

    def find_user(self, name: str) -> User | None:
        """A user by name."""
        return next((user for user in self.users if user.name == name), None)

    def uid(self, name: str) -> int | None:
        """The number of a user, by name."""
        user = self.find_user(name)
        return None if user is None else user.uid

    def gid(self, name: str) -> int | None:
        """The number of a group, by name."""
        return next((gid for known, gid, _ in self._groups if known == name), None)

    def groups_of(self, user: str, gid: int) -> list[int]:
        """The groups a user is in: the first one, then those that list the user as a member."""
        return [gid, *(number for _, number, members in self._groups if user in members and number != gid)]


def _rows(files: Files, path: str, columns: int) -> list[list[str]]:
    try:
        text = files.read(path).decode("utf-8", "surrogateescape")
    except FileError:
        return []
    rows = [line.split(":") for line in text.splitlines()]
    return [row for row in rows if len(row) == columns]
