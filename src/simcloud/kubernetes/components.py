"""Which components of the control plane work: one whose program was started works while its process runs."""

from __future__ import annotations

from typing import Protocol

from simcloud.sim import Event, Kernel


class ComponentProcess(Protocol):
    """The process of a component."""

    stopped: bool

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""


class Components:
    """The components that are halted, and the processes of all that run as pods."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._processes: dict[str, ComponentProcess] = {}
        self._halted: dict[str, Event[None]] = {}

    def run_in(self, component: str, process: ComponentProcess) -> None:
        """Let a component work only while this process runs."""
        self._processes[component] = process

    def has_process(self, component: str) -> bool:
        """Return whether the process of a component runs; True for one that never had any."""
        process = self._processes.get(component)
        return process is None or (process.alive and not process.stopped)

    def is_halted(self, component: str) -> bool:
        """Return whether a component does not work."""
        return component in self._halted

    def halt(self, component: str) -> None:
        """Make a component wait."""
        self._halted.setdefault(component, Event(self._kernel))

    def resume(self, component: str) -> None:
        """Let a component go on."""
        if event := self._halted.pop(component, None):
            event.set(None)

    async def wait_for(self, component: str) -> None:
        """Wait while a component is halted; it halts when its process has ended."""
        if not self.has_process(component):
            self.halt(component)
        while event := self._halted.get(component):
            await event.wait()
