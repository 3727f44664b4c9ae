"""The agents that are known by name: ours, and those that installed packages bring.

An agent is a class with ``get_action(state) -> str`` and a decorator; its docstring is what ``aiopslab list --agents`` says
of it. A package adds its own by an entry point in the group ``aiopslab.agents``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any, Final, TypeVar

GROUP: Final = "aiopslab.agents"
C = TypeVar("C", bound=type)

_KNOWN: Final[dict[str, type[Any]]] = {}


def agent(name: str) -> Callable[[C], C]:
    """Make a class known by a name."""

    def register(cls: C) -> C:
        before = _KNOWN.get(name)
        if before is not None and (before.__module__, before.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise ValueError(
                f"There are two agents named '{name}': {before.__module__} and {cls.__module__}."
            )
        _KNOWN[name] = cls
        return cls

    return register


def agents() -> Mapping[str, Any]:
    """All agents by name: ours first, then others'; what they are named with makes one when it is called."""
    _load_ours()
    found: dict[str, Any] = dict(sorted(_KNOWN.items()))
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in found:
            continue
        try:
            found[entry.name] = entry.load()
        except Exception as error:  # a stranger's package must not keep the others' agents from working
            warnings.warn(f"The agent '{entry.name}' of {entry.value} cannot be used: {error}", stacklevel=2)
    return found


def about(made_by: Any) -> str:
    """The first sentence of what an agent says of itself."""
    return str(made_by.__doc__ or "").strip().partition("\n")[0]


@cache
def _load_ours() -> None:
    import aiopslab.agents as room

    for module in iter_modules(room.__path__):
        import_module(f"{room.__name__}.{module.name}")
