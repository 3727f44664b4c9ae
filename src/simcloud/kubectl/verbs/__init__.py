"""The verbs, one file each."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """Bring in every verb; each registers its commands."""
    for found in iter_modules(__path__):
        import_module(f"{__name__}.{found.name}")
