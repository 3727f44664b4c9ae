"""``Docker`` of the public AIOpsLab release: there is none in the embedded cloud."""

from __future__ import annotations

from typing import NoReturn

from aiopslab.utils import NotAvailable


class Docker:
    """Can be created; every use raises ``NotAvailable``."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotAvailable(
            "There is no Docker here: containers run in pods, which KubeCtl shows and 'kubectl exec' and 'kubectl logs' reach."
        )
