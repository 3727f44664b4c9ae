"""Packages that export names of their modules, and import a module only when one of its names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def export_lazily(package: str, exports: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package; ``exports`` maps full module names to the names to export."""
    module_by_name = {name: module for module, names in exports.items() for name in names}

    def get_export(name: str) -> Any:
        module = module_by_name.get(name)
        if module is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(module), name)

    return get_export
