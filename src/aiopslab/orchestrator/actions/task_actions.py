"""All actions in one class. Problems select actions by name; users extend the class with their own.

An action is a method with a docstring; ``@action`` marks and checks it. A subclass may add actions with or without the
mark, and with or without ``self``: the papers write them as plain functions.
"""

from __future__ import annotations

from aiopslab.orchestrator.actions.changes import ChangeActions
from aiopslab.orchestrator.actions.events import EventActions
from aiopslab.orchestrator.actions.logs import LogActions
from aiopslab.orchestrator.actions.metrics import MetricActions
from aiopslab.orchestrator.actions.queries import QueryActions
from aiopslab.orchestrator.actions.runbooks import RunbookActions
from aiopslab.orchestrator.actions.shell import ShellActions
from aiopslab.orchestrator.actions.topology import TopologyActions
from aiopslab.orchestrator.actions.traces import TraceActions


class TaskActions(
    ChangeActions,
    RunbookActions,
    EventActions,
    TopologyActions,
    QueryActions,
    ShellActions,
    TraceActions,
    MetricActions,
    LogActions,
):
    """All actions of an agent in an environment. One instance per session, with a terminal of its own."""
