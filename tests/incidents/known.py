"""What the catalogue knows of an application: its words, who of its users needs what, and how its stores are set right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiopslab.apps.base import Application


@dataclass(frozen=True)
class Known:
    """One application. Whatever is typed or looked for may hold these words in braces: see ``fill``."""

    app: Application
    label: str
    """By which pods are selected."""
    container: str
    """How the container of a service is called."""
    image: str
    """What services run, without its tag."""
    traced: str
    """The front door's name in traces."""
    process: Callable[[str], str]
    """How a service's process is called."""
    services: tuple[str, ...]
    """Those behind the front door."""
    needed_by: Mapping[str, tuple[str, ...]]
    """For each target, the journeys that go through it."""
    widest: str
    """A journey that meets something on every node,"""
    widest_span: str
    """and what the front door calls it in traces."""
    by_service: bool
    """Back ends find each other by Services of Kubernetes, and not in a registry of their own."""
    afterwards: tuple[str, ...]
    """What is typed when pods have come back in any order, perhaps without their data."""
    reboot_s: float
    """So long a node takes from the command until its pods are back: it waits for those who do not heed its signal."""
    soak_s: float = 60.0
    heal_s: float = 90.0

    @property
    def everyone(self) -> tuple[str, ...]:
        """All journeys."""
        return tuple(journey.name for journey in self.app.journeys)

    @property
    def front(self) -> str:
        """The front door."""
        return self.app.front_door.service

    def fill(self, text: str, target: str) -> str:
        """A text with the application's words in place of those in braces.

        ``{t}`` is the target, ``{c}`` its container, ``{process}`` its process; ``{ns}`` the namespace, ``{label}`` what
        selects pods, ``{image}`` what services run; ``{front}``, ``{port}`` and ``{door}`` the front door with its own
        port and that of nodes, ``{web}`` its name in traces.
        """
        door = self.app.front_door
        words = {
            "{label}": self.label,
            "{c}": self.container,
            "{process}": self.process(target),
            "{image}": self.image,
            "{web}": self.traced,
            "{front}": door.service,
            "{port}": str(door.port),
            "{door}": str(door.node_port),
            "{ns}": self.app.namespace,
            "{t}": target,
        }
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        return text
