"""The faults there are, by name: every module of this folder is looked at, and ``@fault`` brings its class in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from aiopslab.generators import fault as folder
from aiopslab.generators.fault.base import REGISTERED, Fault


def faults() -> Mapping[str, type[Fault]]:
    """Every registered fault, those of users' own files included, by name."""
    _import_all()
    return dict(sorted(REGISTERED.items()))


@cache
def _import_all() -> None:
    for module in iter_modules(folder.__path__, folder.__name__ + "."):
        import_module(module.name)
