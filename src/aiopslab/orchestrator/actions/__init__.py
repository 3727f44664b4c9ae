"""The agent-cloud interface: documented, typed actions, and the set of them that a session offers.

``base``, ``detection``, ``localization``, ``analysis``, ``mitigation`` and ``log_deduplication`` have the names of the public AIOpsLab release;
sessions do not use them.
"""

from aiopslab.orchestrator.action_names import DEFAULT as DEFAULT, SUBMIT as SUBMIT
from aiopslab.orchestrator.actions.action_set import ActionSet as ActionSet
from aiopslab.orchestrator.actions.environment_actions import ActionFailed as ActionFailed
from aiopslab.orchestrator.actions.registry import Action as Action, action as action
from aiopslab.orchestrator.actions.task_actions import TaskActions as TaskActions
