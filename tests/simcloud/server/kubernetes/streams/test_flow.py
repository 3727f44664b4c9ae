from __future__ import annotations

import asyncio

import pytest

from simcloud.server.kubernetes.streams.flow import HIGH_BYTES, LIMIT_BYTES, Message, Outbox, SlowClient, room


class Holdable:
    """Something in the world that reads so much each time it is poked."""

    def __init__(self, pending_bytes: int) -> None:
        self.pending_bytes = pending_bytes
        self.pokes = 0

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def poke(self) -> None:
        self.pokes += 1
        self.pending_bytes -= HIGH_BYTES


def test_messages_arrive_in_order_and_the_last_one_ends_it() -> None:
    sent: list[Message] = []

    async def scenario() -> None:
        outbox = Outbox(lambda held: None)
        outbox.put(b"a")
        delivering = asyncio.create_task(outbox.deliver(keep))
        await asyncio.sleep(0)
        outbox.put("b")
        outbox.put(b"c")
        outbox.finish()
        await delivering

    async def keep(message: Message) -> None:
        sent.append(message)

    asyncio.run(scenario())
    assert sent == [b"a", "b", b"c"]


def test_the_source_is_held_while_too_much_waits_and_let_go_once_there_is_room() -> None:
    held: list[bool] = []
    kept_bytes = 0

    async def keep(message: Message) -> None:
        nonlocal kept_bytes
        kept_bytes += len(message)

    async def scenario() -> None:
        outbox = Outbox(held.append)
        for _ in range(20):
            outbox.put(bytes(HIGH_BYTES // 10))
        assert held == [True]
        outbox.finish()
        await outbox.deliver(keep)

    asyncio.run(scenario())
    assert held == [True, False]
    assert kept_bytes == 20 * (HIGH_BYTES // 10)


def test_a_client_that_never_reads_what_cannot_be_held_is_let_go_and_memory_is_bounded() -> None:
    async def scenario() -> None:
        outbox = Outbox(lambda held: None)
        for _ in range(3 * LIMIT_BYTES // (1 << 20)):
            outbox.put(bytes(1 << 20))
        assert outbox._waiting_bytes <= LIMIT_BYTES + (1 << 20)
        await outbox.deliver(never)

    async def never(message: Message) -> None:
        raise AssertionError("nothing is sent")

    with pytest.raises(SlowClient):
        asyncio.run(scenario())


def test_whoever_writes_waits_until_enough_is_read() -> None:
    far = Holdable(4 * HIGH_BYTES)
    asyncio.run(room(far, far.poke, lambda: None))
    assert far.pokes == 3


def test_what_cannot_be_measured_is_not_waited_for() -> None:
    asyncio.run(room(object(), lambda: pytest.fail("waited"), lambda: None))
