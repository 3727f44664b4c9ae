"""Pods still run with a wrong file of a ConfigMap that was corrected meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.wrong_config_map import WrongConfigMap
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class StaleConfigMap(WrongConfigMap):
    """A team corrects its ConfigMap, and does not know that files mounted by ``subPath`` stay as they were."""

    name: ClassVar[str] = "stale_config_map"
    restart_repairs: ClassVar[bool] = True
    declared: ClassVar[bool] = False

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """No declared objects."""
        return ()

    def inject(self, site: Site) -> None:
        """Edit the ConfigMap, restart the pods, and undo the edit."""
        self.release(site)
        site.wait_until_ready(self.target)
        site.restore("configmaps", self.target)

    def present(self, site: Site) -> bool:
        """Return whether the file in a pod differs from the ConfigMap's."""
        key = site.app.component(self.target).config_file
        mounts = site.get_container(self.target)["volumeMounts"]
        (path,) = (mount["mountPath"] for mount in mounts if mount.get("subPath") == key)
        wanted = site.get_settings(self.target)[key]
        return site.exec(self.target, f"cat {path}").strip() != wanted.strip()
