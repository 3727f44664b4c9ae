"""The end of a repair: what has given up on a database starts anew when that is back, and does not sit out its pause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aiopslab.generators.site import Site

NOT_READY: Final = ".items[] | select(any(.status.containerStatuses[]?; .ready | not)) | .metadata.name"


def restart_not_ready(site: Site, workloads: Iterable[str]) -> None:
    """Wait for workloads to run, then make pods anew whose containers do not."""
    ns = f"kubectl -n {site.namespace}"
    for workload in workloads:
        site.operate(f"{ns} rollout status deployment/{workload} --timeout=25s")
    site.operate(
        f"{ns} get pods -o json | jq -r '{NOT_READY}' | xargs -r {ns} delete pod --ignore-not-found --grace-period=10"
    )
