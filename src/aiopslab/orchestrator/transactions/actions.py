"""The actions by which an agent uses transactions, and how a session offers them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from aiopslab.orchestrator.action_names import EXEC_SHELL
from aiopslab.orchestrator.actions import ActionSet, action
from aiopslab.orchestrator.actions.registry import find_actions
from aiopslab.orchestrator.transactions.options import TransactionOptions
from aiopslab.orchestrator.transactions.transactions import Transactions

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite
    from aiopslab.orchestrator.evaluation.severity import Health


class TransactionActions:
    """Actions on the transactions of a session."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    @action
    def begin_transaction(self) -> str:
        """
        Begins a transaction: a group of commands that is kept or undone as a whole. Use it for a repair of several commands
        of which the first alone would make things worse. Without it, every command that changes something is a transaction
        of its own. Commands that cannot be undone are refused: deleting volumes and namespaces, requests that change
        something, scripts whose commands cannot be seen, changes in the background.

        Returns:
            str: The severity at which it begins, from 0 (healthy) to 1 (down), and how many commands it may have.
        """
        return self._transactions.begin()

    @action
    def commit_transaction(self) -> str:
        """
        Ends the open transaction. Waits up to 90 seconds, then keeps its changes if the severity is no higher than when it
        began; otherwise all of them are undone.

        Returns:
            str: Whether the changes were kept or undone, and why.
        """
        return self._transactions.commit()

    @action
    def abort_transaction(self) -> str:
        """
        Ends the open transaction and undoes all its changes: objects, rows of databases, files and rules of nodes.

        Returns:
            str: Whether everything is as it was.
        """
        return self._transactions.abort()


def add_transactions(
    actions: ActionSet, environment: IncidentSite, measure: Callable[[], Health], options: TransactionOptions
) -> tuple[ActionSet, Transactions]:
    """Return the actions with those of transactions, in which commands run from now on; raises ``KeyError`` without a shell."""
    shell = actions.actions[EXEC_SHELL]
    perform = shell.function
    transactions = Transactions(
        environment, lambda command, timeout: str(perform(command, timeout)), measure, options
    )

    def run(command: str, timeout: float = shell.parameters[1].default) -> str:
        return transactions.run(command, timeout)

    further = find_actions(TransactionActions(transactions))
    known = {**actions.actions, EXEC_SHELL: replace(shell, function=run), **further}
    return ActionSet.of_actions(known), transactions
