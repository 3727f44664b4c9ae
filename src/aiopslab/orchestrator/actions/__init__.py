"""The agent-cloud interface: documented, typed actions, and the set of them that a session offers."""

from aiopslab.orchestrator.action_names import DEFAULT as DEFAULT, SUBMIT as SUBMIT
from aiopslab.orchestrator.actions.action_set import ActionSet as ActionSet
from aiopslab.orchestrator.actions.base import ActionFailed as ActionFailed
from aiopslab.orchestrator.actions.registry import Action as Action, action as action
from aiopslab.orchestrator.actions.task_actions import TaskActions as TaskActions
