"""Pods complete short names with the domains of another namespace or cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class WrongSearchDomains(ReleasedFault):
    """A team sets the search domains itself and takes those of another environment."""

    domain: str = draw_from(
        "production.svc.cluster.local", "default.svc.cluster.local", "svc.k8s.internal", "svc.cluster.test"
    )
    name: ClassVar[str] = "wrong_search_domains"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem",)

    def release(self, site: Site) -> None:
        """Roll out the settings, with the right name server."""
        server = at(site.find("services", "kube-dns", "kube-system"), "spec", "clusterIP")
        searches = [self.domain, self.domain.partition("svc.")[2]]
        site.set_pods(
            self.target, dnsPolicy="None", dnsConfig={"nameservers": [server], "searches": searches}
        )
