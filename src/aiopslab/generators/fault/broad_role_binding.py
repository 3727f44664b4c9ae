"""The service account of the application got all rights in its namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class BroadRoleBinding(DeclaredFault):
    """A RoleBinding gives cluster-admin to the service account that a service uses."""

    suffix: str = draw_from("debug", "access", "tools")
    name: ClassVar[str] = "broad_role_binding"
    purpose: ClassVar[Purpose] = "policy"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The RoleBinding."""
        return (("rolebindings.rbac.authorization.k8s.io", f"{self.target}-{self.suffix}"),)

    def release(self, site: Site) -> None:
        """Create the RoleBinding."""
        bound = f"--clusterrole=cluster-admin --serviceaccount={site.namespace}:default"
        site.kubectl(f"create rolebinding {self.concerned[0][1]} {bound}")
