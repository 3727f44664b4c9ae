"""The DNS server no longer knows the cluster's Services."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.cluster_dns import CorefileFault


@fault
@dataclass(frozen=True)
class MissingDnsPlugin(CorefileFault):
    """An operator cleans up the Corefile and removes the part that serves the cluster's names."""

    name: ClassVar[str] = "missing_dns_plugin"
    course: ClassVar[Course] = "correlated"

    def edit(self, text: str, name: str) -> str:
        """Remove the plugin with its settings."""
        return re.sub(r" *kubernetes [^}]*}\n", "", text)
