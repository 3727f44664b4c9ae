"""A store of keys has less memory than it needs, and refuses writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import WrongArguments
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class NoMemoryLeft(WrongArguments):
    """A team limits the memory of Redis below what it uses, without letting it evict keys."""

    limit: str = draw_from("512kb", "640kb", "700kb", "800kb")
    name: ClassVar[str] = "no_memory_left"
    roles: ClassVar[tuple[Role, ...]] = ("redis",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users write to it."""
        return component.written and super().suits(app, component)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Limit the memory."""
        return ("--maxmemory", self.limit, "--maxmemory-policy", "noeviction")
