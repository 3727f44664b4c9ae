"""The agent-cloud interface: documented, typed actions, and the set of them that a session offers."""

from aiopslab.orchestrator.actions.action_set import ActionSet
from aiopslab.orchestrator.actions.base import ActionFailed
from aiopslab.orchestrator.actions.registry import Action, action
from aiopslab.orchestrator.actions.task_actions import TaskActions
from aiopslab.orchestrator.default_actions import DEFAULT

__all__ = ["DEFAULT", "Action", "ActionFailed", "ActionSet", "TaskActions", "action"]
