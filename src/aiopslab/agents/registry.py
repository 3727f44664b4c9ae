"""The registry of agents: ours, and those that installed packages add.

An agent is a class with ``get_action(state) -> str`` and the decorator ``agent``; ``aiopslab list --agents`` prints the first
line of its docstring. Another package adds an agent by an entry point in the group ``aiopslab.agents``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final, TypeVar

GROUP: Final = "aiopslab.agents"
C = TypeVar("C", bound=type)

_REGISTERED: Final[dict[str, type[Any]]] = {}


def agent(name: str) -> Callable[[C], C]:
    """Register a class as the agent of that name; raises ``ValueError`` if another class has the name."""

    def register(cls: C) -> C:
        other = _REGISTERED.get(name)
        if other is not None and (other.__module__, other.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise ValueError(f"There are two agents named '{name}': {other.__module__} and {cls.__module__}.")
        _REGISTERED[name] = cls
        return cls

    return register


def load_agents() -> Mapping[str, Any]:
    """Import all agents; return their factories by name, ours first."""
    _import_own_agents()
    factories: dict[str, Any] = dict(sorted(_REGISTERED.items()))
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in factories:
            continue
        try:
            factories[entry.name] = entry.load()
        except Exception as error:  # one broken package must not disable all other agents
            warnings.warn(f"The agent '{entry.name}' of {entry.value} cannot be used: {error}", stacklevel=2)
    return factories


def describe_agent(factory: Any) -> str:
    """Return the first line of an agent's docstring."""
    return str(factory.__doc__ or "").strip().partition("\n")[0]


@cache
def _import_own_agents() -> None:
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
