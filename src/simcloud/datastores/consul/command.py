"""The ``consul`` program: its agent, and the commands that talk to one over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote

import msgspec

from simcloud.datastores.consul.agent import agent
from simcloud.datastores.consul.identity import BUILD_DATE, REVISION, VERSION
from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.services.rpc.http import HttpClient, HttpError

DEFAULT_SERVER: Final = "127.0.0.1:8500"
Flags = dict[str, str]


class Failed(Exception):
    """A command failed; the text goes to stderr."""


class AgentClient:
    """Sends requests to the agent and reports errors as Consul's Go client does."""

    def __init__(self, ctx: Context, flags: Flags) -> None:
        server = flags.get("http-addr") or ctx.env.get("CONSUL_HTTP_ADDR") or DEFAULT_SERVER
        self._server = server.removeprefix("http://")
        self._http = HttpClient(ctx, timeout_s=60.0)

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return status and body. Raise ``Failed`` if there is no answer or an error."""
        try:
            response = await self._http.request(method, f"http://{self._server}{path}", body)
        except (HttpError, ValueError, KeyError) as error:
            raise Failed(str(error)) from None
        if response.status not in (200, 404) or (response.status == 404 and response.body):
            text = response.body.decode("utf-8", "replace")
            raise Failed(f"Unexpected response code: {response.status} ({text})")
        return response.status, response.body

    async def json(self, path: str) -> Any:
        """Fetch a path and decode its JSON."""
        _, body = await self.request("GET", path)
        return msgspec.json.decode(body or b"null")


async def prefix_failure(prefix: str, work: Awaitable[Any]) -> Any:
    """Return the result; the message of a failure begins with ``prefix``."""
    try:
        return await work
    except Failed as failure:
        raise Failed(f"{prefix}: {failure}") from None


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
    """Run the subcommand that the arguments name."""
    words = ctx.args[1:]
    if not words or words[0] in ("-h", "--help", "help"):
        await ctx.err(USAGE)
        return 127 if not words else 0
    if words[0] in ("version", "--version", "-v", "-version"):
        await ctx.out(VERSION_TEXT)
        return 0
    flags, operands = parse_flags(words)
    if operands[0] == "agent":
        return await agent(ctx, flags)
    for length in (3, 2, 1):
        handler = COMMANDS.get(" ".join(operands[:length]))
        if handler is not None:
            return await _run(ctx, handler, flags, operands[length:])
    await ctx.err(USAGE)
    return 127


def parse_flags(words: list[str]) -> tuple[Flags, list[str]]:
    """Split arguments into Go's flags (``-name=web``, ``-name web``, ``-dev``) and operands."""
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


Handler = Callable[[Context, AgentClient, Flags, list[str]], Awaitable[int]]


async def _run(ctx: Context, handler: Handler, flags: Flags, operands: list[str]) -> int:
    try:
        return await handler(ctx, AgentClient(ctx, flags), flags, operands)
    except Failed as failure:
        await ctx.err(f"{failure}\n")
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError, AttributeError):
        # Another program answers at that address.
        await ctx.err("Error decoding the agent's answer: unexpected JSON\n")
    return 1


async def members(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """List the agents of the data centre."""
    found = await prefix_failure(
        "Error retrieving members", agent_client.json("/v1/agent/members?segment=_all")
    )
    rows = [["Node", "Address", "Status", "Type", "Build", "Protocol", "DC", "Partition", "Segment"]]
    for member in found:
        tags = member["Tags"]
        build = tags["build"].partition(":")[0]
        rows.append([member["Name"], f"{member['Addr']}:{member['Port']}", "alive", "server", build, tags["vsn"], tags["dc"], "default", "<all>"])  # fmt: skip
    await ctx.out(format_table(rows))
    return 0


async def catalog_services(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """List the names of all services."""
    found = await prefix_failure("Error listing services", agent_client.json("/v1/catalog/services"))
    await ctx.out("".join(f"{name}\n" for name in sorted(found)))
    return 0


async def catalog_nodes(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """List all nodes, or those of a service."""
    service = flags.get("service")
    path = f"/v1/catalog/service/{quote(service)}" if service else "/v1/catalog/nodes"
    found = await prefix_failure("Error listing nodes", agent_client.json(path))
    if not found:
        await ctx.err("No nodes match the given query - try expanding your search.\n")
        return 0
    rows = [["Node", "ID", "Address", "DC"]]
    names = dict.fromkeys(
        (each["Node"], each["ID"][:8], each["Address"], each["Datacenter"]) for each in found
    )
    rows += [list(each) for each in names]
    await ctx.out(format_table(rows))
    return 0


async def register(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """Register services from flags, or from files of definitions."""
    try:
        documents = _read_definitions(ctx, operands) if operands else [_definition_from_flags(flags)]
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
        await prefix_failure(what, agent_client.request("PUT", "/v1/agent/service/register", body))
        await ctx.out(f"Registered service: {name}\n")
    return 0


def _definition_from_flags(flags: Flags) -> dict[str, Any]:
    names = (("name", "Name"), ("id", "ID"), ("address", "Address"))
    document: dict[str, Any] = {key: flags[name] for name, key in names if name in flags}
    if flags.get("port", "").isdecimal():
        document["Port"] = int(flags["port"][:9])
    if "tag" in flags:
        document["Tags"] = [flags["tag"]]
    return document


def _read_definitions(ctx: Context, paths: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in paths:
        document = msgspec.json.decode(ctx.files.read(path), type=dict[str, Any])
        services = document.get("services", [document.get("service")])
        found += [each for each in services if isinstance(each, dict)] if isinstance(services, list) else []
    return found


async def deregister(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """Deregister a service."""
    id = flags.get("id", "")
    if not id:
        await ctx.err("Service deregistration requires at least one argument or -id.\n")
        return 1
    path = f"/v1/agent/service/deregister/{quote(id)}"
    await prefix_failure(f'Error registering service "{id}"', agent_client.request("PUT", path))
    await ctx.out(f"Deregistered service: {id}\n")
    return 0


async def info(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """Print the agent's statistics, section by section."""
    found = await prefix_failure("Error querying agent", agent_client.json("/v1/agent/self"))
    for part, figures in sorted(found["Stats"].items()):
        lines = "".join(f"\t{name} = {value}\n" for name, value in sorted(figures.items()))
        await ctx.out(f"{part}:\n{lines}")
    return 0


async def monitor(ctx: Context, agent_client: AgentClient, flags: Flags, operands: list[str]) -> int:
    """Print the log lines that the agent has kept. (The genuine command goes on to follow the log.)"""
    _, body = await prefix_failure("Error starting monitor", agent_client.request("GET", "/v1/agent/monitor"))
    await ctx.out(body.decode("utf-8", "replace"))
    return 0


def format_table(rows: list[list[str]]) -> str:
    """Align columns, with two spaces between them."""
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
