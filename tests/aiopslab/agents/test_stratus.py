"""STRATUS: the state machine decides who acts, roles keep to their actions, and failed repairs are learnt from."""

from __future__ import annotations

from aiopslab.agents.stratus import Stratus
from aiopslab.orchestrator.models import ScriptedModel

SHELL = "exec_shell(command: str) -> str\nRuns it."
REPAIR = {"exec_shell": SHELL, "submit": "submit()\nEnds the session."}
TRANSACTIONS = {
    name: f"{name}() -> str\nDoes it."
    for name in ("begin_transaction", "commit_transaction", "abort_transaction")
}
DETECT = {"exec_shell": SHELL, "submit": 'submit("Yes") or submit("No")'}

LOOK = '```\nexec_shell("kubectl get pods -A")\n```'
FIX = '```\nexec_shell("kubectl -n shop scale deploy/web --replicas=1")\n```'
ILL = "REPORT: unhealthy, web has no pods"
CAUSE = "REPORT: web was scaled to zero; scale it to 1"
DONE = "REPORT: kubectl -n shop scale deploy/web --replicas=1"
WELL = "REPORT: healthy, all pods are ready"


def start(actions: dict[str, str], *answers: str) -> tuple[Stratus, ScriptedModel]:
    model = ScriptedModel(answers)
    agent = Stratus(model)
    agent.init_context("The problem.", "The rules.", actions)
    return agent, model


def play(agent: Stratus, *states: str) -> list[str]:
    return [agent.get_action(state).strip("`\n ") for state in ("begin", *states)]


def get_prompt(model: ScriptedModel, index: int) -> str:
    return model.asked[index][0].content


def test_without_transactions_a_failed_repair_is_undone_by_an_agent() -> None:
    agent, model = start(REPAIR, LOOK, ILL, CAUSE, FIX, DONE, ILL, "REPORT: scaled back", CAUSE, DONE, WELL)
    actions = play(agent, "no pods", "scaled", "x")
    assert actions == [LOOK.strip("`\n"), FIX.strip("`\n"), "submit()", "submit()"]
    undo = get_prompt(model, 6)
    assert "undo agent" in undo and DONE.removeprefix("REPORT: ") in undo
    second = get_prompt(model, 7)
    assert "diagnosis agent" in second and "still ill: unhealthy" in second


def test_with_transactions_the_state_machine_begins_and_commits() -> None:
    answers = (LOOK, ILL, CAUSE, FIX, DONE, CAUSE, DONE, WELL)
    agent, model = start({**REPAIR, **TRANSACTIONS}, *answers)
    states = (
        "no pods",
        "begun",
        "scaled",
        "Transaction 1 was undone: severity rose.",
        "begun",
        "Transaction 2 was committed.",
    )
    assert play(agent, *states) == [
        LOOK.strip("`\n"),
        "begin_transaction()",
        FIX.strip("`\n"),
        "commit_transaction()",
        "begin_transaction()",
        "commit_transaction()",
        "submit()",
    ]
    assert "was undone: severity rose" in get_prompt(model, 5)
    assert "begin_transaction" not in get_prompt(model, 3), "roles leave transactions to the state machine"


def test_detection_and_diagnosis_only_read() -> None:
    agent, model = start(DETECT, FIX, ILL, '```\nsubmit("Yes")\n```')
    assert play(agent) == ['submit("Yes")']
    assert "only reads" in model.asked[1][-1].content


def test_a_role_that_never_reports_is_ended() -> None:
    agent, model = start(DETECT, *[LOOK] * 6, '```\nsubmit("No")\n```')
    assert play(agent, *["pods"] * 6)[-1] == 'submit("No")'
    assert "no conclusion was reached" in get_prompt(model, 6)
