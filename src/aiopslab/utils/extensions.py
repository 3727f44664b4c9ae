"""How rooms find what can be added to them: modules of their own folder, and entry points of installed packages.

An installed package contributes with an entry point in one of the groups ``aiopslab.agents``, ``aiopslab.problems``,
``aiopslab.faults``, ``aiopslab.apps``, ``aiopslab.actions``, ``aiopslab.oracles`` and ``aiopslab.metrics``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from aiopslab.utils.status import AIOpsLabError


@cache
def import_folder(package: str) -> list[ModuleType]:
    """Import and return every module of a package, in the order of their names, so that their decorators register them."""
    names = sorted(module.name for module in iter_modules(import_module(package).__path__))
    return [import_module(f"{package}.{name}") for name in names]


def get_summary(extension: object) -> str:
    """Return the first line of an extension's docstring."""
    return (extension.__doc__ or "").strip().partition("\n")[0]


def list_extensions(group: str) -> list[str]:
    """Return the names of the entry points of a group, sorted, without loading any."""
    return [entry.name for entry in _find_entry_points(tuple(sys.path)).get(group, ())]


def load_extensions(group: str) -> Iterator[tuple[str, Any]]:
    """Yield name and object of each entry point of a group, sorted by name.

    One that cannot be loaded is reported by a warning and left out: a broken package must not disable the others.
    """
    for entry in _find_entry_points(tuple(sys.path)).get(group, ()):
        try:
            loaded = entry.load()
        except Exception as error:
            message = (
                f"'{entry.name}' of {entry.value} cannot be used in {group}: {type(error).__name__}: {error}"
            )
            warnings.warn(message, stacklevel=2)
        else:
            yield entry.name, loaded


@cache
def _find_entry_points(_path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    """Return our groups' entry points, sorted by name. Reading the files of all installed packages takes long."""
    found = entry_points()
    return {
        group: sorted(found.select(group=group), key=lambda entry: entry.name)
        for group in sorted(found.groups)
        if group.startswith("aiopslab.")
    }


class NoSuchExtension(AIOpsLabError):
    """No installed package contributes the name; the message lists the names of the group."""


def find_extension(group: str, name: str) -> Any:
    """Return what an installed package contributes to a group under a name; raises ``NoSuchExtension``."""
    found = dict(load_extensions(group))
    if name not in found:
        names = ", ".join(found) or "none"
        raise NoSuchExtension(f"No installed package has '{name}' in {group}. Installed: {names}.")
    return found[name]
