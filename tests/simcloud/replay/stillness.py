"""Whether a client and the server it talks to both wait, so that only the passing of time can bring news.

A replay lets virtual time pass at such moments only, and so does not depend on how fast, or how loaded, the
machine is that it runs on. A client waits when every thread of it sleeps in the kernel; a thread that wants a
processor and has not got one does not sleep.
"""

from __future__ import annotations

import asyncio
import selectors
from pathlib import Path
from typing import Any

LOOK_S = 0.0004
"""Between two looks. What one end sends over the loopback reaches the other in far less."""

Threads = list[tuple[str, str]]


class Listening(selectors.DefaultSelector):
    """A selector that counts what an event loop hears from its sockets."""

    heard = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, Any]]:
        """As the selector does it."""
        events = super().select(timeout)
        self.heard += len(events)
        return events


async def still(pid: int, listening: Listening) -> bool:
    """Whether a process with its children, and the event loop that this runs in, have nothing to do."""
    heard, before = listening.heard, sleeping(pid)
    await asyncio.sleep(LOOK_S)
    if before is None:
        return False
    await asyncio.sleep(LOOK_S)
    return listening.heard == heard and sleeping(pid) == before


def sleeping(pid: int) -> Threads | None:
    """How often each thread of a process and its children went to sleep; None if one is awake."""
    found: Threads = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            status = (thread / "status").read_text()
            state = status.partition("State:\t")[2][:1]
            if state in "RD":
                return None
            found.append((thread.name, status.partition("\nvoluntary_ctxt_switches:")[2]))
            for child in (thread / "children").read_text().split():
                below = sleeping(int(child))
                if below is None:
                    return None
                found.extend(below)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return found
