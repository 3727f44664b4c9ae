"""Events of a session: numbered, kept for those who come later, bounded, and ended."""

from __future__ import annotations

import asyncio

import pytest

from aiopslab.servers.http_api import events
from aiopslab.servers.http_api.events import EventLog


def test_readers_get_all_events_whenever_they_come() -> None:
    async def work() -> list[list[bytes]]:
        log = EventLog()
        log.add("step", {"number": 1})

        async def read(after: int) -> list[bytes]:
            return [event async for event in log.follow(after)]

        readers = [asyncio.create_task(read(after)) for after in (0, 1, 9)]
        await asyncio.sleep(0)
        log.add("step", {"number": 2})
        await asyncio.sleep(0)
        log.add("ended", {}, is_last=True)
        return [await reader for reader in (*readers, asyncio.create_task(read(0)))]

    early, second, ahead, late = asyncio.run(work())
    assert (
        early
        == late
        == [
            b'id: 1\nevent: step\ndata: {"number": 1}\n\n',
            b'id: 2\nevent: step\ndata: {"number": 2}\n\n',
            b"id: 3\nevent: ended\ndata: {}\n\n",
        ]
    )
    assert second == early[1:]
    assert ahead == []


def test_old_events_are_dropped_when_there_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT_BYTES", 200)

    async def work() -> list[bytes]:
        log = EventLog()
        for number in range(50):
            log.add("step", {"number": number})
        log.add("ended", {}, is_last=True)
        return [event async for event in log.follow(0)]

    kept = asyncio.run(work())
    assert sum(map(len, kept)) <= 200
    assert kept[-1].startswith(b"id: 51\nevent: ended")


def test_a_quiet_stream_shows_that_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PAUSE_S", 0.01)

    async def work() -> bytes:
        async for event in EventLog().follow(0):
            return event
        return b""

    assert asyncio.run(work()).startswith(b":")
