"""Back-off between attempts: 10 s, 20 s, 40 s … up to 5 minutes, reset after twice that time without failure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

FIRST_S: Final = 10.0
LONGEST_S: Final = 300.0


class _Entry(Struct):
    pause_s: float
    updated_s: float


class Backoff:
    """Pauses by key."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._entries: dict[str, _Entry] = {}

    def pause_s(self, key: str) -> float:
        """The present pause of a key."""
        entry = self._entries.get(key)
        return entry.pause_s if entry else 0.0

    def holds_since(self, key: str, since_s: float, now_s: float) -> bool:
        """Whether a pause that began then still holds."""
        entry = self._entries.get(key)
        if entry is None or since_s - entry.updated_s > 2 * self._longest_s:
            return False
        return now_s - since_s < entry.pause_s

    def holds(self, key: str, now_s: float) -> bool:
        """Whether a pause that began with the last failure still holds."""
        entry = self._entries.get(key)
        return entry is not None and now_s - entry.updated_s < entry.pause_s

    def lengthen(self, key: str, since_s: float, now_s: float) -> None:
        """One attempt more: the next pause is twice as long, or the first again after a long peace."""
        entry = self._entries.get(key)
        if entry is None or since_s - entry.updated_s > 2 * self._longest_s:
            self._entries[key] = _Entry(self._first_s, now_s)
            return
        entry.pause_s = min(self._longest_s, entry.pause_s * 2)
        entry.updated_s = now_s

    def forget(self, prefix: str) -> None:
        """A pod is gone: forget the keys that begin with its uid."""
        for key in [each for each in self._entries if each.startswith(prefix)]:
            del self._entries[key]
