"""The registry of applications: ours, and those that installed packages add.

An application is a class with the decorator ``application``, in a module or folder beside this one or behind an entry point in
the group ``aiopslab.apps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from aiopslab.apps.base import Application
from aiopslab.utils import import_folder, load_extensions

GROUP: Final = "aiopslab.apps"
A = TypeVar("A", bound=type[Application])

_REGISTERED: Final[dict[str, type[Application]]] = {}


class NoSuchApplication(Exception):
    """There is no application of that name; the message lists all applications."""

    def __init__(self, name: str) -> None:
        names = ", ".join(load_applications())
        super().__init__(f"There is no application '{name}'. Choose one of: {names}.")


def application(cls: A) -> A:
    """Register a class as the application of its name; raises ``ValueError`` if another class has the name."""
    other = _REGISTERED.setdefault(cls.name, cls)
    if other is not cls:
        raise ValueError(
            f"There are two applications named '{cls.name}': {other.__module__} and {cls.__module__}."
        )
    return cls


def load_applications() -> Mapping[str, type[Application]]:
    """Import all applications; return their classes by name."""
    import_folder("aiopslab.apps")
    added = {name: loaded for name, loaded in load_extensions(GROUP) if name not in _REGISTERED}
    return dict(sorted((_REGISTERED | added).items()))


def find_application(name: str) -> Application:
    """Return a new application of that name; raises ``NoSuchApplication``."""
    found = load_applications().get(name)
    if found is None:
        raise NoSuchApplication(name)
    return found()
