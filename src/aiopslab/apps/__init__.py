"""Applications, one folder each: their base class, the registry of all of them, and a synthetic one for tests and benchmarks.

Other packages import from here. Modules are imported on first use, because a fault needs one application, not all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiopslab.utils.lazy import export_lazily

if TYPE_CHECKING:
    from aiopslab.apps.base import Application, Component, FrontDoor, Journey, Objective
    from aiopslab.apps.past import Past
    from aiopslab.apps.registry import NoSuchApplication, application, find_application, load_applications
    from aiopslab.apps.synthetic import SyntheticApp

__all__ = [
    "Application",
    "Component",
    "FrontDoor",
    "Journey",
    "NoSuchApplication",
    "Objective",
    "Past",
    "SyntheticApp",
    "application",
    "find_application",
    "load_applications",
]
__getattr__ = export_lazily(
    __name__,
    {
        "aiopslab.apps.base": ("Application", "Component", "FrontDoor", "Journey", "Objective"),
        "aiopslab.apps.registry": (
            "NoSuchApplication",
            "application",
            "find_application",
            "load_applications",
        ),
        "aiopslab.apps.past": ("Past",),
        "aiopslab.apps.synthetic": ("SyntheticApp",),
    },
)
