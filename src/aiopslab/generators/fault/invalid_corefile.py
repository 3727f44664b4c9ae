"""The DNS server does not start, because its configuration cannot be parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.cluster_dns import CorefileFault
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class InvalidCorefile(CorefileFault):
    """An operator mistypes a word of the Corefile."""

    typo: tuple[str, str] = draw_from(
        ("kubernetes", "kuberntes"),
        ("forward", "foward"),
        ("loadbalance", "load_balance"),
        ("pods insecure", "pods unverified"),
    )
    name: ClassVar[str] = "invalid_corefile"
    course: ClassVar[Course] = "correlated"

    def edit(self, text: str, name: str) -> str:
        """Mistype the word."""
        return text.replace(*self.typo)
