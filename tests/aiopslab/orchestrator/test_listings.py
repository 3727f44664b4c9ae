"""The papers' listings, in our words around the same calls: a problem, the actions of an agent, an injector.

The third, an agent that is registered and run, stands with the orchestrator's own tests.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aiopslab import (
    ApplicationFaultInjector,
    LocalizationTask,
    SocialNetwork,
    TaskActions,
    VirtFaultInjector,
    Wrk,
    at_site,
)
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import FaultInjector, NoSuchFault
from aiopslab.generators.site import NoSite
from aiopslab.orchestrator.actions import ActionSet
from aiopslab.orchestrator.preparation import stage
from aiopslab.service import current
from simcloud.world.copies import Copy
from simcloud.world.policies import ADMIN

# -- the first: a problem ------------------------------------------------------------------------


class TargetPortProblem(LocalizationTask):
    """As a user of the papers writes it; it never calls ``super().__init__()``."""

    def __init__(self) -> None:
        self.app = SocialNetwork()
        self.ans = "user-service"

    def start_workload(self) -> None:
        self.wrk = Wrk(rate=100, duration=10)
        self.wrk.start_workload(url=self.app.frontend_url)

    def inject_fault(self) -> None:
        VirtFaultInjector(self.app.ns).inject([self.ans], "misconfig_k8s")

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        return {"TTL": duration, "success": soln == [self.ans]}


class AsyncProblem(TargetPortProblem):
    """The public release's guide allows an async method."""

    async def start_workload(self) -> None:
        await asyncio.sleep(0)
        super().start_workload()


def posed(environment: Environment, problem: type[TargetPortProblem]) -> dict[str, Any]:
    task = problem()
    stage(task, environment)
    service = environment.find("services", "user-service")
    assert service is not None
    assert task.wrk.report is not None
    return {
        "port": service["spec"]["ports"][0]["targetPort"],
        "sent": len(task.wrk.results),
        "report": str(task.wrk.report),
        "soln": task.take_submission((["user-service"],), {}),
        "results": task.eval(["user-service"], [], 12.0),
    }


@pytest.mark.parametrize("kind", [TargetPortProblem, AsyncProblem])
def test_a_problem_as_the_paper_writes_one(network: Copy[Environment], kind: type[TargetPortProblem]) -> None:
    with network.branch() as copy:
        told = copy.call(posed, kind)
    assert told["port"] == 9999
    assert told["sent"] == pytest.approx(1000, rel=0.15)
    assert "Running 10s test @ http://172.18.0.2:30080" in told["report"]
    assert told["soln"] == ["user-service"]
    assert told["results"] == {"TTL": 12.0, "success": True}
    problem = kind()
    assert problem.get_expected() == ["user-service"]
    assert "user-service" not in problem.goal
    assert problem.app.namespace in problem.get_task_description()


# -- the second: what an agent can do ------------------------------------------------------------


class MyActions(TaskActions):
    """The papers' manner: documented functions, whose documentation is what the agent is told."""

    @staticmethod
    def get_time_zone(city: str) -> str:
        """Tell the time zone of a city.

        Args:
            city (str): the city's name.

        Returns:
            str: the time zone.
        """
        return f"{city}: UTC"


def performed(environment: Environment) -> tuple[dict[str, str], str, str]:
    chosen = ActionSet(MyActions(environment, ADMIN), ("get_logs", "exec_shell", "get_time_zone"))
    shown = chosen.perform("exec_shell", ["kubectl get deployments -o name -n test-hotel-reservation"], {})
    return chosen.docs, chosen.perform("get_time_zone", [], {"city": "Bonn"}), shown


@pytest.mark.slow
def test_documentation_is_extracted_from_the_actions(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        docs, zone, shown = copy.call(performed)
    assert list(docs) == ["get_logs", "exec_shell", "get_time_zone"]
    assert "Tell the time zone of a city." in docs["get_time_zone"]
    assert "the city's name" in docs["get_time_zone"]
    assert "namespace" in docs["get_logs"]
    assert zone == "Bonn: UTC"
    assert "deployment.apps/geo" in shown


# -- the fourth: an injector ---------------------------------------------------------------------


class MyInjector(FaultInjector):
    """Pairs of methods, one for breaking and one for repairing."""

    def inject_revoke_auth(self, microservices: list[str]) -> None:
        """Take a role away from the application's user."""
        self._change("revokeRolesFromUser", microservices)

    def recover_revoke_auth(self, microservices: list[str]) -> None:
        """Give it back."""
        self._change("grantRolesToUser", microservices)

    def _change(self, verb: str, microservices: list[str]) -> None:
        for database in microservices:
            role = f'[{{role: "readWrite", db: "{database.removeprefix("mongodb-")}-db"}}]'
            self.site.operate(
                f"kubectl -n {self.namespace} exec deploy/{database} -- "
                f"mongo admin -u root -p root --quiet --eval 'db.{verb}(\"admin\", {role})'"
            )


ROLES = (
    "kubectl -n test-hotel-reservation exec deploy/mongodb-geo -- "
    "mongo admin -u root -p root --quiet --eval 'db.getUser(\"admin\").roles.forEach(r => print(r.role))'"
)


def roles_through(environment: Environment, kind: type[FaultInjector]) -> list[list[str]]:
    """The roles of the application's user before, between and after."""
    injector, told = kind(environment.namespace), []

    def look() -> None:
        told.append(environment.operate(ROLES).stdout.decode().split())

    look()
    with at_site(environment):
        injector._inject(["mongodb-geo"], "revoke_auth")
        look()
        injector._recover(["mongodb-geo"], "revoke_auth")
        look()
        injector.inject(fault_type="revoke_auth", microservices=["mongodb-geo"])
        look()
        injector.recover("revoke_auth", ["mongodb-geo"])  # as the public release has it
        look()
    return told


@pytest.mark.parametrize("kind", [MyInjector, ApplicationFaultInjector])
def test_an_injector_as_the_paper_writes_one(hotels: Copy[Environment], kind: type[FaultInjector]) -> None:
    with hotels.branch() as copy:
        told = copy.call(roles_through, kind)
    whole, less = ["readWrite", "userAdminAnyDatabase"], ["userAdminAnyDatabase"]
    assert [sorted(roles) for roles in told] == [whole, less, whole, less, whole]


def test_injectors_say_what_they_have_and_where_they_can_act(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "_LATEST", [])
    with pytest.raises(
        NoSuchFault, match=r"has no fault 'flood'\. It has: .*misconfig_k8s, .*scale_pods_to_zero"
    ):
        VirtFaultInjector("ns").inject(["geo"], "flood")
    with pytest.raises(NoSuchFault, match=r"has no fault 'flood'\. It has: revoke_auth\."):
        MyInjector("ns").inject(["geo"], "flood")
    with pytest.raises(NoSite, match=r"VirtFaultInjector has no cloud to act on\. Call it in a problem's"):
        VirtFaultInjector("ns").inject(["geo"], "misconfig_k8s")
    with pytest.raises(NoSite, match="Wrk has no cloud to act on"):
        Wrk(rate=1, duration=1).start_workload(url="http://x")
    with pytest.raises(TypeError, match="takes a list of microservices and the name of a fault"):
        VirtFaultInjector("ns").inject("geo", "misconfig_k8s")
