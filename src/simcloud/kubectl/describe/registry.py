"""The registry of describers, and what they read. A describer is one decorated function in the module of its group."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from simcloud.kubernetes.api import Object, Resource


class Reader(Protocol):
    """The API for reading, under one user's rights. Everything raises ``ApiError``, as the server words it."""

    @property
    def now_s(self) -> float:
        """The time of day, in seconds since 1970: what ages are reckoned by."""

    def resource(self, name: str) -> Resource:
        """A resource by its full name: ``pods``, ``deployments.apps``."""

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        """One object; shared, so not to be changed."""

    async def list(
        self, resource: Resource, namespace: str | None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """The objects of a namespace, or of all of them, that the selectors choose."""


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
