"""One write on its way from the request to the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from simcloud.kubernetes.api.context import AdmissionContext
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import Caller, WriteOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.store import Key


@dataclass(slots=True)
class Write:
    """What admission and the kinds' strategies see of a write. ``new`` may be changed in place."""

    api: AdmissionContext
    operation: Literal["CREATE", "UPDATE", "DELETE"]
    resource: Resource
    key: Key
    new: Object
    old: Object | None
    caller: Caller
    options: WriteOptions
    subresource: str = ""
    round: int = 0
    """1 while plugins run a second time because a webhook changed the object."""
    reinvoke: bool = False
    """Set by a plugin whose change the others must see."""
    invoked: set[tuple[str, str]] = field(default_factory=set)
    """The webhooks called so far, by configuration and name."""

    @property
    def before(self) -> Object:
        """The object that an update replaces."""
        if self.old is None:
            raise ValueError(f"a {self.operation} has nothing before it")
        return self.old
