"""A problem as in the papers: a class that defines its application, answer, load and fault.

python examples/02_as_in_the_papers.py
aiopslab play my_target_port-localization-1 --load examples/02_as_in_the_papers.py
"""

import asyncio

from aiopslab import LocalizationTask, Orchestrator, SocialNetwork, VirtFaultInjector, Wrk


class MyTargetPort(LocalizationTask):
    """Find the service that cannot be reached."""

    id = "my_target_port-localization-1"

    def __init__(self):
        self.app = SocialNetwork()
        self.ans = "text-service"

    def start_workload(self):
        """Add load to that of the users, who send requests all the time."""
        Wrk(rate=100, duration=10).start_workload(url=self.app.frontend_url)

    def inject_fault(self):
        """Inject a built-in fault; extend ``FaultInjector`` for your own."""
        VirtFaultInjector(self.app.ns).inject([self.ans], "misconfig_k8s")

    def eval(self, soln, trace, duration):
        """Add a result to the usual ones."""
        return super().eval(soln, trace, duration) | {"named": len(soln or [])}


class Engineer:
    """Find the Service whose target port differs from the others."""

    def __init__(self):
        self._has_looked = False

    async def get_action(self, state):
        """Return the next action; ``state`` is the last observation."""
        if not self._has_looked:
            self._has_looked = True
            return 'exec_shell("kubectl -n test-social-network get endpoints | grep :9999")'
        return f'submit(["{state.split()[0]}"])'


def main():
    """Run the agent on the problem and print the results."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.register_agent(Engineer(), name="engineer")
    orchestrator.init_problem("my_target_port-localization-1")
    outcome = asyncio.run(orchestrator.start_problem(max_steps=5))
    for name in ("Localization Accuracy", "TTL", "named", "success"):
        print(f"{name}: {outcome['results'][name]}")


if __name__ == "__main__":
    main()
