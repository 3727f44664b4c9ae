"""What an application has been through before anybody looks: an earlier release, and what was changed by hand since.

Real systems have a past. Whoever takes back all that can be taken back ends up there, and loses what was wanted; so one has
to look which change it was that did harm. All of this is data: ``cloud`` makes it so at a site. Manifests and charts are
those of the present release, and stay what a cluster elsewhere can be given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SECURED: Final = (
    "ssh kind-control-plane iptables -A FORWARD -d 169.254.169.254/32 "
    "-m comment --comment no-cloud-metadata-for-pods -j DROP"
)
"""A rule of those who look after the nodes; whoever lets all packets through loses it."""


@dataclass(frozen=True, slots=True)
class Past:
    """The release before the present one, and the changes since."""

    edits: tuple[tuple[str, str], ...]
    """What stands in the present manifests, and what stood there before; every Deployment differs by one of them."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of a chart: the values that made the difference, for the earlier release."""
    earlier_days: float = 21.0
    """How long ago the earlier release was rolled out, when the world begins."""
    present_days: float = 14.0
    """And the present one."""
    by_hand: tuple[str, ...] = ()
    """Command lines of operators who changed something since, and did well; no manifest and no chart knows of it."""

    def earlier(self, manifest: str) -> str:
        """A manifest as it was in the earlier release."""
        for now, before in self.edits:
            manifest = manifest.replace(now, before)
        return manifest
