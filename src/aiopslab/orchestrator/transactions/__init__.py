"""Transactional no-regression: groups of commands that are undone when they make the system worse, for any agent."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.orchestrator.transactions.actions import (
        TransactionActions as TransactionActions,
        add_transactions as add_transactions,
    )
    from aiopslab.orchestrator.transactions.commands import Effects as Effects, analyse as analyse
    from aiopslab.orchestrator.transactions.inverse import Inverse as Inverse, NotRecorded as NotRecorded
    from aiopslab.orchestrator.transactions.objects import (
        find_object_changes as find_object_changes,
        read_by_kubectl as read_by_kubectl,
        read_log as read_log,
    )
    from aiopslab.orchestrator.transactions.options import (
        MAX_COMMANDS as MAX_COMMANDS,
        TransactionOptions as TransactionOptions,
        Undo as Undo,
    )
    from aiopslab.orchestrator.transactions.transactions import (
        TransactionRecord as TransactionRecord,
        Transactions as Transactions,
        explain_regression as explain_regression,
    )
