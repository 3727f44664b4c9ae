"""``consul kv``, ``info``, ``monitor``, ``leave`` and ``operator``: the commands beside the catalogue's."""

from __future__ import annotations

from base64 import b64decode
from typing import Any
from urllib.parse import quote

import msgspec

from simcloud.datastores.consul.asking_agent import Asking, Flags, told
from simcloud.machine.process import Context


async def kv_get(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """A key's value, or all below a prefix."""
    key = operands[0].lstrip("/") if operands else ""
    if "keys" in flags:
        names = await _below(asking, key, "keys&separator=/")
        await ctx.out("".join(f"{name}\n" for name in names))
        return 0
    if "recurse" in flags:
        found = await _below(asking, key, "recurse")
        await ctx.out("".join(f"{pair['Key']}:{_value(pair)}\n" for pair in found))
        return 0
    if not key:
        await ctx.err("Error! Missing KEY argument\n")
        return 1
    status, body = await told("Error querying Consul agent", asking.ask("GET", f"/v1/kv/{quote(key)}"))
    if status != 200:
        await ctx.err(f"Error! No key exists at: {key}\n")
        return 1
    pair = msgspec.json.decode(body)[0]
    if "detailed" in flags:
        rows = ("CreateIndex", "Flags", "Key", "LockIndex", "ModifyIndex")
        lines = [f"{name:<16} {pair[name]}\n" for name in rows]
        await ctx.out("".join([*lines, f"{'Session':<16} -\n", f"{'Value':<16} {_value(pair)}\n"]))
    else:
        await ctx.out(f"{_value(pair)}\n")
    return 0


async def kv_put(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """Write a key; its value is a word, or ``-`` for what stands on stdin."""
    if not operands:
        await ctx.err("Error! Missing KEY argument\n")
        return 1
    key = operands[0].lstrip("/")
    value = operands[1].encode("utf-8", "surrogateescape") if len(operands) > 1 else b""
    if value == b"-":
        value = await ctx.stdin.read()
    try:
        body = b64decode(value, validate=True) if "base64" in flags else value
    except ValueError:
        await ctx.err("Error! Cannot base 64 decode data: illegal base64 data at input byte 0\n")
        return 1
    query = f"?cas={quote(flags['modify-index'])}" if "modify-index" in flags else ""
    path = f"/v1/kv/{quote(key)}{query}"
    _, answer = await told("Error! Failed writing data", asking.ask("PUT", path, body))
    if answer.strip() != b"true":
        await ctx.err(f"Error! Did not write to {key}: CAS failed\n")
        return 1
    await ctx.out(f"Success! Data written to: {key}\n")
    return 0


async def kv_delete(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """Delete a key, or all below a prefix."""
    key = operands[0].lstrip("/") if operands else ""
    if "recurse" in flags:
        await told(
            f"Error! Did not delete prefix {key}", asking.ask("DELETE", f"/v1/kv/{quote(key)}?recurse")
        )
        await ctx.out(f"Success! Deleted keys with prefix: {key}\n")
        return 0
    if not key:
        await ctx.err("Error! Missing KEY argument\n")
        return 1
    await told(f"Error! Did not delete key {key}", asking.ask("DELETE", f"/v1/kv/{quote(key)}"))
    await ctx.out(f"Success! Deleted key: {key}\n")
    return 0


async def info(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """What the agent says of itself, in parts."""
    found = await told("Error querying agent", asking.json("/v1/agent/self"))
    for part, figures in sorted(found["Stats"].items()):
        lines = "".join(f"\t{name} = {value}\n" for name, value in sorted(figures.items()))
        await ctx.out(f"{part}:\n{lines}")
    return 0


async def raft_peers(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """The voters: this one."""
    found = await told("Error getting peers", asking.json("/v1/agent/self"))
    config = found["Config"]
    rows = [
        ["Node", "ID", "Address", "State", "Voter", "RaftProtocol", "Commit Index", "Trails Leader By"],
        [config["NodeName"], config["NodeID"], "127.0.0.1:8300", "leader", "true", "3", found["Stats"]["raft"]["commit_index"], "-"],
    ]  # fmt: skip
    await ctx.out(table(rows))
    return 0


async def monitor(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """The lines the agent has kept. (The genuine one goes on with those to come.)"""
    _, body = await told("Error starting monitor", asking.ask("GET", "/v1/agent/monitor"))
    await ctx.out(body.decode("utf-8", "replace"))
    return 0


def table(rows: list[list[str]]) -> str:
    """Columns as wide as they must be, two spaces between them."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


async def _below(asking: Asking, key: str, how: str) -> list[Any]:
    found = await told("Error querying Consul agent", asking.json(f"/v1/kv/{quote(key)}?{how}"))
    return found or []


def _value(pair: dict[str, Any]) -> str:
    return b64decode(pair["Value"] or "").decode("utf-8", "surrogateescape")
