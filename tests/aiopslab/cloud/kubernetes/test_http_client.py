"""Requests over kept connections, responses that are read while they arrive, and connections that fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from aiopslab.cloud.kubernetes.http_client import HttpClient, HttpFailed

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")),
        0,
    )
    return head + await reader.readexactly(length)


async def call(serve: Serve, use: Callable[[HttpClient], Awaitable[None]]) -> None:
    """Let a client use a server on this host."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        client = HttpClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/base", headers={"A": "b"})
        await use(client)
        client.close()


def test_requests_share_a_connection() -> None:
    seen: list[tuple[object, bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            seen.append((writer, await read_request(reader)))
            writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-Kind: nice\r\n\r\nok")
        writer.close()

    async def use(client: HttpClient) -> None:
        for path in ("/one", "/two"):
            answer = await client.request("POST", path, b"body")
            assert (answer.status, answer.body, answer.headers["x-kind"]) == (201, b"ok", "nice")

    asyncio.run(call(serve, use))
    assert seen[0][0] is seen[1][0]
    assert seen[1][1].startswith(b"POST /base/two HTTP/1.1\r\n")
    assert b"\r\nA: b\r\n" in seen[1][1]
    assert seen[1][1].endswith(b"\r\n\r\nbody")


def test_a_stream_is_read_while_it_arrives() -> None:
    more = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        await more.wait()
        writer.write(b"1\r\nd\r\n0\r\n\r\n")
        writer.close()

    async def use(client: HttpClient) -> None:
        async with client.stream("GET", "/") as (answer, parts):
            assert answer.status == 200
            assert await anext(parts) == b"abc"
            more.set()
            assert [part async for part in parts] == [b"d"]

    asyncio.run(call(serve, use))


def test_a_kept_connection_that_was_closed_is_replaced_for_a_request_without_effect() -> None:
    count = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def use(client: HttpClient) -> None:
        for _ in range(3):
            assert (await client.request("GET", "/")).status == 200

    asyncio.run(call(serve, use))
    assert count == 3


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "closed before a response"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "closed within a response"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "malformed"),
    ],
)
def test_a_response_that_does_not_come_is_an_error(said: bytes, why: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(said)
        await writer.drain()
        writer.close()

    async def use(client: HttpClient) -> None:
        with pytest.raises(HttpFailed, match=why):
            await client.request("POST", "/")

    asyncio.run(call(serve, use))


def test_a_closed_port_is_an_error_of_connecting() -> None:
    async def use() -> None:
        with pytest.raises(HttpFailed) as caught:
            await HttpClient("http://127.0.0.1:1").request("GET", "/")
        assert caught.value.kind == "connect"

    asyncio.run(use())
