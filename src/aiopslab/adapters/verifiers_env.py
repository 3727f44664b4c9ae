"""Incidents for verifiers: each problem is a task, the model answers in turns, the framework's verdict is the reward.

    vf-eval aiopslab-incidents --env.taskset.problems smoke -m gpt-5-mini

verifiers finds them under the name of the module ``aiopslab_incidents``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from aiopslab.adapters.worlds import list_problems, open_env
from aiopslab.utils import AIOpsLabError

try:
    import openai
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ModuleNotFoundError as error:
    raise AIOpsLabError("verifiers is missing: pip install 'aiopslab-in-a-box[verifiers]'.") from error


class IncidentData(vf.TaskData):
    """One problem in one world."""

    problem: str
    seed: int
    max_steps: int


class IncidentTask(vf.Task[IncidentData]):
    """One episode; it has no tools of its own, because actions are calls in the model's text."""


class IncidentsConfig(vf.TasksetConfig):
    """Options of the tasks, ``--env.taskset.…`` on the command line."""

    problems: str = "smoke"
    """A suite, or ids with commas between them."""
    seed: int = 0
    """Chooses the worlds."""
    max_steps: int = 30


class Incidents(vf.Taskset[IncidentTask, IncidentsConfig]):
    """A task for each problem."""

    def load(self) -> Iterator[IncidentTask]:
        """Yield the tasks; raises ``UnknownProblem``."""
        config = self.config
        for problem in list_problems(config.problems):
            options = {"problem": problem, "seed": config.seed, "max_steps": config.max_steps}
            yield IncidentTask(IncidentData(id=problem, name=problem, **options), config.task)


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for its next answer, in this process; verifiers' own programs each need an installation of their own."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> Any:
        """Send the conversation to the model; what it answers is in the trace."""
        system, prompt = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        messages += [message_to_wire(message) for message in prompt or ()]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
            try:
                await client.chat.completions.create(model=ctx.model, messages=messages)
            except openai.APIStatusError as error:  # a limit of the run, or the model's server refuses
                return vf.ProgramResult(exit_code=1, stdout="", stderr=str(error))
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class IncidentsEnvConfig(vf.EnvConfig):
    """Options of the run, ``--env.…`` on the command line."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class IncidentsEnv(vf.Env[IncidentsEnvConfig]):
    """Lets the model take turns until it submits, or a limit is reached; then the incident is judged."""

    async def run(self, task: IncidentTask, agents: Any) -> None:
        """Run one episode, and record its reward and metrics."""
        data = task.data
        env = open_env(data.problem, data.seed, max_steps=data.max_steps)
        try:
            observation, _ = await env.reset_async()
            async with agents.agent.interaction(task) as interaction:
                is_over = False
                while not is_over:
                    answer = await interaction.turn(observation)
                    if answer.terminated:  # by a limit of the run
                        info = await asyncio.to_thread(env.finish)
                        break
                    step = await env.step_async(answer.last_reply)
                    observation, _, terminated, truncated, info = step
                    is_over = terminated or truncated
        finally:
            await asyncio.to_thread(env.close)
        results = info["results"]
        interaction.trace.record_reward("success", float(bool(results.get("success"))))
        interaction.trace.record_metric("steps", float(results["steps"]))
        interaction.trace.info["results"] = results
