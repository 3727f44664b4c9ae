"""What verbs need to read of the cluster: objects as the person at the terminal may see them."""

from __future__ import annotations

from typing import Protocol

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource


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
