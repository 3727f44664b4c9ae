"""Spans: how they hang together, how they reach an agent, and what is lost."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.machine.network import NameNotFound
from simcloud.machine.process import Context, Signal
from simcloud.services.tracing import JAEGER, SpanBatch, Tracer, list_open_spans
from tests.simcloud.services.two_machines import TwoMachines


async def agent(ctx: Context) -> int:
    """Logs how many spans each datagram brings."""
    socket = ctx.container.namespace.bind(6831, JAEGER, owner=ctx.process)
    while True:
        batch = (await socket.receive()).message
        assert isinstance(batch, SpanBatch)
        ctx.log(" ".join(span.operation for span in batch.spans))


def test_children_belong_to_their_parents_trace() -> None:
    pair = TwoMachines()

    async def work(ctx: Context) -> None:
        tracer = Tracer(ctx, "geo")
        root = tracer.begin("root", tags=(("a", "1"),))
        child = tracer.begin("child", root.context)
        await ctx.sleep(2.0)
        child.finish("broken", (("response_code", "Internal"),))
        root.finish()

    pair.run(work)
    child, root = pair.emitter.spans
    assert (root.parent_id, root.trace_id) == (0, root.span_id)
    assert (child.parent_id, child.trace_id) == (root.span_id, root.trace_id)
    assert (child.duration_s, child.error, child.tags) == (2.0, "broken", (("response_code", "Internal"),))
    assert dict(root.process)["hostname"] == "client"
    assert root.tags[0] == ("a", "1")


def test_operations_that_have_not_ended_are_listed() -> None:
    pair = TwoMachines()

    async def work(ctx: Context) -> list[tuple[str, int, float]]:
        tracer = Tracer(ctx, "listed")
        root = tracer.begin("root")
        await ctx.sleep(1.0)
        hanging, finished = tracer.begin("hanging", root.context), tracer.begin("finished", root.context)
        unsampled = Tracer(ctx, "listed", sample_ratio=0.0).begin("unsampled")
        await ctx.sleep(2.0)
        finished.finish()
        found = [span for span in list_open_spans() if span.service == "listed"]
        assert (hanging.is_open, finished.is_open, unsampled.is_open) == (True, False, True)
        return [(span.operation, span.parent_id == root.context.span_id, span.duration_s) for span in found]

    assert pair.run(work) == [("root", False, 3.0), ("hanging", True, 2.0)]


def test_spans_go_to_the_agent_once_a_second() -> None:
    pair = TwoMachines()
    pair.serve(agent)

    async def work(ctx: Context) -> None:
        tracer = await Tracer.open(ctx, "geo", "server:6831")
        for number in range(3):
            tracer.begin(str(number)).finish()
            await ctx.sleep(0.4)
        tracer.begin("late").finish()
        await ctx.sleep(2.0)

    pair.run(work)
    assert pair.log() == ["0 1 2", "late"]
    assert pair.emitter.spans == []


def test_a_full_packet_does_not_wait() -> None:
    pair = TwoMachines()
    pair.serve(agent)

    async def work(ctx: Context) -> None:
        tracer = await Tracer.open(ctx, "geo", "server:6831")
        for _ in range(450):
            tracer.begin("x").finish()
        await ctx.sleep(0.5)
        ctx.log(str(len(pair.log())))
        await ctx.sleep(1.0)

    pair.run(work)
    assert pair.log("client") == ["2"]
    assert [line.count("x") for line in pair.log()] == [200, 200, 50]


def test_nobody_notices_that_the_agent_is_gone() -> None:
    pair = TwoMachines()
    process = pair.serve(agent)

    async def work(ctx: Context) -> None:
        tracer = await Tracer.open(ctx, "geo", "server:6831")
        process.send(Signal.KILL)
        tracer.begin("lost").finish()
        await ctx.sleep(3.0)

    pair.run(work)
    assert pair.log() == []


@pytest.mark.parametrize("where", ["nowhere:6831", "server:agent"])
def test_an_agent_that_cannot_be_found_is_an_error(where: str) -> None:
    pair = TwoMachines()

    async def work(ctx: Context) -> Any:
        with pytest.raises(NameNotFound):
            await Tracer.open(ctx, "geo", where)

    pair.run(work)


def test_a_trace_that_is_not_sampled_leaves_nothing() -> None:
    pair = TwoMachines()

    async def work(ctx: Context) -> None:
        tracer = Tracer(ctx, "geo", sample_ratio=0.25)
        for _ in range(400):
            root = tracer.begin("root")
            tracer.begin("child", root.context).finish()
            root.finish()

    pair.run(work)
    roots = [span for span in pair.emitter.spans if span.parent_id == 0]
    assert 60 < len(roots) < 140
    assert len(pair.emitter.spans) == 2 * len(roots)
