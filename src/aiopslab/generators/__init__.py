"""Generators of faults and of load, and the site that both act on."""

from aiopslab.generators.site import (
    NoSite,
    OperationFailed,
    Site,
    at_site,
    get_current_site,
    restart_unready_pods,
)

__all__ = ["NoSite", "OperationFailed", "Site", "at_site", "get_current_site", "restart_unready_pods"]
