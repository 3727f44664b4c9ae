"""The cloud as problems need it: the embedded world, an application with users in it, terminals, and copies of worlds.

Other packages import from here. Modules are imported on first use, because the names of policies are needed without a cloud.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiopslab.utils.lazy import export_lazily

if TYPE_CHECKING:
    from aiopslab.cloud.apps import DeployFailed, NotReady, deploy
    from aiopslab.cloud.declared import Declared, find_changes, find_differences, read_declared
    from aiopslab.cloud.environment import Baseline, Environment
    from aiopslab.cloud.outside import find_front_door, start_outside
    from aiopslab.cloud.scenarios import SyntheticCloud, build_synthetic_cloud
    from simcloud.world.clusters import add_cluster
    from simcloud.world.copies import Copy, CopyFailed
    from simcloud.world.policies import ADMIN, OPERATOR, POLICIES, READ_ONLY, Policy
    from simcloud.world.terminal import Terminal, TypedLine
    from simcloud.world.world import World

__all__ = [
    "ADMIN",
    "OPERATOR",
    "POLICIES",
    "READ_ONLY",
    "Baseline",
    "Copy",
    "CopyFailed",
    "Declared",
    "DeployFailed",
    "Environment",
    "NotReady",
    "Policy",
    "SyntheticCloud",
    "Terminal",
    "TypedLine",
    "World",
    "add_cluster",
    "build_synthetic_cloud",
    "deploy",
    "find_changes",
    "find_differences",
    "find_front_door",
    "read_declared",
    "start_outside",
]
__getattr__ = export_lazily(
    __name__,
    {
        "aiopslab.cloud.apps": ("DeployFailed", "NotReady", "deploy"),
        "simcloud.world.clusters": ("add_cluster",),
        "simcloud.world.copies": ("Copy", "CopyFailed"),
        "aiopslab.cloud.declared": ("Declared", "find_changes", "find_differences", "read_declared"),
        "aiopslab.cloud.environment": ("Baseline", "Environment"),
        "aiopslab.cloud.outside": ("find_front_door", "start_outside"),
        "simcloud.world.policies": ("ADMIN", "OPERATOR", "POLICIES", "READ_ONLY", "Policy"),
        "aiopslab.cloud.scenarios": ("SyntheticCloud", "build_synthetic_cloud"),
        "simcloud.world.terminal": ("Terminal", "TypedLine"),
        "simcloud.world.world": ("World",),
    },
)
