"""A problem as the papers write one: a class that sets its application and answer, and says what load and what fault there is.

python examples/02_as_in_the_papers.py
aiopslab play my_target_port-localization-1 --load examples/02_as_in_the_papers.py
"""

import asyncio

from aiopslab import LocalizationTask, Orchestrator, SocialNetwork, VirtFaultInjector, Wrk


class MyTargetPort(LocalizationTask):
    """Which service cannot be reached?"""

    id = "my_target_port-localization-1"

    def __init__(self):
        self.app = SocialNetwork()
        self.ans = "text-service"

    def start_workload(self):
        """Load besides that of the users, who come and go all the time."""
        Wrk(rate=100, duration=10).start_workload(url=self.app.frontend_url)

    def inject_fault(self):
        """One of the faults that there are; ``FaultInjector`` is for those of one's own."""
        VirtFaultInjector(self.app.ns).inject([self.ans], "misconfig_k8s")

    def eval(self, soln, trace, duration):
        """Results of one's own beside the usual ones."""
        return super().eval(soln, trace, duration) | {"named": len(soln or [])}


class Engineer:
    """Looks at where Services send to, and names the one that differs."""

    def __init__(self):
        self._asked = False

    async def get_action(self, state):
        """What to do next; ``state`` is what came of the last thing."""
        if not self._asked:
            self._asked = True
            return 'exec_shell("kubectl -n test-social-network get endpoints | grep :9999")'
        return f'submit(["{state.split()[0]}"])'


def main():
    """Pose the problem to the agent, and print what its answer was worth."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.register_agent(Engineer(), name="engineer")
    orchestrator.init_problem("my_target_port-localization-1")
    told = asyncio.run(orchestrator.start_problem(max_steps=5))
    for name in ("Localization Accuracy", "TTL", "named", "success"):
        print(f"{name}: {told['results'][name]}")


if __name__ == "__main__":
    main()
