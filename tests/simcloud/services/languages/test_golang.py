"""Go's manner: log lines, the ways to die, and the words for errors."""

from __future__ import annotations

from simcloud.machine.network import ConnectionReset, ConnectTimedOut, ResolverFailure
from simcloud.machine.process import Context, Signal
from simcloud.services.languages.golang import (
    BadAddress,
    GoLog,
    Panic,
    dial_error,
    go,
    go_program,
    plain_log,
    read_error,
    split_address,
)
from tests.simcloud.services.two_machines import BARE, TwoMachines


def test_lines_are_json_first_and_then_for_people() -> None:
    pair = TwoMachines()

    async def program(ctx: Context) -> int:
        zerolog = GoLog(ctx)
        zerolog.info("TLS disabled.")
        zerolog.console = True
        zerolog.info("Reading config...", "cmd/geo/main.go:23")
        zerolog.error("SearchHandler failed", "services/frontend/server.go:213")
        plain_log(ctx, "grpc/lb/consul: error")
        return 0

    pair.serve(go_program(program))
    assert pair.log() == [
        '{"level":"info","time":"2026-01-05T09:00:00Z","message":"TLS disabled."}',
        "2026-01-05T09:00:00Z INF cmd/geo/main.go:23 > Reading config...",
        "2026-01-05T09:00:00Z ERR services/frontend/server.go:213 > SearchHandler failed",
        "2026/01/05 09:00:00 grpc/lb/consul: error",
    ]
    assert [line.stream for line in pair.emitter.logs] == ["stderr", "stdout", "stdout", "stderr"]


def test_a_panic_prints_a_trace_and_exits_with_2() -> None:
    pair = TwoMachines()

    async def program(ctx: Context) -> int:
        log = GoLog(ctx, console=True)
        log.panic("no reachable servers", "cmd/geo/db.go:26", ("main.main()", "\t/src/main.go:38 +0x4f5"))

    process = pair.serve(go_program(program))
    assert process.status == 2
    assert pair.log() == [
        "2026-01-05T09:00:00Z PNC cmd/geo/db.go:26 > no reachable servers",
        "panic: no reachable servers",
        "",
        "goroutine 1 [running]:",
        "main.main()",
        "\t/src/main.go:38 +0x4f5",
    ]


def test_a_panic_in_a_goroutine_takes_the_process_along() -> None:
    pair = TwoMachines()

    async def program(ctx: Context) -> int:
        async def background() -> None:
            await ctx.sleep(1.0)
            raise Panic("assignment to entry in nil map", goroutine=18)

        go(ctx, background(), "background")
        await ctx.sleep(60.0)
        return 0

    process = pair.serve(go_program(program), settle_s=2.0)
    assert (process.alive, process.status) == (False, 2)
    assert "goroutine 18 [running]:" in pair.log()


def test_fatal_exits_with_1_wherever_it_is_said() -> None:
    pair = TwoMachines()

    async def program(ctx: Context) -> int:
        async def background() -> None:
            GoLog(ctx, console=True).fatal("failed register", "registry/registry.go:91")

        go(ctx, background(), "background")
        await ctx.sleep(60.0)
        return 0

    process = pair.serve(go_program(program))
    assert (process.alive, process.status) == (False, 1)


def test_sigterm_ends_the_first_process_with_2_and_others_by_the_signal() -> None:
    pair = TwoMachines()

    async def program(ctx: Context) -> int:
        await ctx.sleep(60.0)
        return 0

    child = pair.serve(go_program(program))
    child.send(Signal.TERM)
    assert (child.status, child.ended_by) == (143, Signal.TERM)
    alone = pair.machines[0].create_container("alone", BARE, address="10.1.0.9")
    first = alone.start(["geo"], program=go_program(program))
    pair.kernel.run_for(0.1)
    first.send(Signal.TERM)
    assert (first.pid, first.status, first.ended_by) == (1, 2, None)


def test_words_for_errors() -> None:
    pair = TwoMachines()
    pair.client.files.put("/etc/resolv.conf", b"search x\nnameserver 10.96.0.10\n")
    here, there = ("10.1.0.2", 40000), ("10.1.0.1", 80)

    async def words(ctx: Context) -> list[str]:
        return [
            dial_error(ctx, ConnectTimedOut(), "10.1.0.1", 80),
            dial_error(ctx, ResolverFailure("geo"), "geo", 80),
            dial_error(ctx, ResolverFailure("geo", refused=True), "geo", 80),
            dial_error(ctx, ResolverFailure("geo", answered=True), "geo", 80),
            read_error(ConnectionReset(), here, there),
        ]

    timed_out, lookup, refused, misbehaving, reset = pair.run(words)
    assert timed_out == "dial tcp 10.1.0.1:80: i/o timeout"
    assert lookup.startswith("dial tcp: lookup geo on 10.96.0.10:53: read udp 10.1.0.2:")
    assert lookup.endswith("->10.96.0.10:53: i/o timeout")
    assert refused.endswith("->10.96.0.10:53: read: connection refused")
    assert misbehaving == "dial tcp: lookup geo on 10.96.0.10:53: server misbehaving"
    assert reset == "read tcp 10.1.0.2:40000->10.1.0.1:80: read: connection reset by peer"


def test_an_address_has_a_host_and_a_port() -> None:
    assert split_address("geo:8083") == ("geo", 8083)
    problems = []
    for text in ("geo", "geo:http!", "geo:70000"):
        try:
            split_address(text)
        except BadAddress as error:
            problems.append(str(error))
    assert problems == [
        "address geo: missing port in address",
        "address http!: unknown port",
        "address 70000: invalid port",
    ]
