"""The history of an application: an earlier release, and manual changes since the current one.

Real systems have a history. An agent that reverts every change also loses wanted changes, so it must find out which change
did harm. This module is only data: ``cloud`` applies it to a site. Manifests and charts are those of the current release and can
be applied to any other cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

METADATA_RULE: Final = (
    "ssh kind-control-plane iptables -A FORWARD -d 169.254.169.254/32 "
    "-m comment --comment no-cloud-metadata-for-pods -j DROP"
)
"""A packet filter rule of the nodes' administrators; flushing all packet filters removes it."""


@dataclass(frozen=True, slots=True)
class Past:
    """The earlier release, and wanted changes since the current one."""

    edits: tuple[tuple[str, str], ...]
    """Pairs of texts in the current manifests and in the earlier ones; each Deployment differs by at least one."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """For a chart, the values of the earlier release."""
    by_hand: tuple[str, ...] = ()
    """Commands with which operators changed the site since; these changes are wanted and are in no manifest or chart."""

    def revert(self, manifest: str) -> str:
        """Return a manifest as it was in the earlier release."""
        for now, before in self.edits:
            manifest = manifest.replace(now, before)
        return manifest
