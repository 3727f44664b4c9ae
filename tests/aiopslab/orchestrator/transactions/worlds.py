"""Worlds for the tests of transactions, what is done in copies of them, and what must be equal after an undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiopslab.cloud import Environment, find_changes, find_state_changes
from aiopslab.generators import OperationFailed
from aiopslab.orchestrator.actions import ActionSet, TaskActions
from aiopslab.orchestrator.actions.registry import find_actions
from aiopslab.orchestrator.evaluation.severity import HealthMonitor
from aiopslab.orchestrator.preparation import offer_transactions
from aiopslab.orchestrator.stages import Stage
from aiopslab.orchestrator.transactions import (
    Inverse,
    TransactionActions,
    TransactionOptions,
    Transactions,
    analyse,
    find_object_changes,
    read_by_kubectl,
    read_log,
)
from aiopslab.orchestrator.transactions.rows import Content, read_content
from aiopslab.utils import InvalidActionError

HOTEL = "test-hotel-reservation"
SOCIAL = "test-social-network"
RATES = f"kubectl -n {HOTEL} exec deploy/mongodb-rate -- mongo rate-db -u admin -p admin --authenticationDatabase admin --quiet --eval"
USERS = f"kubectl -n {HOTEL} exec deploy/mongodb-rate -- mongo admin -u root -p root --quiet --eval"


@dataclass
class Outcome:
    """What became of commands in transactions."""

    observations: list[str]
    records: list[dict[str, Any]]
    differences: list[str]
    """What differs from the beginning, by other means than the transaction's own."""


class Before:
    """The system at the beginning: declared objects, state of nodes, accounts, and rows that only the agent writes."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._declared = environment.read_declared()
        self._log = read_log(environment.cluster.api.log)
        self._state = environment.read_state()
        components = environment.app.components
        self._stores = [
            known.name
            for known in components
            if known.role == "mongodb" and not known.written and known.name != "social-graph-mongodb"
        ]  # the last one is large, and no test changes it
        self._rows = {store: self._read_rows(store) for store in self._stores}

    def _read_rows(self, store: str) -> Content | None:
        try:
            return read_content(self._environment, store)
        except OperationFailed:
            return None

    def find_differences(self) -> list[str]:
        environment = self._environment
        changed = find_changes(self._declared, environment.read_declared())
        written = find_object_changes(self._log, read_log(environment.cluster.api.log))
        found = [f"{key.plural}/{key.name} {what}" for key, what in (changed | written).items()]
        found += [
            f"{name}: {what}" for name, what in find_state_changes(self._state, environment.read_state())
        ]
        for store, before in self._rows.items():
            now = self._read_rows(store)
            if before is not None and (
                now is None or (before.rows, before.indexes) != (now.rows, now.indexes)
            ):
                found.append(f"rows of {store}")
        return found


def run(environment: Environment, calls: Sequence[str], **options: Any) -> Outcome:
    """Make calls: ``begin``, ``commit``, ``abort``, or a command line. Mistakes are marked."""
    shell = TaskActions(environment)
    transactions = Transactions(
        environment,
        shell.exec_shell,
        HealthMonitor(environment).measure,
        TransactionOptions(**options),
    )
    actions = TransactionActions(transactions)
    before = Before(environment)
    observations = []
    for call in calls:
        try:
            method = getattr(actions, f"{call}_transaction", None)
            observations.append(method() if method is not None else transactions.run(call, 60))
        except InvalidActionError as error:
            observations.append(f"INVALID: {error}")
    return Outcome(observations, transactions.to_record(), before.find_differences())


def undo_by_kubectl(environment: Environment, lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Record and undo lines with no more than a real cluster has; return what was left, and what differs."""
    before = Before(environment)
    inverse = Inverse(environment, lambda: read_by_kubectl(environment))
    for line in lines:
        inverse.record(analyse(line, environment.app.components))
        environment.run_in_session(line)
        inverse.finish()
    environment.run_for(20)
    return inverse.undo(), before.find_differences()


def worsen(stage: Stage, lines: Sequence[str]) -> Outcome:
    """Run lines in one transaction of a prepared problem, and try to commit it."""
    assert stage.problem is not None
    problem = offer_transactions(stage.problem, TransactionOptions())
    assert problem.transactions is not None
    before = Before(problem.environment)
    observations = [problem.actions.perform("begin_transaction")]
    for line in lines:
        try:
            observations.append(problem.actions.perform("exec_shell", (line, 60)))
        except InvalidActionError as error:  # a database that is down cannot be recorded
            observations.append(str(error))
    observations.append(problem.actions.perform("commit_transaction"))
    return Outcome(observations, problem.transactions.to_record(), before.find_differences())


def list_actions(environment: Environment) -> list[str]:
    """Return the names of the actions that an agent has without transactions."""
    actions = TaskActions(environment)
    return list(ActionSet(actions, list(find_actions(actions))).actions)
