"""The control loops of kube-controller-manager, one module each; every module is imported automatically."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection
from importlib import import_module
from typing import TYPE_CHECKING

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.controllers.pods import is_active as is_active, is_ready as is_ready
    from simcloud.kubernetes.controllers.revisions import template_of as template_of
    from simcloud.kubernetes.controllers.root_ca import PUBLISHED as PUBLISHED


if TYPE_CHECKING:
    from simcloud.kubernetes.api.api import Api


def start_controllers(api: Api, without: Collection[str] = ()) -> None:
    """Start every loop but some, in the order of their names."""
    from simcloud.kubernetes.controller import REGISTERED

    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        import_module(module.name)
    for name in sorted(REGISTERED.keys() - set(without)):
        REGISTERED[name](api).start()
