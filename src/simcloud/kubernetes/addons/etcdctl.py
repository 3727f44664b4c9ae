"""etcdctl, in the image of etcd: looks at the store of the cluster.

Clients need a certificate, as etcd is started with ``--client-cert-auth``. Keys can be listed; values are not shown,
since they are stored as protobuf, which nobody reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from simcloud.kubernetes.addons.activity_logs import identify_member
from simcloud.kubernetes.api.api import Api
from simcloud.machine.process import Context, Program

VERSION: Final = "3.6.8"
TERM: Final = 2
TIMEOUT_S: Final = 5.0
VALUED: Final = frozenset({"--cacert", "--cert", "--key", "--endpoints", "-w", "--write-out", "--command-timeout",
    "--dial-timeout", "--limit"})  # fmt: skip
ENVIRONMENT: Final = ("CACERT", "CERT", "KEY", "ENDPOINTS")
FOLDERS: Final = {
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "nodes": "minions",
    "ingresses": "ingress",
}
STATUS_TITLES: Final = (
    "ENDPOINT", "ID", "VERSION", "STORAGE VERSION", "DB SIZE", "IN USE", "PERCENTAGE NOT IN USE", "QUOTA", "IS LEADER",
    "IS LEARNER", "RAFT TERM", "RAFT INDEX", "RAFT APPLIED INDEX", "ERRORS", "DOWNGRADE TARGET VERSION", "DOWNGRADE ENABLED",
)  # fmt: skip


def etcdctl(api: Api) -> Program:
    """The program that looks at this store."""

    async def run(ctx: Context) -> int:
        flags, words = _split(ctx)
        if not words or words[0] in ("help", "-h"):
            await ctx.out(
                "NAME:\n\tetcdctl - A simple command line client for etcd3.\n\nUSAGE:\n\tetcdctl [flags]\n"
            )
            return 0
        if words[0] == "version":
            await ctx.out(f"etcdctl version: {VERSION}\nAPI version: 3.6\n")
            return 0
        endpoint = flags.get("--endpoints", "127.0.0.1:2379")
        if not all(
            flags.get(name) and ctx.files.is_file(flags[name]) for name in ("--cacert", "--cert", "--key")
        ):
            return await _fail_to_connect(ctx, words, endpoint)
        form = flags.get("-w", flags.get("--write-out", "simple"))
        found = _answer(api, ctx, words, flags, endpoint, form)
        if found is None:
            await ctx.err(
                f'Error: unknown command "{words[0]}" for "etcdctl"\nRun \'etcdctl --help\' for usage.\n'
            )
            return 1
        await ctx.out(found)
        return 0

    return run


def _split(ctx: Context) -> tuple[dict[str, str], list[str]]:
    """Flags, also those of the environment, and the other words."""
    named = ((f"--{name.lower()}", ctx.env.get(f"ETCDCTL_{name}")) for name in ENVIRONMENT)
    flags = {flag: value for flag, value in named if value is not None}
    words: list[str] = []
    rest = iter(ctx.args[1:])
    for word in rest:
        name, equals, value = word.partition("=")
        if name in VALUED:
            flags[name] = value if equals else next(rest, "")
        elif word.startswith("-"):
            flags[word] = "true"
        else:
            words.append(word)
    return flags, words


async def _fail_to_connect(ctx: Context, words: list[str], endpoint: str) -> int:
    """What happens without a certificate: the server ends each connection until the client gives up."""
    await ctx.sleep(TIMEOUT_S)
    stamp = datetime.fromtimestamp(ctx.now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    target = f"etcd-endpoints://0xc000{ctx.process.host_pid * 7919 % 0xFFFFF:05x}0/{endpoint}"
    reason = 'rpc error: code = DeadlineExceeded desc = latest balancer error: last connection error: connection error: desc = \\"error reading server preface: EOF\\"'
    warning = {
        "level": "warn",
        "ts": f"{stamp}Z",
        "logger": "etcd-client",
        "caller": f"v3@v{VERSION}/retry_interceptor.go:65",
        "msg": "retrying of unary invoker failed",
        "target": target,
        "method": "/etcdserverpb.KV/Range",
        "attempt": 0,
    }
    await ctx.err(json.dumps(warning, separators=(",", ":"))[:-1] + f',"error":"{reason}"}}\n')
    if words[:2] == ["endpoint", "health"]:
        await ctx.err(
            f"{endpoint} is unhealthy: failed to commit proposal: context deadline exceeded\nError: unhealthy cluster\n"
        )
    elif words[:2] == ["endpoint", "status"]:
        await ctx.err(f"Failed to get the status of endpoint {endpoint} (context deadline exceeded)\n")
    else:
        await ctx.err("Error: context deadline exceeded\n")
    return 1


def _answer(
    api: Api, ctx: Context, words: list[str], flags: dict[str, str], endpoint: str, form: str
) -> str | None:
    if words[:2] == ["endpoint", "health"]:
        return f"{endpoint} is healthy: successfully committed proposal: took = {1.9 + api.log.revision % 13 / 7:.6f}ms\n"
    if words[:2] == ["endpoint", "status"]:
        return _format(form, STATUS_TITLES, [_status(api, ctx, endpoint)])
    if words[:2] == ["member", "list"]:
        name, address = ctx.machine.name, ctx.container.namespace.address
        row = [
            identify_member(address)[0],
            "started",
            name,
            f"https://{address}:2380",
            f"https://{address}:2379",
            "false",
        ]
        return _format(form, ("ID", "STATUS", "NAME", "PEER ADDRS", "CLIENT ADDRS", "IS LEARNER"), [row])
    if words[:2] == ["alarm", "list"]:
        return ""
    if words[0] == "get" and len(words) > 1:
        return _keys(api, words[1], flags)
    return None


def _status(api: Api, ctx: Context, endpoint: str) -> list[str]:
    member, _ = identify_member(ctx.container.namespace.address)
    size = api.log.size_bytes
    index = str(api.log.revision * 91 // 90 + 41)
    sizes = [f"{size / 1e6:.1f} MB", f"{size * 0.61 / 1e6:.1f} MB", "39%", "2.1 GB"]
    raft = ["true", "false", str(TERM), index, index]
    return [endpoint, member, VERSION, "3.6.0", *sizes, *raft, "", "", "false"]


def _keys(api: Api, prefix: str, flags: dict[str, str]) -> str:
    keys = sorted(_list_keys(api))
    by_prefix = "--prefix" in flags
    found = [key for key in keys if key == prefix or (by_prefix and key.startswith(prefix))]
    limit = flags.get("--limit", "0")
    if limit.isdecimal() and int(limit[:9]):
        found = found[: int(limit[:9])]
    if "--count-only" in flags:
        return f"{len(found)}\n"
    shown = "\n" if "--keys-only" in flags else "\nk8s\x00\n"
    return "".join(f"{key}\n{shown}" for key in found)


def _list_keys(api: Api) -> Iterator[str]:
    """The keys of all objects, as the API server names them."""
    for key in api.log.list_keys():
        folder = FOLDERS.get(key.plural, key.plural)
        group = (
            f"{key.group}/" if key.group and "." in key.group and not key.group.endswith(".k8s.io") else ""
        )
        yield "/".join(
            ["/registry", f"{group}{folder}", *([key.namespace] if key.namespace else []), key.name]
        )


def _format(form: str, titles: tuple[str, ...], rows: list[list[str]]) -> str:
    """Rows as simple text, or as a table with borders."""
    if form != "table":
        return "".join(", ".join(row) + "\n" for row in rows)
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    head = "|" + "|".join(f" {title:^{width}} " for title, width in zip(titles, widths, strict=True)) + "|\n"
    cells = ([f" {cell:>{width}} " for cell, width in zip(row, widths, strict=True)] for row in rows)
    body = "".join(f"|{'|'.join(row)}|\n" for row in cells)
    return f"{border}{head}{border}{body}{border}"
