"""The commands of helm, a file for each family."""

from __future__ import annotations


def load() -> None:
    """Make the commands known."""
    from aiopslab.kubectl.helm.verbs import (  # noqa: F401  (they register their commands)
        installing,
        offline,
        reading,
        removing,
        rendering,
    )
