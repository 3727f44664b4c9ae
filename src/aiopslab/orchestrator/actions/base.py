"""``TaskActions`` of the public AIOpsLab release: actions that need no instance and act on the current cloud.

An agent's session does not use this class; servers and scripts call its functions after ``Orchestrator.init_problem``. An author's own
subclass may add static methods marked as actions; a problem offers them when it sets ``self.actions``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiopslab.service import get_cloud
from aiopslab.utils import action, read

if TYPE_CHECKING:
    from aiopslab.orchestrator.actions.action_set import ActionSet

__all__ = ["TaskActions"]


class TaskActions:
    """The actions of every task, on the current cloud and with the permissions of its session."""

    @staticmethod
    @read
    def get_logs(namespace: str, service: str) -> str:
        """
        Shows the logs of a service, equal lines folded.

        Args:
            namespace (str): The namespace of the service.
            service (str): The name of a Service, a workload or a pod.

        Returns:
            str: The lines of each container.
        """
        return _get_actions().perform("get_logs", (namespace, service))

    @staticmethod
    @action
    def exec_shell(command: str, timeout: float = 30) -> str:
        """
        Runs one command line on the agent's host, which is not interactive.

        Args:
            command (str): The command line.
            timeout (float): Seconds after which it is stopped.

        Returns:
            str: Its output.
        """
        return _get_actions().perform("exec_shell", (command, timeout))

    @staticmethod
    @read
    def get_metrics(namespace: str, duration: float = 5) -> str:
        """
        Exports the metrics of a namespace to CSV files on the agent's host.

        Args:
            namespace (str): The namespace.
            duration (float): Number of minutes to look back.

        Returns:
            str: The folder and its files.
        """
        return _get_actions().perform("get_metrics", (namespace, duration))

    @staticmethod
    @read
    def read_metrics(file_path: str) -> str:
        """
        Shows a file exported by get_metrics.

        Args:
            file_path (str): The path of the file.

        Returns:
            str: Its rows, or a summary.
        """
        return _get_actions().perform("read_metrics", (file_path,))

    @staticmethod
    @read
    def get_traces(namespace: str, duration: float = 5) -> str:
        """
        Exports the traces of a namespace to a CSV file on the agent's host.

        Args:
            namespace (str): The namespace.
            duration (float): Number of minutes to look back.

        Returns:
            str: The path of the file.
        """
        return _get_actions().perform("get_traces", (namespace, duration))

    @staticmethod
    @read
    def read_traces(file_path: str) -> str:
        """
        Shows a file exported by get_traces.

        Args:
            file_path (str): The path of the file.

        Returns:
            str: Its rows, or a summary.
        """
        return _get_actions().perform("read_traces", (file_path,))


def _get_actions() -> ActionSet:
    """Return the default actions on the current cloud, with its session's terminal."""
    from aiopslab.orchestrator.action_names import DEFAULT
    from aiopslab.orchestrator.actions.action_set import ActionSet
    from aiopslab.orchestrator.actions.task_actions import TaskActions as SessionActions

    environment = get_cloud("TaskActions")
    return ActionSet(SessionActions(environment, environment.terminal().policy), DEFAULT)
