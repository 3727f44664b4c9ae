"""Runbooks of an application's operators."""

from __future__ import annotations

from aiopslab.orchestrator.actions.environment_actions import ActionFailed, ActionsBase, make_unknown_error
from aiopslab.orchestrator.actions.registry import action

SUFFIX = ".md"


class RunbookActions(ActionsBase):
    """Actions on runbooks."""

    @action
    def get_runbook(self, name: str = "") -> str:
        """
        Shows a runbook of the application's operators: what components do, who owns them, how to inspect them, and
        common repairs by symptom.

        Args:
            name (str): The name of the runbook; if empty, all names are listed.

        Returns:
            str: The runbook, or the list.
        """
        app = self.environment.app
        known = {
            path.removesuffix(SUFFIX): text for path, text in app.runbooks.items() if path.endswith(SUFFIX)
        }
        if not known:
            raise ActionFailed(f"The operators of {app.name} have no runbooks.")
        if name:
            wanted = name.removesuffix(SUFFIX)
            if wanted not in known:
                raise make_unknown_error("runbook", name, list(known), "get_runbook() lists all.")
            return known[wanted].rstrip()
        lines = [f"{title}: {text.partition(chr(10))[0].lstrip('# ')}" for title, text in known.items()]
        return "\n".join([f'Runbooks of {app.name}; read one with get_runbook("NAME"):', *lines])
