"""The registry of agents: ours, and those that installed packages add.

An agent is a class with ``get_action(state) -> str`` and the decorator ``agent``; ``aiopslab list --agents`` prints the first
line of its docstring. Another package adds an agent by an entry point in the group ``aiopslab.agents``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from aiopslab.utils import import_folder, load_extensions

GROUP: Final = "aiopslab.agents"
C = TypeVar("C", bound=type)

_REGISTERED: Final[dict[str, type[Any]]] = {}
_ALIASES: Final[dict[str, str]] = {}


def agent(name: str, *aliases: str) -> Callable[[C], C]:
    """Register a class as the agent of that name; raises ``ValueError`` if another class has the name.

    ``aliases`` are names that it had in earlier versions; they still work, and are listed beside the present name.
    """

    def register(cls: C) -> C:
        other = _REGISTERED.get(name)
        if other is not None and (other.__module__, other.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise ValueError(f"There are two agents named '{name}': {other.__module__} and {cls.__module__}.")
        _REGISTERED[name] = cls
        _ALIASES.update(dict.fromkeys(aliases, name))
        return cls

    return register


def load_agents() -> Mapping[str, Any]:
    """Import all agents; return their factories by name, ours first."""
    import_folder("aiopslab.agents")
    factories: dict[str, Any] = dict(sorted(_REGISTERED.items()))
    for name, factory in load_extensions(GROUP):
        factories.setdefault(name, factory)
    return factories


def resolve_alias(name: str) -> str:
    """Return the present name of an agent, after ``load_agents``."""
    return _ALIASES.get(name, name)


def list_aliases(name: str) -> list[str]:
    """Return the former names of an agent, after ``load_agents``."""
    return sorted(alias for alias, present in _ALIASES.items() if present == name)
