"""In every mitigation problem of the suite ``compat``, a transaction that makes things worse is undone exactly."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.evaluation.harm import RISE
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.problems.suites import list_suite
from aiopslab.orchestrator.stages import Stages
from tests.aiopslab.orchestrator.transactions.worlds import HOTEL, RATES, SOCIAL, worsen

PROBLEMS = [problem for problem in list_suite(ProblemRegistry(), "compat") if "-mitigation" in problem]
WORSE = {
    HOTEL: (
        f"kubectl -n {HOTEL} scale deploy/frontend --replicas=0",
        f"kubectl -n {HOTEL} delete svc/search deploy/user",
        f"{RATES} 'db.inventory.updateMany({{}}, {{$unset: {{code: 1}}}})'",
        "ssh kind-worker2 'iptables -I FORWARD -p tcp --dport 8084 -j DROP; sysctl -w vm.swappiness=99; rm /etc/crictl.yaml'",
    ),
    SOCIAL: (
        f"kubectl -n {SOCIAL} scale deploy/nginx-thrift --replicas=0",
        f"kubectl -n {SOCIAL} delete svc/post-storage-service deploy/text-service",
        f"kubectl -n {SOCIAL} exec deploy/user-mongodb -- mongo user --quiet --eval 'db.user.deleteMany({{}})'",
        "ssh kind-worker2 'iptables -I FORWARD -p tcp --dport 9090 -j DROP; sysctl -w vm.swappiness=99; rm /etc/crictl.yaml'",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_harmful_transaction_is_undone_exactly(stages: Stages, problem: str) -> None:
    namespace = ProblemRegistry().get_problem_instance(problem, 1).namespace
    with stages.episode(problem) as copy:
        outcome = copy.call(worsen, WORSE[namespace])
    (record,) = outcome.records
    assert record["outcome"] == "undone", outcome.observations
    assert record["left"] == []
    assert not outcome.differences
    assert record["severity_undone"] < record["severity_before"] + RISE
