"""A genuine MCP client solves a problem over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).parents[3]
COMMAND = ["-c", "from aiopslab.cli import main; main()", "mcp"]
LISTED = "scale_pod_zero_social_net-detection-1"
OWN = "with_overviews-mitigation-1"
PROBLEMS = """
from aiopslab import Family, MitigationTask, SocialNetwork
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.actions import DEFAULT

class Repair(MitigationTask):
    offered = (*DEFAULT, "get_topology", "get_alerts", "get_runbook")

FAMILY = Family("with_overviews", SocialNetwork, (ScalePodZero("user-service"),), (Repair,))
"""
ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
SCALE = "kubectl -n test-social-network scale deployment user-service --replicas=1"


async def solve(client: Client) -> list[str]:
    """Work on the incident as an agent would; return the names of the tools."""
    tools = (await client.list_tools()).tools
    prompt = (await client.get_prompt("incident")).messages[0].content
    assert "test-social-network" in prompt.text
    resources = (await client.list_resources()).resources
    assert [str(resource.uri) for resource in resources] == [
        f"aiopslab://{name}" for name in ("topology", "alerts", "runbooks")
    ]
    topology = await client.read_resource("aiopslab://topology")
    assert "user-service" in topology.contents[0].text
    with pytest.raises(MCPError, match="There is no resource"):
        await client.read_resource("aiopslab://answer")
    wrong = await client.call_tool("exec_shell", {"line": 3})
    assert wrong.is_error
    await call(client, "exec_shell", command=SCALE)
    assert "accepted" in await call(client, "submit")
    over = await client.call_tool("exec_shell", {"command": "true"})
    assert over.is_error
    assert over.content[0].text == "The session is over. Further calls have no effect."
    return [tool.name for tool in tools]


async def call(client: Client, name: str, **arguments: Any) -> str:
    """Call a tool that must succeed; return its text."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    return str(result.content[0].text)


def write_arguments(folder: Path) -> list[str]:
    """Write the problem; return the arguments of a server for it."""
    path = folder / "problems.py"
    path.write_text(PROBLEMS)
    return [*COMMAND, OWN, "--load", str(path), "--results", str(folder)]


def read_record(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("*.json")
    return json.loads(path.read_text())


@pytest.mark.slow(keep=1)
def test_a_client_on_standard_input_and_output_solves_a_problem(tmp_path: Path) -> None:
    arguments = write_arguments(tmp_path)

    async def work() -> list[str]:
        async with Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=ENVIRON)
        ) as client:
            return await solve(client)

    names = asyncio.run(work())
    record = read_record(tmp_path)
    assert {"exec_shell", "get_topology", "submit"} <= set(names)
    assert (record["ending"], record["results"]["success"]) == ("submitted", True)
    assert [step["api_name"] for step in record["steps"]] == [
        "get_topology",
        "exec_shell",
        "exec_shell",
        "submit",
    ]


@asynccontextmanager
async def serve_on_port(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """Run the server at a port that it chooses; yield its URL and its token. At the end it is interrupted."""
    arguments = [*write_arguments(folder), "--port", "0", "--tnr"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=ENVIRON, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    line = (await process.stderr.readline()).decode()
    drain = asyncio.create_task(process.stderr.read())
    try:
        yield line.split()[0], re.findall(r"token: (\S+)", line)[0]
    finally:
        process.terminate()
        await process.wait()
        await drain


@pytest.mark.slow
def test_a_client_over_http_solves_a_problem_in_transactions_and_needs_the_token(tmp_path: Path) -> None:
    async def work() -> None:
        async with serve_on_port(tmp_path) as (url, token):
            async with httpx2.AsyncClient(timeout=60) as plain:
                assert (await plain.post(url, json={})).status_code == 401
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                assert "begin_transaction" in await solve(client)

    asyncio.run(work())
    record = read_record(tmp_path)
    assert record["results"]["success"] is True
    (transaction,) = record["transactions"]
    assert (transaction["commands"], transaction["outcome"]) == ([SCALE], "committed")


@pytest.mark.slow
def test_a_client_that_leaves_is_recorded(tmp_path: Path) -> None:
    async def work() -> None:
        arguments = [*COMMAND, LISTED, "--results", str(tmp_path)]
        async with Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=ENVIRON)
        ) as client:
            assert (await client.list_resources()).resources == []
            await call(client, "exec_shell", command="true")

    asyncio.run(work())
    record = read_record(tmp_path)
    assert (record["ending"], record["results"]["success"]) == ("interrupted", False)
