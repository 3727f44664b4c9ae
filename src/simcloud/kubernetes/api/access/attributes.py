"""The attributes of a request that authorization uses."""

from __future__ import annotations

from msgspec import Struct

from simcloud.golang import quote
from simcloud.kubernetes.api.access.users import User


class GroupResource(Struct, frozen=True):
    """A resource as far as errors speak of it."""

    plural: str
    group: str = ""
    kind: str = ""


class Attributes(Struct, frozen=True):
    """One wish of one user: a verb on a resource, or on a ``path`` that is no resource.

    ``path`` is None for a resource request, whatever its URL.
    """

    user: User
    verb: str
    group: str = ""
    version: str = ""
    plural: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str | None = None

    @property
    def resource(self) -> str:
        """``pods``, or ``pods/log`` for a subresource: what a rule names."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural

    def wish(self) -> str:
        """The wish as the sentence of a refusal tells it."""
        who = f"User {quote(self.user.name)} cannot {self.verb}"
        if self.path is not None:
            return f"{who} path {quote(self.path)}"
        where = f"in the namespace {quote(self.namespace)}" if self.namespace else "at the cluster scope"
        return f"{who} resource {quote(self.resource)} in API group {quote(self.group)} {where}"
