"""The agent-cloud interface: documented, typed actions, and the set of them that a session offers."""

from aiopslab.orchestrator.action_names import DEFAULT, SUBMIT
from aiopslab.orchestrator.actions.action_set import ActionSet
from aiopslab.orchestrator.actions.base import ActionFailed
from aiopslab.orchestrator.actions.registry import Action, action
from aiopslab.orchestrator.actions.task_actions import TaskActions

__all__ = ["DEFAULT", "SUBMIT", "Action", "ActionFailed", "ActionSet", "TaskActions", "action"]
