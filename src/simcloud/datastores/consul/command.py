"""The ``consul`` program: its agent, and the commands that talk to one over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

import msgspec

from simcloud.datastores.consul.agent import agent
from simcloud.datastores.consul.asking_agent import Asking, Failed, Flags, prefix_failure
from simcloud.datastores.consul.identity import BUILD_DATE, REVISION, VERSION
from simcloud.machine.files import FileError
from simcloud.machine.process import Context

SWITCHES: Final = frozenset({"dev", "ui", "server", "bootstrap", "help", "h"})
USAGE: Final = """\
Usage: consul [--version] [--help] <command> [<args>]

Available commands are:
    agent          Runs a Consul agent
    catalog        Interact with the catalog
    info           Provides debugging information for operators.
    members        Lists the members of a Consul cluster
    monitor        Stream logs from a Consul agent
    services       Interact with services
    version        Prints the Consul version

"""
VERSION_TEXT: Final = (
    f"Consul v{VERSION}\nRevision {REVISION}\nBuild Date {BUILD_DATE}\n"
    "Protocol 2 spoken by default, understands 2 to 3 "
    "(agent will automatically use protocol >2 when speaking to compatible agents)\n"
)


async def consul(ctx: Context) -> int:
    """Run the command that is named."""
    words = ctx.args[1:]
    if not words or words[0] in ("-h", "--help", "help"):
        await ctx.err(USAGE)
        return 127 if not words else 0
    if words[0] in ("version", "--version", "-v", "-version"):
        await ctx.out(VERSION_TEXT)
        return 0
    flags, operands = read_flags(words)
    if operands[0] == "agent":
        return await agent(ctx, flags)
    for length in (3, 2, 1):
        handler = COMMANDS.get(" ".join(operands[:length]))
        if handler is not None:
            return await _run(ctx, handler, flags, operands[length:])
    await ctx.err(USAGE)
    return 127


def read_flags(words: list[str]) -> tuple[Flags, list[str]]:
    """Go's flags (``-name=web``, ``-name web``, ``-dev``) and the words between them."""
    flags: Flags = {}
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        flags[name] = value if equals or name in SWITCHES else next(rest, "")
    return flags, operands


Handler = Callable[[Context, Asking, Flags, list[str]], Awaitable[int]]


async def _run(ctx: Context, handler: Handler, flags: Flags, operands: list[str]) -> int:
    try:
        return await handler(ctx, Asking(ctx, flags), flags, operands)
    except Failed as failure:
        await ctx.err(f"{failure}\n")
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError, AttributeError):
        # Another program answers at that address.
        await ctx.err("Error decoding the agent's answer: unexpected JSON\n")
    return 1


async def members(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """The agents of the data centre."""
    found = await prefix_failure("Error retrieving members", asking.json("/v1/agent/members?segment=_all"))
    rows = [["Node", "Address", "Status", "Type", "Build", "Protocol", "DC", "Partition", "Segment"]]
    for member in found:
        tags = member["Tags"]
        build = tags["build"].partition(":")[0]
        rows.append([member["Name"], f"{member['Addr']}:{member['Port']}", "alive", "server", build, tags["vsn"], tags["dc"], "default", "<all>"])  # fmt: skip
    await ctx.out(table(rows))
    return 0


async def catalog_services(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """The names of all services."""
    found = await prefix_failure("Error listing services", asking.json("/v1/catalog/services"))
    await ctx.out("".join(f"{name}\n" for name in sorted(found)))
    return 0


async def catalog_nodes(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """All nodes, or those of a service."""
    service = flags.get("service")
    path = f"/v1/catalog/service/{quote(service)}" if service else "/v1/catalog/nodes"
    found = await prefix_failure("Error listing nodes", asking.json(path))
    if not found:
        await ctx.err("No nodes match the given query - try expanding your search.\n")
        return 0
    rows = [["Node", "ID", "Address", "DC"]]
    names = dict.fromkeys(
        (each["Node"], each["ID"][:8], each["Address"], each["Datacenter"]) for each in found
    )
    rows += [list(each) for each in names]
    await ctx.out(table(rows))
    return 0


async def register(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """Register services from flags, or from files of definitions."""
    try:
        documents = _definitions(ctx, operands) if operands else [_from_flags(flags)]
    except FileError as error:
        raise Failed(f"Error: open {error.path}: {error.strerror.lower()}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise Failed(f"Error: {error}") from None
    for document in documents:
        name = str(document.get("name") or document.get("Name") or "")
        if not name:
            raise Failed("Service registration requires at least one argument or flags.")
        body = msgspec.json.encode(document)
        what = f'Error registering service "{name}"'
        await prefix_failure(what, asking.ask("PUT", "/v1/agent/service/register", body))
        await ctx.out(f"Registered service: {name}\n")
    return 0


def _from_flags(flags: Flags) -> dict[str, Any]:
    names = (("name", "Name"), ("id", "ID"), ("address", "Address"))
    document: dict[str, Any] = {key: flags[name] for name, key in names if name in flags}
    if flags.get("port", "").isdecimal():
        document["Port"] = int(flags["port"][:9])
    if "tag" in flags:
        document["Tags"] = [flags["tag"]]
    return document


def _definitions(ctx: Context, paths: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in paths:
        document = msgspec.json.decode(ctx.files.read(path), type=dict[str, Any])
        services = document.get("services", [document.get("service")])
        found += [each for each in services if isinstance(each, dict)] if isinstance(services, list) else []
    return found


async def deregister(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """Take a service back."""
    id = flags.get("id", "")
    if not id:
        await ctx.err("Service deregistration requires at least one argument or -id.\n")
        return 1
    path = f"/v1/agent/service/deregister/{quote(id)}"
    await prefix_failure(f'Error registering service "{id}"', asking.ask("PUT", path))
    await ctx.out(f"Deregistered service: {id}\n")
    return 0


async def info(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """What the agent says of itself, in parts."""
    found = await prefix_failure("Error querying agent", asking.json("/v1/agent/self"))
    for part, figures in sorted(found["Stats"].items()):
        lines = "".join(f"\t{name} = {value}\n" for name, value in sorted(figures.items()))
        await ctx.out(f"{part}:\n{lines}")
    return 0


async def monitor(ctx: Context, asking: Asking, flags: Flags, operands: list[str]) -> int:
    """The lines the agent has kept. (The genuine one goes on with those to come.)"""
    _, body = await prefix_failure("Error starting monitor", asking.ask("GET", "/v1/agent/monitor"))
    await ctx.out(body.decode("utf-8", "replace"))
    return 0


def table(rows: list[list[str]]) -> str:
    """Columns as wide as they must be, two spaces between them."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


COMMANDS: Final[dict[str, Handler]] = {
    "members": members,
    "catalog services": catalog_services,
    "catalog nodes": catalog_nodes,
    "info": info,
    "monitor": monitor,
    "services register": register,
    "services deregister": deregister,
}
