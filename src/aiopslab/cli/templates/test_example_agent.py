"""The agent detects a fault."""

from __future__ import annotations

import asyncio

from aiopslab.cli.templates.example_agent import ExampleAgent
from aiopslab.orchestrator import Orchestrator


def test_the_agent_looks_before_it_answers() -> None:
    """Call the agent without a cluster."""
    agent = ExampleAgent()
    assert agent.get_action("").startswith("exec_shell")
    assert agent.get_action("shop   cart   1/1   1   1   5m") == 'submit("No")'


def test_the_agent_detects_a_fault() -> None:
    """Run one session. The orchestrator creates the agent and calls its ``init_context``."""
    orchestrator = Orchestrator(results=None)
    orchestrator.init_problem("scale_pod_zero_social_net-detection-1")
    orchestrator.register_agent(ExampleAgent, name="example-agent")
    outcome = asyncio.run(orchestrator.start_problem(max_steps=5))
    assert outcome["results"]["success"], outcome["results"]
