"""Which kind is described by what. A describer is one decorated function in a file of its family."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from simcloud.kubectl.reader import Reader
from simcloud.kubernetes.api.objects import Object

Describer: TypeAlias = Callable[[Reader, Object, bool], Awaitable[str]]
"""From a reader, an object and whether to show its events, the text. Raises ``ApiError``."""

DESCRIBERS: dict[tuple[str, str], Describer] = {}


def describes(group: str, kind: str) -> Callable[[Describer], Describer]:
    """Register a function as the describer of a kind."""

    def register(describer: Describer) -> Describer:
        DESCRIBERS[group, kind] = describer
        return describer

    return register


def find_describer(group: str, kind: str) -> Describer | None:
    """Return the describer of a kind, if it has one of its own."""
    return DESCRIBERS.get((group, kind))
