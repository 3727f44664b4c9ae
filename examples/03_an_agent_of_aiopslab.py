"""An agent and a script for the public release of AIOpsLab: the same imports, the same calls.

    python examples/03_an_agent_of_aiopslab.py

``Model.run`` stands in for a language model, so that this example runs without one. Call your client there:

    reply = openai.OpenAI().chat.completions.create(model="gpt-4o", messages=messages)
    return [reply.choices[0].message.content]

docs/coming-from-aiopslab.md lists what else works unchanged, and what differs.
"""

import asyncio
import json
from pathlib import Path

from aiopslab.orchestrator import Orchestrator
from aiopslab.orchestrator.problems.registry import ProblemRegistry

PROMPT = """{problem}
You can use these functions:

{telemetry}

A shell:

{shell}

When you are done:

{submit}
"""
REMINDER = "\n\nRespond with\nThought: <what you make of this>\nAction: <one call>"


class Model:
    """Stand in for a language model: answer with a thought and an action."""

    def run(self, messages):
        """Return one answer to a conversation, in a list."""
        seen = messages[-1]["content"]
        idle = [line.split()[0] for line in seen.splitlines() if " 0/0 " in line]
        if not idle:
            return [
                "Thought: I look at what runs.\n"
                'Action: exec_shell("kubectl get deployments -n test-social-network")'
            ]
        return [f"**Thought:** {idle[0]} has no pods.\n\n**Action:**\n```python\nsubmit({idle})\n```"]


class Agent:
    """Keep the conversation with a model."""

    def __init__(self):
        self.history = []
        self.llm = Model()

    def init_context(self, problem_desc, instructions, apis):
        """Receive what ``init_problem`` returned; called by the script."""
        shell = {name: text for name, text in apis.items() if "exec_shell" in name}
        submit = {name: text for name, text in apis.items() if "submit" in name}
        rest = {name: text for name, text in apis.items() if name not in shell | submit}
        self.system_message = PROMPT.format(
            problem=problem_desc, telemetry=join_docs(rest), shell=join_docs(shell), submit=join_docs(submit)
        )
        self.task_message = instructions
        self.history.append({"role": "system", "content": self.system_message})
        self.history.append({"role": "user", "content": self.task_message})

    async def get_action(self, input):
        """Return the next action; ``input`` is the last observation."""
        self.history.append({"role": "user", "content": input + REMINDER})
        response = self.llm.run(self.history)
        self.history.append({"role": "assistant", "content": response[0]})
        return response[0]


def join_docs(apis):
    """Join the documentation of several functions."""
    return "\n\n".join(f"{name}\n{text}" for name, text in apis.items())


def main():
    """Run the agent on some of the problems, then read the records."""
    problems = ProblemRegistry().PROBLEM_REGISTRY
    for pid in [pid for pid in problems if pid.startswith("scale_pod_zero_social_net-localization")]:
        agent = Agent()
        orchestrator = Orchestrator(results_dir="results")
        orchestrator.register_agent(agent, name="react")
        problem_desc, instructs, apis = orchestrator.init_problem(pid)
        agent.init_context(problem_desc, instructs, apis)
        output = asyncio.run(orchestrator.start_problem(max_steps=10))
        print(f"{pid}: {output['final_state']}, {len(output['history'])} messages")
    for path in sorted(Path("results").glob("*.json")):
        session = json.loads(path.read_text())
        for item in session["trace"]:
            print(f"{item['role']}: {item['content']}")
        results = session["results"]
        print(
            f"{session['agent']} on {session['problem_id']}: TTL {results['TTL']}, steps {results['steps']}"
        )
        print(f"success: {results['success']}")


if __name__ == "__main__":
    main()
