"""An application, a fault, problems and an agent written for AIOpsLab, used as they are.

    python examples/06_coming_from_aiopslab.py

The imports, base classes and calls are those of the public release's guides to adding applications, problems and agents; the application's
metadata and Helm chart are in ``tea_shop/``. docs/coming-from-aiopslab.md lists what differs.
"""

import asyncio
from pathlib import Path

from aiopslab.generators.fault.base import FaultInjector
from aiopslab.generators.workload.wrk import Wrk
from aiopslab.orchestrator import Orchestrator
from aiopslab.orchestrator.evaluators.quantitative import is_exact_match, is_subset
from aiopslab.orchestrator.tasks import LocalizationTask, MitigationTask
from aiopslab.service.apps.base import Application
from aiopslab.service.helm import Helm
from aiopslab.service.kubectl import KubeCtl


class TeaShop(Application):
    """An application that a JSON file describes."""

    def __init__(self):
        super().__init__(Path(__file__).parent / "tea_shop" / "tea-shop.json")
        self.kubectl = KubeCtl()

    def deploy(self):
        """Install the chart and wait for its pods."""
        Helm.install(**self.helm_configs)
        Helm.assert_if_deployed(self.helm_configs["namespace"])


class TeaShopFaultInjector(FaultInjector):
    """One fault: a Service that selects no pods."""

    def __init__(self, namespace):
        super().__init__(namespace)
        self.kubectl = KubeCtl()

    def inject_wrong_selector(self, microservices):
        """Let each Service select pods that do not exist."""
        for service in microservices:
            self.kubectl.patch_service(service, self.namespace, {"spec": {"selector": {"app": "shop"}}})

    def recover_wrong_selector(self, microservices):
        """Let each Service select its pods again."""
        for service in microservices:
            self.kubectl.patch_service(service, self.namespace, {"spec": {"selector": {"app": service}}})


class WrongSelectorBaseTask:
    """What the problems have in common."""

    def __init__(self):
        self.app = TeaShop()
        self.kubectl = KubeCtl()
        self.namespace = self.app.namespace
        self.faulty_service = "web"
        self.injector = TeaShopFaultInjector(self.namespace)

    def start_workload(self):
        """Send requests to the front end."""
        address = self.kubectl.get_cluster_ip(self.app.frontend_service, self.namespace)
        wrk = Wrk(rate=10, dist="exp", connections=2, duration=10, threads=2)
        wrk.start_workload(payload_script=Path("visit.lua"), url=f"http://{address}:{self.app.frontend_port}")

    def inject_fault(self):
        """Break the Service."""
        self.injector._inject(fault_type="wrong_selector", microservices=[self.faulty_service])

    def recover_fault(self):
        """Repair the Service."""
        self.injector._recover(fault_type="wrong_selector", microservices=[self.faulty_service])


class WrongSelectorLocalization(WrongSelectorBaseTask, LocalizationTask):
    """Find the faulty service."""

    def __init__(self):
        WrongSelectorBaseTask.__init__(self)
        LocalizationTask.__init__(self, self.app)

    def eval(self, soln, trace, duration):
        """Compare the answer with the faulty service."""
        super().eval(soln, trace, duration)
        self.results["success"] = is_exact_match(soln, self.faulty_service)
        self.results["is_subset"] = is_subset([self.faulty_service], soln or [])
        return self.results


class WrongSelectorMitigation(WrongSelectorBaseTask, MitigationTask):
    """Repair the Service."""

    def __init__(self):
        WrongSelectorBaseTask.__init__(self)
        MitigationTask.__init__(self, self.app)

    def eval(self, soln, trace, duration):
        """Check the Service and the pods, in addition to the usual judgement of the whole system."""
        super().eval(soln, trace, duration)
        service = self.kubectl.get_service_json(self.faulty_service, self.namespace)
        pods = self.kubectl.list_pods(self.namespace).items
        ready = all(status.ready for pod in pods for status in pod.status.container_statuses)
        selected = service["spec"]["selector"] == {"app": self.faulty_service}
        self.results["success"] = self.results["success"] and selected and ready
        return self.results


class Agent:
    """Look at the endpoints, repair if asked to, and submit."""

    def init_context(self, problem_desc, instructions, apis):
        """Receive what ``init_problem`` returned; called by the script."""
        self.repairs = "submit()" in instructions
        self.steps = 0

    async def get_action(self, input):
        """Return the next action; ``input`` is the last observation."""
        self.steps += 1
        if self.steps == 1:
            return '```\nexec_shell("kubectl get endpoints -n tea-shop --no-headers")\n```'
        if not self.repairs:
            broken = [line.split()[0] for line in input.splitlines() if "<none>" in line]
            return f"```\nsubmit({broken})\n```"
        if self.steps == 2:
            return '```\nexec_shell("kubectl set selector service web app=web -n tea-shop")\n```'
        return "```\nsubmit()\n```"


def main():
    """Register the problems, run the agent on each, and print the results."""
    orchestrator = Orchestrator(results_dir="results")
    problems = orchestrator.probs.PROBLEM_REGISTRY
    problems["wrong_selector_tea_shop-localization-1"] = WrongSelectorLocalization
    problems["wrong_selector_tea_shop-mitigation-1"] = WrongSelectorMitigation
    for pid in orchestrator.probs.get_problem_ids("tea_shop"):
        agent = Agent()
        orchestrator.register_agent(agent, name="looker")
        agent.init_context(*orchestrator.init_problem(pid))
        output = asyncio.run(orchestrator.start_problem(max_steps=5))
        print(f"{pid}: {output['final_state'].name}, {len(output['history'])} messages")
        print(f"success: {output['results']['success']}")


if __name__ == "__main__":
    main()
