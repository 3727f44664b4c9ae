"""Sessions with transactions, through the entry points of users: the actions are offered, and the record shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aiopslab.agents.stratus import Stratus
from aiopslab.orchestrator.models import ScriptedModel
from aiopslab.orchestrator.stages import Stages, run_episode
from aiopslab.orchestrator.transactions import TransactionOptions

PROBLEM = "misconfig_app_hotel_res-mitigation-1"
KUBECTL = "kubectl -n test-hotel-reservation"
WORSE = f'exec_shell("{KUBECTL} scale deploy/frontend --replicas=0")'
REPAIR = f'exec_shell("{KUBECTL} rollout undo deploy/geo")'


class Scripted:
    """Takes the given actions."""

    actions: tuple[str, ...] = ()

    def init_context(self, problem: str, instructions: str, actions: dict[str, str]) -> None:
        self.offered = list(actions)
        self._left = list(self.actions)

    def get_action(self, state: str) -> str:
        return self._left.pop(0)

    def settings(self) -> dict[str, Any]:
        return {"offered": self.offered}


class Explicit(Scripted):
    """Makes things worse in a transaction, tries to submit, then repairs in another one."""

    actions = (
        "begin_transaction()", WORSE, "submit()", "commit_transaction()", "begin_transaction()", REPAIR,
        "commit_transaction()", "submit()",
    )  # fmt: skip


class Ignorant(Scripted):
    """Knows nothing of transactions."""

    actions = (WORSE, REPAIR, "submit()")


class Unfinished(Scripted):
    """Leaves a transaction open."""

    actions = ("begin_transaction()", WORSE)


def make_stratus() -> Stratus:
    look = f'```\nexec_shell("{KUBECTL} get pods")\n```'
    answers = [
        look, "REPORT: unhealthy, geo fails", "REPORT: the last rollout of geo", f"```\n{WORSE}\n```", "REPORT: scaled frontend",
        "REPORT: the last rollout of geo, and nothing else", f"```\n{REPAIR}\n```", "REPORT: rolled geo back", "REPORT: healthy",
    ]  # fmt: skip
    return Stratus(ScriptedModel(answers))


def work(
    stages: Stages, agent: Any, results: Path | None = None, steps: int = 20, **options: Any
) -> dict[str, Any]:
    with stages.episode(PROBLEM) as copy:
        return copy.call(run_episode, agent, "agent", max_steps=steps, results=results, **options)


def test_an_agent_uses_transactions_and_the_record_shows_them(stages: Stages, tmp_path: Path) -> None:
    result = work(stages, Explicit, tmp_path, tnr=True)
    assert result["results"]["success"], result["results"]["findings"]
    record = json.loads(result["record"].read_text())
    assert record["settings"]["tnr"] == {"undo": "inverse", "max_commands": 20}
    assert {"begin_transaction", "commit_transaction", "abort_transaction"} <= set(
        record["agent_settings"]["offered"]
    )
    assert record["steps"][2]["observation"] == "A transaction is open: commit or abort it before you submit."
    first, second = record["transactions"]
    assert (first["outcome"], first["left"], first["is_single"]) == ("undone", [], False)
    assert "severity rose" in first["why"] and first["commands"] == [
        f"{KUBECTL} scale deploy/frontend --replicas=0"
    ]
    assert second["outcome"] == "committed"
    assert second["severity_after"] < second["severity_before"]


@pytest.mark.parametrize("undo", ["inverse", "copy"])
def test_an_agent_that_knows_nothing_of_transactions_is_protected(stages: Stages, undo: Any) -> None:
    result = work(stages, Ignorant, tnr=TransactionOptions(undo))
    assert result["results"]["success"], result["results"]["findings"]
    assert [entry["outcome"] for entry in result["session"]["transactions"]] == ["undone", "committed"]


def test_without_transactions_nothing_is_offered_and_nothing_undone(stages: Stages) -> None:
    result = work(stages, Ignorant)
    assert not result["results"]["success"]
    assert "transactions" not in result["session"]
    assert not [name for name in result["session"]["agent_settings"]["offered"] if "transaction" in name]


def test_a_transaction_that_is_open_at_the_end_is_undone(stages: Stages) -> None:
    result = work(stages, Unfinished, steps=2, tnr=True)
    (entry,) = result["session"]["transactions"]
    assert (entry["outcome"], entry["left"]) == ("aborted", [])
    assert "the session ended" in entry["why"]
    assert result["results"]["harm"]["changes_beyond_need"] == []


def test_stratus_learns_from_a_transaction_that_was_undone(stages: Stages) -> None:
    result = work(stages, make_stratus, tnr=True)
    assert result["results"]["success"], result["results"]["findings"]
    assert [entry["outcome"] for entry in result["session"]["transactions"]] == ["undone", "committed"]
