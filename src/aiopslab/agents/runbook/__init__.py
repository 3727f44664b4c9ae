"""The agent ``runbook``: a careful engineer without a model, and the default baseline."""

from aiopslab.agents.runbook.agent import Runbook as Runbook
