"""An agent that works on a served session, while clients watch."""

from __future__ import annotations

import time
from contextlib import suppress

from aiopslab.orchestrator import (
    FIRST,
    NEXT,
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentTimedOut,
    Ending,
    format_draft,
)
from aiopslab.orchestrator.models import Tool
from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.served_session import ServedSession


async def run_agent(session: ServedSession, agent: AgentLink) -> None:
    """Let an agent work on a session to its end. The agent ends before the session is judged."""
    session.before_judging = agent.close
    try:
        await agent.start()
        await session.prepare()
        await _take_steps(session, agent)
    except HttpError:  # the session has ended
        pass
    except AgentFailed as error:
        await session.prepare()
        await session.end(_name_failure(error), str(error))
    finally:
        await agent.close()


async def _take_steps(session: ServedSession, agent: AgentLink) -> None:
    opening = session.opening
    if opening is None:  # the world could not be prepared
        return
    # If this server is killed, the agent's supervisor completes the journal.
    agent.keep_last_words(opening.journal, format_draft(opening.draft))
    start = opening.start
    await agent.init(
        start.description, start.instructions, start.actions, [Tool(**tool) for tool in start.tools]
    )
    state = FIRST
    while session.state == "open":
        began = time.perf_counter()
        try:
            answer = await agent.get_action(state)
        finally:
            with suppress(Exception):
                session.agent_settings = agent.settings()
        reaction = await session.act(answer, time.perf_counter() - began, agent.usage())
        state = f"{reaction.observation}\n\n{NEXT}"


def _name_failure(error: AgentFailed) -> Ending:
    if isinstance(error, AgentTimedOut):
        return "agent timed out"
    return "agent gone" if isinstance(error, AgentGone) else "agent error"
