"""What the people who run an application have written down for whoever is on call."""

from __future__ import annotations

from aiopslab.orchestrator.actions.base import ActionFailed, ActionsBase, unknown
from aiopslab.orchestrator.actions.registry import action

SUFFIX = ".md"


class RunbookActions(ActionsBase):
    """Reading runbooks."""

    @action
    def get_runbook(self, name: str = "") -> str:
        """
        Shows a runbook of the application's operators: what components do, who owns them, how to look at them, and
        usual repairs by symptom.

        Args:
            name (str): The name of the runbook; without it, all names are listed.

        Returns:
            str: The runbook, or the list.
        """
        app = self.environment.app
        known = {
            path.removesuffix(SUFFIX): text for path, text in app.runbooks.items() if path.endswith(SUFFIX)
        }
        if not known:
            raise ActionFailed(f"The operators of {app.name} have written no runbooks.")
        if name:
            wanted = name.removesuffix(SUFFIX)
            if wanted not in known:
                raise unknown("runbook", name, list(known), "get_runbook() lists all.")
            return known[wanted].rstrip()
        lines = [f"{one}: {text.partition(chr(10))[0].lstrip('# ')}" for one, text in known.items()]
        return "\n".join([f'Runbooks of {app.name}; read one with get_runbook("NAME"):', *lines])
